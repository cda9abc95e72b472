// swift-tools-version:6.2
import PackageDescription

// Kills writing processes again and again and checks what they leave. A package of its own, since it is a program and
// not a test case; `swift run -c release kill-loop 40` is the part of `make test`.
let package = Package(
    name: "KillLoop",
    dependencies: [
        .package(name: "Strata", path: "../.."),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        .target(name: "CProcessMemory"),
        .executableTarget(
            name: "kill-loop",
            dependencies: [
                "CProcessMemory",
                .product(name: "Strata", package: "Strata"), .product(name: "StrataLog", package: "Strata"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
