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
        .library(name: "Combine", targets: ["Combine"]),
        .library(name: "StrataLog", targets: ["StrataLog", "StrataIO"]),
        .library(name: "StrataTestKit", targets: ["StrataTestKit"]),
        .executable(name: "strata", targets: ["StrataCLI"]),
    ],
    traits: [
        .trait(name: "Combine", description: "Publishers of OpenCombine, and a module Combine that exports it.")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        // Only the command line needs it: packages that use the libraries do not fetch it.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Only fetched with the trait Combine.
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
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
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["Combine"])),
            ],
            swiftSettings: settings),
        .target(
            name: "Combine",
            dependencies: [
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["Combine"])),
                .product(name: "OpenCombineDispatch", package: "OpenCombine", condition: .when(traits: ["Combine"])),
                .product(name: "OpenCombineFoundation", package: "OpenCombine", condition: .when(traits: ["Combine"])),
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
