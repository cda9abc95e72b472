import CoreData
import Foundation
import StrataTestKit
import Testing

/// Stores that are migrated along chains of random versions, step by step and at once, inferred, mapped and staged:
/// whatever the way, every value is what the oracle says.
@Suite struct MigrationSweepOfChainsTests {
    private static var length: Int { BuildMode.isDebug ? 5 : 9 }

    /// A store of the first version.
    private static func filled(_ chain: MigrationChain, _ type: String) throws -> MigratedStore {
        let store = try MigratedStore(type)
        try store.with(chain.versions[0].model()) { context throws in
            var made: [NSManagedObject] = []
            for object in chain.objects {
                guard let entity = chain.versions[0].entity(object.entity) else { continue }
                let new = context.insert(entity.name, ["tag": object.tag])
                for attribute in entity.attributes {
                    new.setValue(
                        object.values[attribute.number].map { attribute.kind.value($0) }, forKey: attribute.name)
                }
                made.append(new)
            }
            for object in chain.objects {
                for link in chain.versions[0].entity(object.entity)?.links ?? [] {
                    made[object.tag].setValue(object.links[link.number].map { made[$0] }, forKey: link.name)
                }
            }
            try context.save()
        }
        return store
    }

    /// Compares all that a store has with the oracle.
    private static func check(
        _ chain: MigrationChain, _ number: Int, _ context: NSManagedObjectContext, _ hint: String
    ) throws {
        let version = chain.versions[number]
        let hint = "\(hint), version \(number) (\(version.steps.joined(separator: ", ")))"
        for entity in version.entities {
            var expected: [Int: (MigrationChain.Object, MigrationChain.Origin)] = [:]
            for origin in entity.origins {
                for object in chain.objects where object.entity == origin.entity && origin.has(object.tag) {
                    expected[object.tag] = (object, origin)
                }
            }
            let found = try context.all(entity.name)
            #expect(found.count == expected.count, "\(hint): objects of \(entity.name)")
            for object in found {
                guard let tag = object.value(forKey: "tag") as? Int, let (known, origin) = expected[tag] else {
                    Issue.record("\(hint): \(object) of \(entity.name) should not be there")
                    continue
                }
                for attribute in entity.attributes {
                    let value = plain(object.value(forKey: attribute.name))
                    let wanted = plain(chain.value(known, origin, attribute).map { attribute.kind.value($0) })
                    #expect(value == wanted, "\(hint): \(entity.name).\(attribute.name) of \(tag)")
                }
                for link in entity.links {
                    let target = object.value(forKey: link.name) as? NSManagedObject
                    #expect(
                        target?.value(forKey: "tag") as? Int == known.links[link.number],
                        "\(hint): \(entity.name).\(link.name) of \(tag)")
                    let back = target?.value(forKey: link.inverse) as? Set<NSManagedObject>
                    #expect(back?.contains(object) ?? true, "\(hint): \(link.inverse)")
                }
            }
        }
    }

    /// A text in quotation marks, or a number, whatever class it has.
    private static func plain(_ value: Any?) -> String? {
        if let text = value as? String { return "'\(text)'" }
        return (value as? NSNumber).map { "\($0.doubleValue)" }
    }

    /// Takes a store to another version with a manager, in a new store at its place.
    private static func migrate(
        _ chain: MigrationChain, _ store: MigratedStore, from start: Int, to end: Int, _ mapping: NSMappingModel
    ) throws {
        let manager = NSMigrationManager(
            sourceModel: chain.versions[start].model(), destinationModel: chain.versions[end].model())
        let new = store.directory.appendingPathComponent("new")
        try manager.migrateStore(
            from: store.url, sourceType: store.type, options: nil, with: mapping, toDestinationURL: new,
            destinationType: store.type, destinationOptions: nil)
        try FileManager.default.removeItem(at: store.url)
        try FileManager.default.moveItem(at: new, to: store.url)
    }

    @Test(
        arguments: RandomRuns.seeds(from: 700, count: BuildMode.isDebug ? 4 : 15), [NSSQLiteStoreType, NSXMLStoreType])
    func inferredStepsAndStagesGiveWhatTheOracleSays(_ seed: UInt64, _ type: String) throws {
        print("MigrationSweepOfChainsTests: seed \(seed), inferred, \(type)")
        let chain = MigrationChain(seed: seed, length: Self.length, isInferred: true)
        let end = chain.versions.count - 1
        let stepwise = try Self.filled(chain, type)
        for number in chain.versions.indices {
            try stepwise.with(chain.versions[number].model()) {
                try Self.check(chain, number, $0, "seed \(seed), steps")
            }
        }
        let whole = try Self.filled(chain, type)
        try whole.with(chain.versions[end].model()) { try Self.check(chain, end, $0, "seed \(seed), at once") }
        try mapped(chain, type, "seed \(seed)")
        let staged = try Self.filled(chain, type)
        let references = chain.versions.map { version in
            let model = version.model()
            return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
        }
        let stages = zip(references, references.dropFirst()).compactMap { before, after in
            // A version that changes nothing is the same one.
            before.versionChecksum == after.versionChecksum
                ? nil : NSCustomMigrationStage(migratingFrom: before, to: after)
        }
        var options = MigratedStore.automatic
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager(stages)
        try staged.with(chain.versions[end].model(), options) { try Self.check(chain, end, $0, "seed \(seed), staged") }
    }

    /// With the mappings that were inferred, object by object.
    private func mapped(_ chain: MigrationChain, _ type: String, _ hint: String) throws {
        let store = try Self.filled(chain, type)
        let end = chain.versions.count - 1
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: chain.versions[0].model(), destinationModel: chain.versions[end].model())
        try Self.migrate(chain, store, from: 0, to: end, mapping)
        try store.with(chain.versions[end].model()) { try Self.check(chain, end, $0, "\(hint), inferred mapping") }
    }

    @Test(
        arguments: RandomRuns.seeds(from: 9_000, count: BuildMode.isDebug ? 4 : 15),
        [NSSQLiteStoreType, NSBinaryStoreType])
    func mappedStepsGiveWhatTheOracleSays(_ seed: UInt64, _ type: String) throws {
        print("MigrationSweepOfChainsTests: seed \(seed), mapped, \(type)")
        NSEntityMigrationPolicy.register(ChainPolicy.self)
        let chain = MigrationChain(seed: seed, length: Self.length, isInferred: false)
        let end = chain.versions.count - 1
        let stepwise = try Self.filled(chain, type)
        for number in 1...end {
            if !chain.versions[number].isInferred {
                let mapping = chain.mapping(from: number - 1, to: number, byPolicy: number % 2 == 0)
                try Self.migrate(chain, stepwise, from: number - 1, to: number, mapping)
            }
            try stepwise.with(chain.versions[number].model()) {
                try Self.check(chain, number, $0, "seed \(seed), steps")
            }
        }
        for byPolicy in [false, true] {
            let whole = try Self.filled(chain, type)
            let mapping = chain.mapping(from: 0, to: end, byPolicy: byPolicy)
            try Self.migrate(chain, whole, from: 0, to: end, mapping)
            try whole.with(chain.versions[end].model()) { context throws in
                try Self.check(chain, end, context, "seed \(seed), at once, by policy: \(byPolicy)")
            }
        }
    }
}
