import Foundation
import Testing

/// A model that was built and is excluded by now stayed in the bundle, where programs look for models: the program
/// loaded a model that its sources had no more. What else lies there must stay.
@Suite struct StaleOutputTests {
    private let work = "build/plugins/outputs/shop/Shop/destination/StrataModel"

    private func write(_ paths: [String], in directory: URL) throws {
        for path in paths {
            let url = directory.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(path.utf8).write(to: url)
        }
    }

    private func files(in directory: URL) -> Set<String> {
        let found = FileManager.default.enumerator(atPath: directory.path)?.allObjects as? [String] ?? []
        return Set(found.filter { $0.hasSuffix("mom") || $0.hasSuffix("cdm") || $0.hasSuffix("swift") })
    }

    private func remove(models: [String], mappings: [String] = [], in directory: URL) {
        let sources = directory.appendingPathComponent("Sources/Shop")
        StaleOutputs(
            work: directory.appendingPathComponent(work), bundle: "Shop_Shop",
            models: models.map { sources.appendingPathComponent($0) },
            mappings: mappings.map { sources.appendingPathComponent($0) }
        ).remove()
    }

    @Test func whatAnExcludedModelBecameGoesFromEveryBundle() throws {
        let places = ["debug/Shop_Shop.resources", "release/Shop_Shop.resources", "debug/Shop_Shop.bundle"]
            .map { "build/x86_64/\($0)" }
        let stale =
            (places + [work]).flatMap { ["\($0)/Old.momd/Old.mom", "\($0)/Old.cdm"] } + [
                "\(work)/Old+CoreDataModel.swift"
            ]
        let kept =
            (places + [work]).flatMap { ["\($0)/Now.momd/Now.mom", "\($0)/Now.cdm"] } + [
                "\(work)/Now+CoreDataModel.swift", "\(work)/Helper.swift",
                // Nothing of the plugin's: it never wrote one of that name.
                "\(places[0])/Shipped.momd/Shipped.mom",
                // The bundle of another target, whose name ends alike.
                "build/x86_64/debug/Shop_My_Shop.resources/Old.momd/Old.mom",
                "build/x86_64/debug/Other_Shop.resources/Old.momd/Old.mom",
            ]
        try ModelFixtures.withDirectory { directory in
            try write(stale + kept, in: directory)
            remove(models: ["Now.xcdatamodeld"], mappings: ["Now.xcmappingmodel"], in: directory)
            #expect(files(in: directory) == Set(kept))
            remove(models: [], in: directory)
            let left = files(in: directory)
            #expect(left == Set(kept.filter { !$0.contains("Now.") && !$0.contains("Now+") }))
            #expect(left.count == 4)
        }
    }

    @Test func aMappingModelOfTheNameKeepsNoModel() throws {
        let bundle = "build/x86_64/debug/Shop_Shop.resources"
        try ModelFixtures.withDirectory { directory in
            try write(
                ["\(work)/A.momd/A.mom", "\(work)/A.cdm", "\(bundle)/A.momd/A.mom", "\(bundle)/A.cdm"], in: directory)
            remove(models: [], mappings: ["A.xcmappingmodel"], in: directory)
            #expect(files(in: directory) == ["\(work)/A.cdm", "\(bundle)/A.cdm"])
        }
    }
}
