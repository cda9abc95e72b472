// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// A package of its own, so that users of Strata never resolve what only the measuring needs.
let package = Package(
    name: "StrataBenchmarks",
    products: [
        .executable(name: "strata-bench", targets: ["strata-bench"]),
        .executable(name: "strata-db-bench", targets: ["strata-db-bench"]),
        .executable(name: "strata-service-bench", targets: ["strata-service-bench"]),
        .executable(name: "strata-ycsb-bench", targets: ["strata-ycsb-bench"]),
        .executable(name: "strata-oo7-bench", targets: ["strata-oo7-bench"]),
        .executable(name: "strata-scale-bench", targets: ["strata-scale-bench"]),
        .executable(name: "strata-replay", targets: ["strata-replay"]),
        .executable(name: "strata-migration-bench", targets: ["strata-migration-bench"]),
    ],
    dependencies: [
        .package(name: "Strata", path: "../"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
    ],
    targets: [
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        // Without pkg-config, which would complain of it in every build of the other programs.
        .systemLibrary(name: "CRocksDB", providers: [.apt(["librocksdb-dev"])]),
        .target(name: "CBenchSupport"),
        .target(name: "DataSet", swiftSettings: settings),
        .target(name: "BenchSupport", dependencies: ["DataSet"], swiftSettings: settings),
        .target(
            name: "Peers",
            dependencies: ["BenchSupport", "DataSet", "CBenchSupport", "CSQLite", "CLMDB"],
            swiftSettings: settings),
        .target(
            name: "RocksDBPeer", dependencies: ["BenchSupport", "DataSet", "CBenchSupport", "CRocksDB"],
            swiftSettings: settings),
        .executableTarget(
            name: "strata-scale-bench",
            dependencies: ["BenchSupport", "DataSet", "EnginePeople", "ObjectPeople", "Peers", "RocksDBPeer"],
            swiftSettings: settings),
        .target(
            name: "GRDBPeer",
            dependencies: ["BenchSupport", "DataSet", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),
        .target(
            name: "EnginePeople",
            dependencies: [
                "BenchSupport", "DataSet", "CBenchSupport", .product(name: "StrataLog", package: "Strata"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "ObjectPeople",
            dependencies: ["BenchSupport", "DataSet", "CBenchSupport", .product(name: "Strata", package: "Strata")],
            swiftSettings: settings),
        .target(
            name: "ServiceLoad",
            dependencies: [
                "BenchSupport", "DataSet", .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            swiftSettings: settings),
        .target(
            name: "ServicePeers",
            dependencies: ["BenchSupport", "ServiceLoad", "CSQLite", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),
        .target(
            name: "ShopObjects",
            dependencies: ["BenchSupport", "ServiceLoad", .product(name: "Strata", package: "Strata")],
            swiftSettings: settings),
        .executableTarget(
            name: "strata-service-bench",
            dependencies: ["BenchSupport", "ServiceLoad", "ServicePeers", "ShopObjects"],
            swiftSettings: settings),
        .target(
            name: "YCSBLoad",
            dependencies: ["BenchSupport", "DataSet", .product(name: "Histogram", package: "hdrhistogram-swift")],
            swiftSettings: settings),
        .target(
            name: "YCSBObjects",
            dependencies: ["BenchSupport", "YCSBLoad", .product(name: "Strata", package: "Strata")],
            swiftSettings: settings),
        .target(
            name: "YCSBPeers",
            dependencies: [
                "BenchSupport", "YCSBLoad", "ServicePeers", "CSQLite", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "strata-ycsb-bench",
            dependencies: ["BenchSupport", "YCSBLoad", "YCSBObjects", "YCSBPeers"],
            swiftSettings: settings),
        .target(name: "OO7Load", dependencies: ["BenchSupport", "DataSet"], swiftSettings: settings),
        .target(
            name: "OO7Objects",
            dependencies: ["BenchSupport", "OO7Load", .product(name: "Strata", package: "Strata")],
            swiftSettings: settings),
        .target(
            name: "OO7Peers",
            dependencies: [
                "BenchSupport", "OO7Load", "ServicePeers", "CSQLite", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "strata-oo7-bench",
            dependencies: ["BenchSupport", "OO7Load", "OO7Objects", "OO7Peers"],
            swiftSettings: settings),
        .executableTarget(
            name: "strata-bench",
            dependencies: ["BenchSupport", "DataSet", "EnginePeople", "ObjectPeople"],
            swiftSettings: settings),
        .executableTarget(
            name: "strata-migration-bench",
            dependencies: [
                "BenchSupport", "DataSet", .product(name: "Strata", package: "Strata"),
                .product(name: "StrataTransfer", package: "Strata"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "strata-replay",
            dependencies: [
                .product(name: "StrataLog", package: "Strata"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "strata-db-bench",
            dependencies: ["BenchSupport", "DataSet", "EnginePeople", "ObjectPeople", "Peers", "GRDBPeer"],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
