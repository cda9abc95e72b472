import Foundation
import StrataLog

/// Copies every object of one store of a coordinator to another one, with its relationships.
struct ObjectCopy {
    private let coordinator: NSPersistentStoreCoordinator
    private let sourceStore: NSPersistentStore
    private let source: StoreHandle
    private let targetStore: NSPersistentStore
    private let target: StoreHandle

    init(
        _ coordinator: NSPersistentStoreCoordinator, from sourceStore: NSPersistentStore, _ source: StoreHandle,
        to targetStore: NSPersistentStore, _ target: StoreHandle
    ) {
        self.coordinator = coordinator
        self.sourceStore = sourceStore
        self.source = source
        self.targetStore = targetStore
        self.target = target
    }

    /// - Returns: for each reference in the source the one in the target.
    /// - Complexity: O(n); all objects are in memory at once.
    func run() throws -> [ObjectRef: ObjectRef] {
        let reader = NSManagedObjectContext(.privateQueue)
        let writer = NSManagedObjectContext(.privateQueue)
        for context in [reader, writer] { context.isSilent = true }
        return try reader.performAndWait {
            reader.persistentStoreCoordinator = coordinator
            let originals = try fetch(in: reader)
            return try writer.performAndWait {
                writer.persistentStoreCoordinator = coordinator
                return try copy(originals, to: writer)
            }
        }
    }

    private func fetch(in reader: NSManagedObjectContext) throws -> [NSManagedObject] {
        var originals: [NSManagedObject] = []
        for shape in coordinator.shapes.shapes where source.map.holds(shape) && !shape.isAbstract {
            let request = NSFetchRequest<NSManagedObject>(entityName: shape.name)
            request.includesSubentities = false
            request.affectedStores = [sourceStore]
            request.returnsObjectsAsFaults = false
            originals += try reader.fetch(request)
        }
        return originals
    }

    private func copy(
        _ originals: [NSManagedObject], to writer: NSManagedObjectContext
    ) throws -> [ObjectRef: ObjectRef] {
        guard !originals.isEmpty else { return [:] }
        var copies: [NSManagedObjectID: NSManagedObject] = [:]
        for original in originals {
            // Not of the entity's own class: this is no insertion that the program should notice.
            let copy = NSManagedObject(entity: original.shape.entity, insertInto: writer)
            writer.assign(copy, to: targetStore)
            copies[original.objectID] = copy
        }
        for original in originals {
            guard let copy = copies[original.objectID] else { continue }
            try copyValues(of: original, to: copy, copies)
        }
        let inserted = ContiguousArray(originals.compactMap { copies[$0.objectID] })
        var keys = KeyReservation(writer, coordinator)
        try keys.reserve(for: inserted)
        let ending = writer.pipeline.makeEnding(writer.registry.storeIndex(of: target))
        ending.changes.inserted = inserted
        try ending.write()
        ending.finish()
        var moved: [ObjectRef: ObjectRef] = [:]
        for original in originals { moved[original.ref] = copies[original.objectID]?.ref }
        writer.reset()
        return moved
    }

    private func copyValues(
        of original: NSManagedObject, to copy: NSManagedObject, _ copies: [NSManagedObjectID: NSManagedObject]
    ) throws {
        for (slot, info) in original.shape.slots.prefix(original.shape.persistentSlotCount).enumerated()
        where info.attribute != nil {
            copy.setBoxedValue(original.boxedValue(slot), slot: slot)
        }
        for relationship in original.shape.relationships {
            let targets = original.targets(relationship).compactMap { copies[$0.objectID] }
            if relationship.isToMany {
                guard !targets.isEmpty else { continue }
                copy.setToMany(relationship, to: targets)
            } else if let target = targets.first {
                copy.setToOne(relationship, to: target)
            }
        }
        if original.flags.contains(.unreadable),
            let error = original.registry?.context?.readTrouble.errors[original.objectID]
        {
            throw error
        }
    }
}
