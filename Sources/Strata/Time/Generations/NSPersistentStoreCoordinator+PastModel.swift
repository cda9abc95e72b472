import Foundation
import StrataLog

extension NSPersistentStoreCoordinator {
    /// The stores as they were at a point of the past, by the model that they were written with then: a coordinator of
    /// its own, for reading, whose ``managedObjectModel`` is that model.
    ///
    /// A context that is pinned to such a point with ``NSManagedObjectContext/setQueryGenerationFrom(_:)`` reads it by
    /// today's model. Here properties, entities and relationships that a light migration has removed since are there,
    /// with their values, and those that it has added are not. IDs and URIs are the same in both. History that is read
    /// here goes up to the point, and is told by the names of then.
    ///
    /// ```swift
    /// let then = try coordinator.past(coordinator.queryGeneration(at: .now.addingTimeInterval(-86_400)))
    /// let context = NSManagedObjectContext(.privateQueue)
    /// context.persistentStoreCoordinator = then
    /// ```
    ///
    /// Objects are plain `NSManagedObject`s, since the program's classes are those of today's model. The coordinator
    /// stays at the point, also when the stores are written or closed, and keeps the files that it reads. Its stores
    /// are read-only. Safe to call from any thread.
    ///
    /// - Parameters:
    ///   - generation: from ``queryGeneration(at:)-(Date)`` and its like, or a context's
    ///     ``NSManagedObjectContext/queryGenerationToken``. Of ``NSQueryGenerationToken/current`` the newest state is
    ///     meant.
    ///   - prepare: called with the model before it is used: to name other classes, or value transformers.
    /// - Throws: `CocoaError` 134070 when the point is not retained any more, names a store that the coordinator does
    ///   not
    ///   have, one of the program's own class, or one whose model of then has no encoded form; the store's error when
    ///   it cannot be read; what `prepare` throws. Where compaction has written objects anew by a later model that does
    ///   without some of their values, reading them is error 134070.
    /// - Complexity: reads what was committed since. Where relationships have been removed since, reads the objects
    ///   that had
    ///   them; where entities have been, the headers of the whole log.
    public final func past(
        _ generation: NSQueryGenerationToken, preparing prepare: (NSManagedObjectModel) throws -> Void = { _ in }
    ) throws -> NSPersistentStoreCoordinator {
        let parts = try pastParts(generation)
        let model = try Self.merged(try parts.map { try $0.model() })
        for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
        try prepare(model)
        let past = NSPersistentStoreCoordinator(managedObjectModel: model)
        for part in parts { past.add(try part.opened(in: past)) }
        return past
    }

    private func pastParts(_ generation: NSQueryGenerationToken) throws -> [PastStore] {
        let stores = persistentStores.filter { $0.handle != nil }
        let known = Set(stores.compactMap { $0.handle?.identity.uuidString })
        let missing = generation.sequences.map { Set($0.keys).subtracting(known) } ?? []
        guard missing.isEmpty else {
            throw NSManagedObjectContext.generationError(
                "The query generation names stores that the coordinator does not have: \(missing.sorted()).")
        }
        var parts: [PastStore] = []
        for store in stores {
            guard let handle = store.handle else { continue }
            try handle.catchUp()
            guard let sequences = generation.sequences else {
                parts.append(try PastStore(store, handle, at: nil))
                continue
            }
            if let named = sequences[handle.identity.uuidString] {
                parts.append(try PastStore(store, handle, at: named))
            }
        }
        return parts
    }

    /// One model of those of several stores.
    private static func merged(_ models: [NSManagedObjectModel]) throws -> NSManagedObjectModel {
        var hashes: [String: Data] = [:]
        for entity in models.flatMap(\.entities) {
            guard let name = entity.name else { continue }
            if let other = hashes.updateValue(entity.versionHash, forKey: name), other != entity.versionHash {
                throw NSManagedObjectContext.generationError(
                    "The stores had different entities \(name) then. Look at them in coordinators of their own.")
            }
        }
        return models.count == 1 ? models[0] : NSManagedObjectModel(byMerging: models) ?? NSManagedObjectModel()
    }
}

/// A store as it was after a transaction, on its way to being opened with the model of then.
private struct PastStore {
    private let store: NSPersistentStore
    private let handle: StoreHandle
    private let sequence: UInt64
    private let version: UInt16
    private let stored: StoredModel

    /// - Parameter point: the last transaction to be shown; nil for the newest state.
    init(_ store: NSPersistentStore, _ handle: StoreHandle, at point: UInt64?) throws {
        self.store = store
        self.handle = handle
        let sequence = point ?? handle.log.snapshot.sequence
        self.sequence = sequence
        guard handle.custom == nil else {
            throw NSManagedObjectContext.generationError(
                "The store \(handle.identity.uuidString) is of a class of the program's own and keeps no past.")
        }
        let start = HistoryState(handle.log).start
        guard sequence + 1 >= start else {
            throw Self.expired(handle, "the earliest point is transaction \(start - 1)")
        }
        let versions = try handle.log.schemas.map {
            (version: $0.version, stored: try StoredModel(bytes: $0.schema.model))
        }
        // A store that was migrated and not written since is at one transaction with both models.
        let known = point == nil ? versions.last : versions.last { $0.stored.since ?? 0 < sequence }
        guard let then = known ?? versions.first else {
            throw Self.expired(handle, "the store has no model")
        }
        (version, stored) = then
    }

    private static func expired(_ handle: StoreHandle, _ why: String) -> any Error {
        NSManagedObjectContext.generationError(
            "The store \(handle.identity.uuidString) does not retain that point of the past: \(why).")
    }

    /// The model of then.
    func model() throws -> NSManagedObjectModel {
        guard let model = try stored.decodedModel else {
            throw NSManagedObjectContext.generationError(
                "The store \(handle.identity.uuidString) does not say what its model was at transaction \(sequence), which "
                    + "has no encoded form.")
        }
        return model
    }

    func opened(in coordinator: NSPersistentStoreCoordinator) throws -> NSPersistentStore {
        let shapes = coordinator.shapes
        let held = Set(stored.entities.map(\.name)).intersection(shapes.byName.keys)
        let wanted = try StoredModel(shapes, holding: held, previous: stored)
        guard wanted.entities.allSatisfy({ stored.entity($0.name)?.slots == $0.slots }) else {
            throw NSManagedObjectContext.generationError(
                "The model that the store \(handle.identity.uuidString) had at transaction \(sequence) was written by "
                    + "another version of Strata, or was prepared with other properties: its rows cannot be read by it."
            )
        }
        let log: LogStore
        do throws(StoreError) {
            log = try handle.log.past(at: sequence, schemaVersion: version)
        } catch  where error.code == .expired {
            throw Self.expired(handle, error.message)
        } catch {
            throw StoreFailure.cocoaError(error, reading: handle)
        }
        let past = StoreHandle(
            log: log, map: StoreMap(shapes, stored), shapes: shapes, isReadOnly: true, path: handle.path)
        return NSPersistentStore(
            coordinator: coordinator, type: store.type, configuration: nil, url: store.url,
            options: [NSReadOnlyPersistentStoreOption: true], handle: past,
            metadata: StoreMetadata.read(log, type: store.type))
    }
}
