import BenchSupport
import DataSet
import Foundation
import Strata
import StrataTransfer

/// What one process measures. Each is run in a process of its own.
enum Step: String, CaseIterable {
    /// Makes the store, and the file of SQLite.
    case fill
    /// Opens the store with the model that it has, and with one that has an attribute more.
    case openPlain, openMigrating
    /// Reads all rows of the store before and after.
    case readPlain, readMigrated
    /// Maps all objects into a new store, as inferred and with a policy.
    case mapInferred, mapPolicy
    /// Makes a store of the file.
    case importFile

    func run(_ folder: Folder, _ count: Int) throws {
        let emitter = Emitter(peer: "strata")
        let bench = MigrationBench(folder: folder, count: count, emitter: emitter)
        switch self {
        case .fill: try bench.fill()
        case .openPlain: try bench.open("open_plain_ms", PeopleVersions.first(), "plain")
        case .openMigrating: try bench.open("open_migrating_ms", PeopleVersions.second(), "migrated")
        case .readPlain: try bench.read("plain", PeopleVersions.first())
        case .readMigrated: try bench.read("migrated", PeopleVersions.second())
        case .mapInferred: try bench.map("map_inferred_objects_per_s", nil)
        case .mapPolicy: try bench.map("map_policy_objects_per_s", RankingPolicy.self)
        case .importFile: try bench.importFile()
        }
    }
}

/// Sets the new attribute from two others.
final class RankingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        guard let entity = manager.destinationEntity(for: mapping) else { return }
        let object = NSManagedObject(entity: entity, insertInto: manager.destinationContext)
        for name in source.entity.attributesByName.keys {
            object.setValue(source.value(forKey: name), forKey: name)
        }
        let age = source.value(forKey: "age") as? Int16 ?? 0
        object.setValue(Int32(age) * 2, forKey: "rank")
        manager.associate(sourceInstance: source, withDestinationInstance: object, for: mapping)
    }
}

struct MigrationBench {
    let folder: Folder
    let count: Int
    let emitter: Emitter

    private func url(_ name: String) -> URL { URL(fileURLWithPath: folder.path).appendingPathComponent(name) }

    /// A copy of the store that was filled, as it is before anything has been done to it.
    private func copy(_ name: String) throws -> URL {
        let place = url(name)
        try? FileManager.default.removeItem(at: place)
        try FileManager.default.copyItem(at: url("store"), to: place)
        settleDisks()
        return place
    }

    func fill() throws {
        try folder.clear()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PeopleVersions.first())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url("store"), options: [StrataDurabilityOption: "os"]
        )
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        var index = 0
        let request = NSBatchInsertRequest(
            entityName: "Person",
            managedObjectHandler: { object in
                guard index < count else { return true }
                (object as? MigratedPerson)?.set(PersonRow(id: UInt64(index) + 1))
                index += 1
                return false
            })
        request.maximumObjectsPerTransaction = 10_000
        _ = try context.performAndWait { try context.execute(request) }
        try coordinator.remove(store)
        if count <= 2_000_000 {
            try CoreDataExporter(url("store")).run(to: url("store.sqlite"))
        }
    }

    private func add(_ model: NSManagedObjectModel, _ place: URL) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: place,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        return coordinator
    }

    /// Until the first object has been read.
    func open(_ metric: String, _ model: NSManagedObjectModel, _ name: String) throws {
        let place = try copy(name)
        let (seconds, coordinator) = try timed {
            let coordinator = try add(model, place)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let request = NSFetchRequest<MigratedPerson>(entityName: "Person")
                request.fetchLimit = 1
                guard try context.fetch(request).first?.digest != nil else { throw BenchFailure("no object") }
            }
            return coordinator
        }
        emitter.emit("open", metric, seconds * 1e3, "ms")
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// All objects with all fields, the first time and the second; and what a scan counts.
    func read(_ name: String, _ model: NSManagedObjectModel) throws {
        let coordinator = try add(model, url(name))
        for pass in ["cold", "warm"] {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            let (seconds, sum) = try timed {
                try context.performAndWait {
                    let request = NSFetchRequest<MigratedPerson>(entityName: "Person")
                    return try context.fetch(request).reduce(UInt64(0)) { $0 &+ $1.digest }
                }
            }
            emitter.emit("read", "\(name)_objects_\(pass)_ns", seconds / Double(count) * 1e9, "ns")
            emitter.emit("read", "\(name)_check", exactly: sum, "digest")
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        for pass in ["cold", "warm"] {
            let (seconds, _) = try timed {
                try context.performAndWait {
                    let request = NSFetchRequest<MigratedPerson>(entityName: "Person")
                    request.predicate = NSPredicate(format: "age >= 40 AND bio CONTAINS 'delta'")
                    return try context.count(for: request)
                }
            }
            emitter.emit("read", "\(name)_scan_\(pass)_ms", seconds * 1e3, "ms")
        }
    }

    func map(_ metric: String, _ policy: NSEntityMigrationPolicy.Type?) throws {
        let (first, second) = (PeopleVersions.first(), PeopleVersions.second())
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: first, destinationModel: second)
        if let policy {
            NSEntityMigrationPolicy.register(policy)
            for entity in mapping.entityMappings { entity.entityMigrationPolicyClassName = "\(policy)" }
        }
        let place = url("mapped")
        try? FileManager.default.removeItem(at: place)
        settleDisks()
        let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
        let (seconds, _) = try timed {
            try manager.migrateStore(
                from: url("store"), sourceType: NSSQLiteStoreType, with: mapping, toDestinationURL: place,
                destinationType: NSSQLiteStoreType)
        }
        emitter.emit("map", metric, Double(count) / seconds, "objects/s")
    }

    func importFile() throws {
        guard FileManager.default.fileExists(atPath: url("store.sqlite").path) else { return }
        let place = url("imported")
        try? FileManager.default.removeItem(at: place)
        settleDisks()
        let (seconds, report) = try timed {
            // A store that was never Apple's does not keep a model in Apple's form.
            try CoreDataImporter(url("store.sqlite")).run(to: place, model: PeopleVersions.first())
        }
        guard report.objects == count else { throw BenchFailure("\(report.objects) objects instead of \(count)") }
        emitter.emit("import", "rows_per_s", Double(count) / seconds, "rows/s")
    }
}
