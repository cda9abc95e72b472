import CoreData
import Foundation
import StrataModelXML
import Testing

@testable import StrataTransfer

/// The migration of CoreDataPlus' sample: a car's maker is an object from now on.
final class V2to3MakerPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        guard let name = source.value(forKey: "maker") as? String,
            let car = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]).first
        else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Maker")
        request.predicate = NSPredicate(format: "name == %@", name)
        let found = try manager.destinationContext.fetch(request).first
        let maker =
            found ?? NSEntityDescription.insertNewObject(forEntityName: "Maker", into: manager.destinationContext)
        maker.setValue(name, forKey: "name")
        car.setValue(maker, forKey: "createdBy")
    }
}

/// The migrations of Sworm's tests.
final class V0V1MigrationPolicy: NSEntityMigrationPolicy {
    override func performPredicateFunction(_ name: String, arguments: [Any?]) -> Any? {
        guard name == "changeID:", let id = arguments.first as? NSNumber else {
            return super.performPredicateFunction(name, arguments: arguments)
        }
        return id.doubleValue * 10
    }
}

/// As above.
final class V1V2MigrationPolicy: NSEntityMigrationPolicy {
    override func performPredicateFunction(_ name: String, arguments: [Any?]) -> Any? {
        guard name == "multiplyByTen:", let id = arguments.first as? NSNumber else {
            return super.performPredicateFunction(name, arguments: arguments)
        }
        return id.doubleValue * 10
    }
}

/// Models, mapping models and stores of real programs, when the environment names a folder of them: models in "models",
/// with an "INDEX.tsv", mapping models in "mapping-models", what Apple's tools made in "compiled-models" and "stores".
@Suite(.enabled(if: ProcessInfo.processInfo.environment["STRATA_CORPUS"] != nil)) struct CorpusMigrationTests {
    private let folder: URL
    private let scratch: Scratch

    init() throws {
        let path = try #require(ProcessInfo.processInfo.environment["STRATA_CORPUS"])
        folder = URL(fileURLWithPath: path, isDirectory: true)
        scratch = try Scratch()
    }

    private func files(_ name: String, _ type: String) throws -> [URL] {
        let place = folder.appendingPathComponent(name)
        return try FileManager.default.contentsOfDirectory(atPath: place.path).filter { $0.hasSuffix(type) }.sorted()
            .map { place.appendingPathComponent($0) }
    }

    private func mapping(_ name: String) throws -> MappingDocument {
        let file = folder.appendingPathComponent("mapping-models/\(name).xcmapping.xml")
        let reading = try XcodeMappingModel.read(Data(contentsOf: file), file: file.path)
        #expect(reading.diagnostics.isEmpty, "\(reading.diagnostics)")
        return reading.document
    }

    // MARK: Mapping models

    @Test func everyMappingModelLoads() throws {
        for file in try files("mapping-models", ".xml") {
            let reading = try XcodeMappingModel.read(Data(contentsOf: file), file: file.path)
            #expect(reading.diagnostics.isEmpty, "\(reading.diagnostics)")
            let model = try NSMappingModel(document: reading.document)
            #expect(!model.entityMappings.isEmpty)
            #expect(model.entityMappings.allSatisfy { $0.destinationEntityVersionHash?.count == 32 })
        }
    }

    @Test func whatIsMadeOfTheXMLIsWhatApplesCompilerMadeOfIt() throws {
        var own = try mapping("CoreDataPlus-V2toV3")
        let file = folder.appendingPathComponent("compiled-models/SampleModel/V2toV3.cdm")
        var apples = try AppleMappingFile(Array(Data(contentsOf: file))).document
        (own.sourceModel, own.destinationModel) = (nil, nil)
        for index in apples.entityMappings.indices {
            apples.entityMappings[index].sourceVersionHash = nil
            apples.entityMappings[index].destinationVersionHash = nil
        }
        #expect(own == apples)
    }

    @Test func applesCompiledMappingModelIsFound() throws {
        let resources = scratch.url("Sample.resources")
        try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
        let compiled = folder.appendingPathComponent("compiled-models")
        let momd = resources.appendingPathComponent("SampleModel.momd")
        try FileManager.default.copyItem(
            at: compiled.appendingPathComponent("SampleModel-SampleModel.momd"), to: momd)
        try FileManager.default.copyItem(
            at: compiled.appendingPathComponent("SampleModel/V2toV3.cdm"),
            to: resources.appendingPathComponent("V2toV3.cdm"))
        let models = ["SampleModel", "SampleModel2", "SampleModel3"].map {
            NSManagedObjectModel(contentsOf: momd.appendingPathComponent($0 + ".mom"))
        }
        let bundle = try #require(Bundle(path: resources.path))
        #expect(NSMappingModel(from: [bundle], forSourceModel: models[1], destinationModel: models[2]) != nil)
        #expect(NSMappingModel(from: [bundle], forSourceModel: models[0], destinationModel: models[2]) == nil)
        // The copies in the XML are the same versions.
        let own = try NSMappingModel(document: mapping("CoreDataPlus-V2toV3"))
        for mapping in own.entityMappings {
            let name = try #require(mapping.destinationEntityName)
            #expect(mapping.destinationEntityVersionHash == models[2]?.entitiesByName[name]?.versionHash)
        }
    }

    // MARK: Chains

    private static var automatic: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    private func with<R>(
        _ url: URL, _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: Self.automatic)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let result = context.performAndWait { Result { try body(context) } }
        context.performAndWait { context.reset() }
        try coordinator.remove(store)
        return try result.get()
    }

    /// Opens a store with the next version, and compares everything that both versions know.
    ///
    /// - Returns: what was done, for the table.
    private func step(
        _ url: URL, _ before: NSManagedObjectModel, _ after: NSManagedObjectModel, mapping: MappingDocument?
    ) throws -> String {
        if let mapping { return try map(url, before, after, mapping) }
        let old = try with(url, before) { try CorpusRows(before, after, .before).texts($0) }
        let new: [String: [String]]
        do {
            new = try with(url, after) { try CorpusRows(before, after, .after).texts($0) }
        } catch {
            let error = error as NSError
            #expect([134_110, 134_111, 134_190].contains(error.code), "\(error)")
            return "error \(error.code): \(error.localizedDescription)"
        }
        #expect(Set(old.keys) == Set(new.keys))
        for (name, rows) in old {
            let found = new[name] ?? []
            let missing = Set(rows).subtracting(found).min() ?? ""
            let added = Set(found).subtracting(rows).min() ?? ""
            let isSame = rows == found
            #expect(isSame, "\(name): \(rows.count) and \(found.count), such as\n\(missing)\nand\n\(added)")
        }
        return "light, \(new.values.reduce(0) { $0 + $1.count }) objects"
    }

    private func map(
        _ url: URL, _ before: NSManagedObjectModel, _ after: NSManagedObjectModel, _ document: MappingDocument
    ) throws -> String {
        let new = scratch.url(UUID().uuidString)
        let manager = NSMigrationManager(sourceModel: before, destinationModel: after)
        try manager.migrateStore(
            from: url, sourceType: NSSQLiteStoreType, with: NSMappingModel(document: document),
            toDestinationURL: new, destinationType: NSSQLiteStoreType)
        let old = try with(url, before) { try CorpusRows(before, before, .before).texts($0) }
        let made = try with(new, after) { try CorpusRows(after, after, .after).texts($0) }
        for mapping in document.entityMappings {
            guard let source = mapping.sourceName, let destination = mapping.destinationName else { continue }
            #expect(old[source]?.count == made[destination]?.count, "\(mapping.name)")
            for property in mapping.attributeMappings {
                // What is taken over as it is.
                guard let expression = property.expression, expression.hasPrefix("$source.") else { continue }
                let key = String(expression.dropFirst("$source.".count))
                let values = try with(url, before) { try CorpusRows.values(of: key, source, in: $0) }
                let found = try with(new, after) { try CorpusRows.values(of: property.name, destination, in: $0) }
                #expect(values == found, "\(mapping.name).\(property.name)")
            }
        }
        try FileManager.default.removeItem(at: url)
        try FileManager.default.moveItem(at: new, to: url)
        return "mapping model, \(made.values.reduce(0) { $0 + $1.count }) objects"
    }

    private func walk(_ chain: CorpusChain, _ url: URL, from start: Int = 0) throws {
        for index in start..<(chain.versions.count - 1) {
            var mapping: MappingDocument?
            if chain.name.hasPrefix("MigratableDataModel") {
                mapping = try self.mapping(index == 0 ? "Sworm-V0V1" : "Sworm-V1V2")
            } else if chain.name.hasPrefix("SampleModel-"), index == 1 {
                mapping = try self.mapping("CoreDataPlus-V2toV3")
            }
            let outcome = try step(url, chain.model(index), chain.model(index + 1), mapping: mapping)
            print("| \(chain.name) | \(chain.versions[index].name) → \(chain.versions[index + 1].name) | \(outcome) |")
            if outcome.hasPrefix("error") { return }
        }
    }

    @Test func versionsMigrateTheirData() throws {
        var chains = try CorpusChain.xcode(in: folder)
        if let index = chains.firstIndex(where: { $0.name.hasPrefix("MigratableDataModel") }) {
            // The version between is in a mapping model only.
            let between = try #require(mapping("Sworm-V1V2").sourceModel)
            chains[index].versions.insert(("V1", between), at: 1)
        }
        let compiled = folder.appendingPathComponent("compiled-models")
        chains += [
            try .compiled(
                compiled.appendingPathComponent("SampleModel-SampleModel.momd"),
                ["SampleModel", "SampleModel2", "SampleModel3"]),
            try .compiled(
                compiled.appendingPathComponent("SampleModel3-SampleModel3.momd"),
                ["SampleModel3", "SampleModel3_v2", "SampleModel3_v3"]),
        ]
        #expect(chains.count >= 7)
        for (number, chain) in chains.enumerated() {
            for start in 0..<(chain.versions.count - 1) {
                let url = scratch.url("store \(number) \(start)")
                let model = try chain.model(start)
                try with(url, model) { try CorpusRows.fill($0, model, count: 12) }
                try walk(chain, url, from: start)
            }
        }
    }

    /// The model of the store that is named alike, with the next number: "Sample_V2.sqlite" for "Sample_V1.sqlite".
    private func nextModel(after file: URL) throws -> NSManagedObjectModel? {
        let parts = file.deletingPathExtension().lastPathComponent.components(separatedBy: "_V")
        guard parts.count == 2, let number = Int(parts[1]) else { return nil }
        let next = file.deletingLastPathComponent().appendingPathComponent("\(parts[0])_V\(number + 1).sqlite")
        guard FileManager.default.fileExists(atPath: next.path) else { return nil }
        let model = try CoreDataImporter(next).model()
        for entity in model?.entities ?? [] { entity.managedObjectClassName = "NSManagedObject" }
        return model
    }

    @Test func applesStoresGoAlongTheirChains() throws {
        let sample = try CorpusChain.compiled(
            folder.appendingPathComponent("compiled-models/SampleModel-SampleModel.momd"),
            ["SampleModel", "SampleModel2", "SampleModel3"])
        let third = try CorpusChain.compiled(
            folder.appendingPathComponent("compiled-models/SampleModel3-SampleModel3.momd"),
            ["SampleModel3", "SampleModel3_v2", "SampleModel3_v3"])
        let chains = try CorpusChain.xcode(in: folder) + [sample, third]
        for file in try files("stores", ".sqlite") {
            let url = scratch.url(file.lastPathComponent + ".strata")
            let report = try CoreDataImporter(file).run(to: url)
            let stored = try NSManagedObjectModel(storedAt: url)
            if let next = try nextModel(after: file) {
                let copy = scratch.url("\(file.lastPathComponent) next")
                try FileManager.default.copyItem(at: url, to: copy)
                let outcome = try step(copy, stored, next, mapping: nil)
                print("| \(file.lastPathComponent) | to the next store's model | \(outcome) |")
            }
            let hashes = stored.entityVersionHashesByName
            let place = try chains.lazy.compactMap { chain in
                try chain.versions.indices.first { try chain.model($0).entityVersionHashesByName == hashes }
                    .map { (chain, $0) }
            }.first
            guard let (chain, index) = place else {
                // The corpus has other versions of this model only.
                let own = chains.filter { chain in
                    chain.versions.contains { Set($0.document.entities.map(\.name)).isSuperset(of: hashes.keys) }
                }
                print("| \(file.lastPathComponent) | \(report.objects) objects | no version of the corpus |")
                for chain in own {
                    for index in chain.versions.indices {
                        let copy = scratch.url("\(file.lastPathComponent) \(index)")
                        try FileManager.default.copyItem(at: url, to: copy)
                        let outcome = try step(copy, stored, chain.model(index), mapping: nil)
                        print("| \(file.lastPathComponent) | stored → \(chain.versions[index].name) | \(outcome) |")
                    }
                }
                continue
            }
            print("| \(file.lastPathComponent) | \(report.objects) objects | \(chain.versions[index].name) |")
            try walk(chain, url, from: index)
        }
    }
}
