// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "Trips",
    dependencies: [
        // The name is given because a clone's folder may be called anything.
        .package(name: "Strata", path: "../..")
    ],
    targets: [
        .target(
            name: "Trips",
            dependencies: [.product(name: "CoreData", package: "Strata")],
            // Compiled by PortedSources, unchanged.
            exclude: ["Model", "Stack"],
            plugins: [
                .plugin(name: "StrataModel", package: "Strata"),
                .plugin(name: "PortedSources", package: "Strata"),
                .plugin(name: "ManagedAccessors", package: "Strata"),
            ]),
        .testTarget(name: "TripsTests", dependencies: ["Trips"]),
    ],
    swiftLanguageModes: [.v5]
)
