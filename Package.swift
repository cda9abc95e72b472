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
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
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
    ],
    swiftLanguageModes: [.v6]
)
