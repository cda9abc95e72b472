// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "Bookshop",
    dependencies: [
        // The name is given because a clone's folder may be called anything.
        .package(name: "Strata", path: "../..")
    ],
    targets: [
        .target(
            name: "Catalogue", dependencies: [.product(name: "CoreData", package: "Strata")],
            plugins: [.plugin(name: "ManagedAccessors", package: "Strata")]),
        .target(
            name: "Bookshop", dependencies: ["Catalogue", .product(name: "CoreData", package: "Strata")],
            plugins: [.plugin(name: "ManagedAccessors", package: "Strata")]),
        // The program of the tutorial in the documentation of Strata.
        .target(
            name: "Notes", dependencies: [.product(name: "CoreData", package: "Strata")],
            plugins: [.plugin(name: "ManagedAccessors", package: "Strata")]),
        .executableTarget(
            name: "BookshopDemo", dependencies: ["Bookshop", .product(name: "CoreData", package: "Strata")]),
        .testTarget(name: "BookshopTests", dependencies: ["Bookshop", "Catalogue", "Notes"]),
    ],
    swiftLanguageModes: [.v6]
)
