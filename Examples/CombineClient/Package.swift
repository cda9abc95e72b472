// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "CombineClient",
    dependencies: [
        // The name is given because a clone's folder may be called anything.
        .package(name: "Strata", path: "../..", traits: ["Combine"])
    ],
    targets: [
        .target(
            name: "CombineClient",
            dependencies: [
                .product(name: "CoreData", package: "Strata"), .product(name: "Combine", package: "Strata"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CombineClientTests",
            dependencies: [
                "CombineClient", .product(name: "CoreData", package: "Strata"),
                .product(name: "Combine", package: "Strata"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
