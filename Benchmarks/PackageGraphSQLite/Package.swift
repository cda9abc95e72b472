// swift-tools-version:6.2
import PackageDescription

// A package of its own, so that neither the library nor the example needs SQLite.
let package = Package(
    name: "PackageGraphSQLite",
    products: [.executable(name: "packagegraph-sqlite", targets: ["packagegraph-sqlite"])],
    dependencies: [.package(name: "PackageGraph", path: "../../Examples/PackageGraph")],
    targets: [
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "packagegraph-sqlite",
            dependencies: ["CSQLite", .product(name: "DebianIndex", package: "PackageGraph")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
