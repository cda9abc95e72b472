// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "LibraryService",
    platforms: [.macOS(.v15)],
    dependencies: [
        // The name is given because a clone's folder may be called anything.
        .package(name: "Strata", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "LibraryService",
            dependencies: [
                .product(name: "CoreData", package: "Strata"),
                .product(name: "StrataService", package: "Strata"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Configuration", package: "swift-configuration"),
            ],
            plugins: [.plugin(name: "ManagedAccessors", package: "Strata")]),
        // They run the program that is built beside them.
        .target(name: "LibraryClients"),
        .executableTarget(name: "LibraryLoad", dependencies: ["LibraryClients"]),
        .testTarget(name: "LibraryServiceTests", dependencies: ["LibraryClients", "LibraryService"]),
    ],
    swiftLanguageModes: [.v6]
)
