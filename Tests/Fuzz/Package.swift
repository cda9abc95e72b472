// swift-tools-version:6.2
import PackageDescription

// The fuzz targets, in a package of their own so that nobody who builds Strata builds them. run.sh builds this with the
// sanitizers and links the library with libFuzzer's main. The engine's sources are compiled as targets of this package
// (links in Sources), which makes what they declare `package` visible here.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "StrataFuzz",
    products: [.library(name: "StrataFuzz", type: .static, targets: ["StrataFuzz"])],
    dependencies: [.package(url: "https://github.com/apple/swift-system", from: "1.8.1")],
    targets: [
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .target(name: "CStrataSupport"),
        .target(name: "StrataRuntime", dependencies: ["CStrataSupport"], swiftSettings: settings),
        .target(name: "StrataSupport", dependencies: ["StrataRuntime", "CStrataSupport"], swiftSettings: settings),
        .target(
            name: "StrataIO",
            dependencies: [
                "StrataSupport", "StrataRuntime", "CStrataSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "StrataLog",
            dependencies: [
                "StrataIO", "StrataSupport", "StrataRuntime", "CLZ4", "CStrataSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "StrataObjectStore",
            dependencies: [
                "StrataIO", "StrataSupport", "CStrataSupport", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "StrataTestKit",
            dependencies: [
                "StrataIO", "StrataObjectStore", "StrataSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "StrataFuzz",
            dependencies: [
                "StrataLog", "StrataIO", "StrataSupport", "StrataTestKit", "CStrataSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
