// swift-tools-version:6.2
import CompilerPluginSupport
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// `make test-sweep` asks for the tests that run in release, and no others: see `releaseTests`.
let sweepsOnly = Context.environment["STRATA_TESTS"] == "sweeps"

/// `make test-debug` leaves `releaseTests` to `make test-sweep`, and the tests of shipping to `make test-ship`.
let debugOnly = Context.environment["STRATA_TESTS"] == "debug"

/// The mutants of the engine's conditions are built without all else, in a fraction of the time.
let engineOnly = Context.environment["STRATA_TESTS"] == "engine"

/// `make test-command` asks for the tests of the command, and no others.
let commandOnly = Context.environment["STRATA_TESTS"] == "command"

/// Random programs alone, for `make soak` and whoever looks at what they found.
let randomOnly = Context.environment["STRATA_TESTS"] == "random"

/// Their tests need swift-syntax, which nobody else is to fetch: `make test-macros` asks for them, and no others.
let macrosOnly = Context.environment["STRATA_TESTS"] == "macros"

/// `make test-kit` asks for the tests of StrataService, and no others.
let kitOnly = Context.environment["STRATA_TESTS"] == "kit"

/// `make test-ship` asks for the tests of StrataShip, and no others.
let shipOnly = Context.environment["STRATA_TESTS"] == "ship"

/// `make test-inspect` asks for the tests of StrataInspect, and no others. The command has `inspect` then without
/// the trait, which would have the library built anew.
let inspectOnly = Context.environment["STRATA_TESTS"] == "inspect"

/// Whether StrataInspect is there, with the HTTP server that nobody else is to fetch and build.
let hasInspect = inspectOnly || Context.environment["STRATA_TESTS"] == nil

/// Whether StrataService is there. What the Makefile builds for other tests neither fetches nor builds its packages.
let hasKit = kitOnly || hasInspect

/// `make test-s3` asks for the tests of StrataS3, and no others. The command has `s3://` and encryption then without
/// the trait.
let s3Only = Context.environment["STRATA_TESTS"] == "s3"

/// Whether StrataS3 is there, with the HTTP client that nobody else is to fetch and build.
let hasS3 = s3Only || Context.environment["STRATA_TESTS"] == nil

/// Products of swift-syntax, which only the trait Macros asks for.
func syntax(_ names: String...) -> [Target.Dependency] {
    (["SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftDiagnostics"] + names).map { name in
        .product(name: name, package: "swift-syntax", condition: .when(traits: ["Macros"]))
    }
}

/// What Strata exports, and what its inlined code reaches into. SwiftPM compiles a user's code anew when a module has
/// changed that the library lists; of one that another module only exports it keeps the old places of stored properties
/// (6.3), and the program crashes after an update.
let graph = ["Strata", "StrataRows", "StrataSchema", "StrataLog", "StrataSupport", "StrataRuntime"]

/// What the tests of the object graph share, as they do `Tests/StrataTests/Support`.
let graphTestDependencies: [Target.Dependency] = [
    "Strata", "StrataRows", "StrataSchema", "StrataModelFile", "StrataRuntime", "StrataSupport", "CoreData",
    "StrataTestKit",
]

let package = Package(
    name: "Strata",
    products: [
        .library(name: "Strata", targets: graph),
        .library(name: "CoreData", targets: ["CoreData", "CoreDataNames"] + graph),
        // Models, predicates and expressions alone, for tools that open no store.
        .library(name: "StrataSchema", targets: ["StrataSchema"]),
        .library(name: "StrataTransfer", targets: ["StrataTransfer"]),
        .library(name: "Combine", targets: ["Combine"]),
        .library(name: "StrataLog", targets: ["StrataLog", "StrataIO"]),
        .library(name: "StrataModelXML", targets: ["StrataModelXML", "StrataModelFile"]),
        .plugin(name: "StrataModel", targets: ["StrataModel"]),
        .plugin(name: "StrataModelGenerate", targets: ["StrataModelGenerate"]),
        .plugin(name: "StrataModelLint", targets: ["StrataModelLint"]),
        .library(name: "StrataTestKit", targets: ["StrataTestKit"]),
        .library(name: "StrataShip", targets: ["StrataShip", "StrataObjectStore"]),
        .executable(name: "strata", targets: ["StrataCLI"]),
        // What hand-written model classes need: accessors for @NSManaged, and the way over from Apple's platforms.
        .plugin(name: "ManagedAccessors", targets: ["ManagedAccessors"]),
        .plugin(name: "PortedSources", targets: ["PortedSources"]),
        .plugin(name: "Port", targets: ["Port"]),
        // The same by a macro, with the trait Macros.
        .library(name: "StrataManaged", targets: ["StrataManaged"] + graph),
    ],
    traits: [
        .trait(name: "Combine", description: "Publishers of OpenCombine, and a module Combine that exports it."),
        .trait(name: "S3", description: "Buckets s3://... and encryption for the command strata."),
        .trait(name: "Inspect", description: "The verb inspect of the command strata, and an HTTP server for it."),
        .trait(name: "Macros", description: "The macros @Managed and @ManagedObject, and swift-syntax for them."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        // Only the command line needs it: packages that use the libraries fetch it, and build nothing of it.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Only fetched with the trait Combine.
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        // Only fetched with the trait Macros.
        .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"700.0.0"),
    ],
    targets: [
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .target(name: "CStrataSupport"),
        // What is assumed of Swift's runtime beyond its documentation, one file each, with a check.
        .target(name: "StrataRuntime", dependencies: ["CStrataSupport"], swiftSettings: settings),
        // What threads share, and how a program is stopped that uses the library wrongly.
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
        // Model files: no part of these may depend on Strata, since the plugin's tool has to build in seconds.
        .target(name: "StrataModelFile", dependencies: ["CStrataSupport"], swiftSettings: settings),
        .target(name: "StrataModelXML", dependencies: ["StrataModelFile", "CStrataSupport"], swiftSettings: settings),
        .executableTarget(
            name: "StrataModelTool", dependencies: ["StrataModelFile", "StrataModelXML", "CStrataSupport"],
            swiftSettings: settings),
        .plugin(name: "StrataModel", capability: .buildTool(), dependencies: ["StrataModelTool"]),
        .plugin(
            name: "StrataModelGenerate",
            capability: .command(
                intent: .custom(verb: "generate-model-classes", description: "Write the classes of models"),
                permissions: [.writeToPackageDirectory(reason: "The generated classes go into the source tree.")]),
            dependencies: ["StrataModelTool"]),
        .plugin(
            name: "StrataModelLint",
            capability: .command(
                intent: .custom(verb: "lint-models", description: "Say what is wrong with models")),
            dependencies: ["StrataModelTool"]),
        // What knows neither contexts nor the engine. (The plugin has the name StrataModel.)
        .target(
            name: "StrataSchema",
            dependencies: ["StrataModelFile", "StrataSupport", "StrataRuntime", "CStrataSupport"],
            swiftSettings: settings),
        // A store as the rows of a model: compiled entities, open stores, queries. It knows no objects and no contexts.
        .target(
            name: "StrataRows",
            dependencies: [
                "StrataSchema", "StrataSupport", "StrataLog", "StrataIO", "StrataRuntime", "StrataModelFile",
                "CStrataSupport", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "Strata",
            dependencies: [
                "StrataRows", "StrataSchema", "StrataSupport", "StrataLog", "StrataIO", "StrataRuntime",
                "StrataModelFile", "CStrataSupport",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["Combine"])),
            ],
            swiftSettings: settings),
        .target(
            name: "Combine",
            dependencies: [
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["Combine"])),
                .product(name: "OpenCombineDispatch", package: "OpenCombine", condition: .when(traits: ["Combine"])),
                .product(name: "OpenCombineFoundation", package: "OpenCombine", condition: .when(traits: ["Combine"])),
            ],
            swiftSettings: settings),
        .target(name: "CoreDataNames", dependencies: ["Strata"], swiftSettings: settings),
        .target(name: "CoreData", dependencies: ["Strata", "CoreDataNames"], swiftSettings: settings),
        // Apple's stores, JSON Lines and CSV, in and out. SQLite is looked up when it is needed, not linked.
        .target(
            name: "StrataTransfer",
            dependencies: [
                "Strata", "StrataLog", "StrataIO", "StrataSupport", "StrataModelFile",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "StrataTestKit",
            dependencies: [
                "StrataIO", "StrataObjectStore", "StrataSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        // Stores as people look at them: what the command and its page have in common.
        .target(
            name: "StrataBrowsing", dependencies: ["Strata", "StrataTransfer", "StrataLog", "StrataModelFile"],
            swiftSettings: settings),
        .executableTarget(
            name: "StrataCLI",
            dependencies: [
                "StrataBrowsing", "Strata", "StrataTransfer", "StrataLog", "StrataIO", "StrataSupport",
                "StrataModelFile",
                "StrataModelXML", "StrataShip", "StrataObjectStore", "CStrataSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        // Buckets: the protocol, and one in a directory.
        .target(
            name: "StrataObjectStore",
            dependencies: [
                "StrataIO", "StrataSupport", "CStrataSupport", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        // The log in a bucket: shipping, restoring, collecting.
        .target(
            name: "StrataShip",
            dependencies: [
                "Strata", "StrataObjectStore", "StrataLog", "StrataIO", "StrataSupport", "CStrataSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        // The tools of the plugins below. They need nothing but Foundation, so that they build in seconds.
        .target(name: "StrataSourceTools", swiftSettings: settings),
        .executableTarget(
            name: "StrataAccessorTool", dependencies: ["StrataSourceTools", "CStrataSupport"], swiftSettings: settings),
        .plugin(name: "ManagedAccessors", capability: .buildTool(), dependencies: ["StrataAccessorTool"]),
        .executableTarget(
            name: "StrataPortTool", dependencies: ["StrataSourceTools", "CStrataSupport"], swiftSettings: settings),
        .plugin(name: "PortedSources", capability: .buildTool(), dependencies: ["StrataPortTool"]),
        .plugin(
            name: "Port",
            capability: .command(
                intent: .custom(verb: "port", description: "Rewrite Core Data sources for Linux; --write does it")),
            dependencies: ["StrataPortTool", "StrataModelTool"]),
        .macro(name: "StrataMacros", dependencies: syntax("SwiftCompilerPlugin"), swiftSettings: settings),
        .target(name: "StrataManaged", dependencies: ["Strata", "StrataMacros"], swiftSettings: settings),
        .testTarget(
            name: "StrataSourceToolsTests", dependencies: ["StrataSourceTools"], swiftSettings: settings),
        .testTarget(
            name: "StrataIOTests",
            dependencies: [
                "StrataIO", "StrataSupport", "StrataTestKit", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "StrataLogTests",
            dependencies: [
                "StrataLog", "StrataIO", "StrataSupport", "StrataTestKit",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            // What each version of the format wrote.
            resources: [.copy("Written")],
            swiftSettings: settings),
        .testTarget(
            name: "StrataTests",
            dependencies: graphTestDependencies,
            resources: [.copy("Stores/Written")],
            swiftSettings: settings),
        // What does much of the same: sweeps of faults, generated requests and graphs. Unoptimised, the library takes
        // several times as long for it. (`Support` is a link to that of StrataTests.)
        .testTarget(
            name: "StrataSweepTests",
            dependencies: graphTestDependencies,
            swiftSettings: settings),
        // What depends on how the library is built: what it assumes of the runtime, and how it stops programs.
        .testTarget(
            name: "StrataBuildTests",
            dependencies: graphTestDependencies,
            swiftSettings: settings),
        // Random models, data and programs against an oracle of dictionaries.
        .testTarget(
            name: "StrataRandomTests", dependencies: ["Strata", "CoreData", "StrataTestKit"],
            swiftSettings: settings),
        .testTarget(
            name: "StrataTransferTests",
            dependencies: [
                "StrataTransfer", "Strata", "StrataModelFile", "StrataModelXML", "CoreData", "StrataLog", "StrataIO",
                "StrataTestKit", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "StrataModelTests",
            dependencies: [
                "Strata", "StrataSchema", "StrataModelFile", "StrataModelXML", "StrataModelTool", "StrataTestKit",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "StrataShipTests",
            dependencies: [
                "StrataShip", "StrataObjectStore", "StrataLog", "StrataIO", "StrataSupport", "StrataTestKit", "Strata",
                "CoreData", "StrataCLI", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "StrataCLITests",
            dependencies: [
                "Strata", "CoreData", "StrataCLI", "StrataLog", "StrataIO", "StrataTestKit",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)

/// Run in release alone: in debug they take several times as long, or do less. The engine's have nothing that only a
/// debug build checks, and all other tests run the engine in debug.
let releaseTests: Set = ["StrataLogTests", "StrataSweepTests", "StrataTransferTests"]

/// Run in debug and in release: what they test is another thing in each, or, of random programs, more of it.
let testsOfBoth: Set = ["StrataBuildTests", "StrataRandomTests"]

if sweepsOnly {
    package.targets.removeAll { $0.isTest && !releaseTests.union(testsOfBoth).contains($0.name) }
    // To optimise these takes longer than they do. The engine's tests have models of their own that compute four times
    // as long unoptimised as everything else together.
    for target in package.targets where target.isTest && target.name != "StrataLogTests" {
        target.swiftSettings?.append(.unsafeFlags(["-Onone"]))
    }
}

if debugOnly {
    package.targets.removeAll { releaseTests.contains($0.name) || $0.name == "StrataShipTests" }
}

if randomOnly {
    package.targets.removeAll { $0.isTest && $0.name != "StrataRandomTests" }
}

if commandOnly {
    package.targets.removeAll { $0.isTest && $0.name != "StrataCLITests" }
}

if shipOnly {
    package.targets.removeAll { $0.isTest && $0.name != "StrataShipTests" }
}

if engineOnly {
    let engine: Set = [
        "CLZ4", "CStrataSupport", "StrataRuntime", "StrataSupport", "StrataIO", "StrataLog", "StrataTestKit",
        "StrataObjectStore", "StrataLogTests",
    ]
    package.products.removeAll()
    package.targets.removeAll { !engine.contains($0.name) }
}

if macrosOnly {
    package.targets.removeAll(where: \.isTest)
    package.targets.append(
        .testTarget(
            name: "StrataMacrosTests",
            dependencies: ["StrataManaged", "StrataMacros", "CoreData"]
                + syntax(
                    "SwiftSyntax", "SwiftParser", "SwiftSyntaxMacroExpansion", "SwiftSyntaxMacrosGenericTestSupport"),
            swiftSettings: settings))
}

if hasKit {
    // SwiftPM fetches these for everybody, and builds them for who uses the product.
    package.dependencies += [
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    ]
    package.products.append(.library(name: "StrataService", targets: ["StrataService"]))
    // Logs, metrics, spans and the life of a store in a server.
    package.targets.append(
        .target(
            name: "StrataService",
            dependencies: [
                "Strata", "StrataShip", "StrataLog", "StrataIO", "StrataSupport",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Configuration", package: "swift-configuration"),
            ],
            swiftSettings: settings))
}

if kitOnly {
    package.targets.removeAll(where: \.isTest)
    package.targets.append(
        .testTarget(
            name: "StrataServiceTests",
            dependencies: [
                "StrataService", "Strata", "StrataShip", "StrataObjectStore", "StrataLog", "StrataSchema",
                "StrataSupport", "StrataTestKit", "CoreData",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "Configuration", package: "swift-configuration"),
            ],
            swiftSettings: settings))
}

if hasInspect {
    package.dependencies += [
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
    ]
    // The page of `strata inspect`.
    package.targets.append(
        .target(
            name: "StrataInspect",
            dependencies: [
                "StrataBrowsing", "StrataService", "Strata", "StrataTransfer", "StrataLog", "StrataIO",
                "StrataModelFile",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings))
    let command = package.targets.first { $0.name == "StrataCLI" }
    command?.dependencies.append(
        inspectOnly ? "StrataInspect" : .target(name: "StrataInspect", condition: .when(traits: ["Inspect"])))
    if inspectOnly { command?.swiftSettings = settings + [.define("Inspect")] }
}

if inspectOnly {
    package.targets.removeAll(where: \.isTest)
    package.targets.append(
        .testTarget(
            name: "StrataInspectTests",
            dependencies: [
                "StrataInspect", "StrataBrowsing", "StrataService", "StrataCLI", "Strata", "CoreData",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings))
}

if s3Only {
    let needed: Set = [
        "CLZ4", "CStrataSupport", "StrataRuntime", "StrataSupport", "StrataIO", "StrataLog", "StrataModelFile",
        "StrataSchema", "StrataRows", "Strata", "StrataObjectStore", "StrataShip", "StrataTestKit", "StrataModelXML",
        "StrataTransfer", "StrataBrowsing", "StrataCLI",
    ]
    package.products.removeAll { $0.name != "strata" }
    package.targets.removeAll { !needed.contains($0.name) }
}

if hasS3 || hasInspect {
    package.dependencies.append(.package(url: "https://github.com/apple/swift-nio", from: "2.101.0"))
}

if hasS3 {
    package.dependencies += [
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.36.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    ]
    package.products += [
        .library(name: "StrataS3", targets: ["StrataS3"]),
        .library(name: "StrataEncryption", targets: ["StrataEncryption"]),
    ]
    // What is shipped, encrypted.
    package.targets.append(
        .target(
            name: "StrataEncryption",
            dependencies: ["StrataObjectStore", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: settings))
    // Buckets of servers that speak S3's protocol.
    package.targets.append(
        .target(
            name: "StrataS3",
            dependencies: [
                "StrataObjectStore", "StrataSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings))
    let command = package.targets.first { $0.name == "StrataCLI" }
    command?.dependencies += ["StrataS3", "StrataEncryption"].map { name in
        s3Only ? .target(name: name) : .target(name: name, condition: .when(traits: ["S3"]))
    }
    if s3Only { command?.swiftSettings = settings + [.define("S3")] }
}

if s3Only {
    package.targets.append(
        .testTarget(
            name: "StrataS3Tests",
            dependencies: [
                "StrataS3", "StrataEncryption", "StrataObjectStore", "StrataShip", "Strata", "StrataTestKit",
                "StrataCLI",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings))
}
