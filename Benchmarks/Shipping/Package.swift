// swift-tools-version:6.2
import PackageDescription

// Shipping a store into a bucket and restoring it, beside Litestream. A package of its own, since it needs an HTTP
// client: `make bench-shipping`.
let package = Package(
    name: "Shipping",
    dependencies: [.package(name: "Strata", path: "../..")],
    targets: [
        .executableTarget(
            name: "strata-shipping",
            dependencies: [
                .product(name: "Strata", package: "Strata"),
                .product(name: "StrataShip", package: "Strata"),
                .product(name: "StrataS3", package: "Strata"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
