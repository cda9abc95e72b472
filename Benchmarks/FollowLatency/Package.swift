// swift-tools-version:6.2
import PackageDescription

// How long a save takes to reach a consumer in another process. A package of its own, since it needs Strata and nothing
// else: `swift run -c release follow-latency`.
let package = Package(
    name: "FollowLatency",
    dependencies: [.package(name: "Strata", path: "../..")],
    targets: [
        .executableTarget(
            name: "follow-latency",
            dependencies: [.product(name: "Strata", package: "Strata")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
