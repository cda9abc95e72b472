// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Strata",
    products: [
        .library(name: "Strata", targets: ["Strata"]),
        .library(name: "CoreData", targets: ["CoreData"]),
        .library(name: "StrataLog", targets: ["StrataLog", "StrataIO"]),
        .library(name: "StrataTestKit", targets: ["StrataTestKit"]),
        .executable(name: "strata", targets: ["StrataCLI"]),
        // What hand-written model classes need: accessors for @NSManaged, and the way over from Apple's platforms.
        .plugin(name: "ManagedAccessors", targets: ["ManagedAccessors"]),
        .plugin(name: "Port", targets: ["Port"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        // Only the command line needs it: packages that use the libraries do not fetch it.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .target(name: "CStrataSupport"),
        .target(
            name: "StrataIO",
            dependencies: [.product(name: "SystemPackage", package: "swift-system"), "CStrataSupport"],
            swiftSettings: settings),
        .target(
            name: "StrataLog",
            dependencies: [
                "StrataIO", "CLZ4", "CStrataSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "Strata",
            dependencies: [
                "StrataLog", "StrataIO", "CStrataSupport", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(name: "CoreData", dependencies: ["Strata"], swiftSettings: settings),
        .target(
            name: "StrataTestKit",
            dependencies: [
                "Strata", "StrataLog", "StrataIO",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "StrataCLI",
            dependencies: [
                "Strata", "StrataLog", "StrataIO", "CStrataSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        // The tools of the plugins below. They need nothing but Foundation, so that they build in seconds.
        .target(name: "StrataSourceTools", swiftSettings: settings),
        .executableTarget(name: "StrataAccessorTool", dependencies: ["StrataSourceTools"], swiftSettings: settings),
        .plugin(name: "ManagedAccessors", capability: .buildTool(), dependencies: ["StrataAccessorTool"]),
        .executableTarget(name: "StrataPortTool", dependencies: ["StrataSourceTools"], swiftSettings: settings),
        .plugin(
            name: "Port",
            capability: .command(
                intent: .custom(verb: "port", description: "Rewrite Core Data sources for Linux; --write does it")),
            dependencies: ["StrataPortTool"]),
        .testTarget(
            name: "StrataSourceToolsTests", dependencies: ["StrataSourceTools"], swiftSettings: settings),
        .testTarget(
            name: "StrataIOTests",
            dependencies: ["StrataIO", "StrataTestKit", .product(name: "SystemPackage", package: "swift-system")],
            swiftSettings: settings),
        .testTarget(
            name: "StrataLogTests",
            dependencies: [
                "StrataLog", "StrataIO", "StrataTestKit", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "StrataTests",
            dependencies: ["Strata", "CoreData", "StrataTestKit"],
            swiftSettings: settings),
        .testTarget(
            name: "StrataCLITests",
            dependencies: ["Strata", "CoreData", "StrataCLI"],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
