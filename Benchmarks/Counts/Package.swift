// swift-tools-version:6.2
import PackageDescription

// Hot paths whose instructions are counted: `make count`. A package of its own, since it needs Strata and nothing else.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Counts",
    products: [.library(name: "HotPaths", targets: ["HotPaths"])],
    dependencies: [.package(name: "Strata", path: "../..")],
    targets: [
        .target(
            name: "HotPaths", dependencies: [.product(name: "Strata", package: "Strata")], swiftSettings: settings),
        .executableTarget(name: "strata-count", dependencies: ["HotPaths"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
