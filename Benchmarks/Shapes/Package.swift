// swift-tools-version:6.2
import PackageDescription

// Generated requests, timed beside SQLite: `make bench-shapes`. A package of its own, since it needs Strata and SQLite
// and nothing else.
let package = Package(
    name: "Shapes",
    dependencies: [.package(name: "Strata", path: "../..")],
    targets: [
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "strata-shapes",
            dependencies: ["CSQLite", .product(name: "Strata", package: "Strata")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
