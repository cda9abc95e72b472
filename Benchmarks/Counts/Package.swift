// swift-tools-version:6.2
import PackageDescription

// Hot paths whose instructions are counted: `make count`. A package of its own, since it needs Strata and nothing else.
let package = Package(
    name: "Counts",
    dependencies: [.package(name: "Strata", path: "../..")],
    targets: [
        .executableTarget(
            name: "strata-count",
            dependencies: [.product(name: "Strata", package: "Strata")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
