// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "ModelFiles",
    dependencies: [
        // The name is given because a clone's folder may be called anything.
        .package(name: "Strata", path: "../..")
    ],
    targets: [
        .target(
            name: "Shop",
            dependencies: [.product(name: "CoreData", package: "Strata")],
            swiftSettings: settings,
            plugins: [.plugin(name: "StrataModel", package: "Strata")]),
        .target(
            name: "Notes",
            dependencies: [.product(name: "CoreData", package: "Strata")],
            swiftSettings: settings,
            plugins: [.plugin(name: "StrataModel", package: "Strata")]),
        .testTarget(name: "ModelFilesTests", dependencies: ["Shop", "Notes"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
