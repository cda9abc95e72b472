// swift-tools-version:6.2
import PackageDescription

// What logs, metrics and spans cost: the hot paths of `make count` with StrataService listening. A package of its own,
// since it needs the packages of servers.
let package = Package(
    name: "Hooks",
    dependencies: [
        .package(path: "../Counts"),
        .package(name: "Strata", path: "../.."),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        .executableTarget(
            name: "strata-hooks",
            dependencies: [
                .product(name: "HotPaths", package: "Counts"),
                .product(name: "Strata", package: "Strata"),
                .product(name: "StrataService", package: "Strata"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Instrumentation", package: "swift-distributed-tracing"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
