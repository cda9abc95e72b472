// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "PackageGraph",
    products: [
        .executable(name: "packagegraph", targets: ["PackageGraph"]),
        .library(name: "DebianIndex", targets: ["DebianIndex"]),
    ],
    dependencies: [
        // The name is given because a clone's folder may be called anything.
        .package(name: "Strata", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        .systemLibrary(name: "CLZ4Frame", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .target(
            name: "DebianIndex",
            dependencies: ["CLZ4Frame", .product(name: "SystemPackage", package: "swift-system")],
            resources: [.copy("Resources/sample-Packages")],
            swiftSettings: settings),
        .executableTarget(
            name: "PackageGraph",
            dependencies: [
                "DebianIndex",
                .product(name: "CoreData", package: "Strata"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .testTarget(name: "DebianIndexTests", dependencies: ["DebianIndex", "CLZ4Frame"], swiftSettings: settings),
        .testTarget(name: "PackageGraphTests", dependencies: ["PackageGraph", "DebianIndex"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
