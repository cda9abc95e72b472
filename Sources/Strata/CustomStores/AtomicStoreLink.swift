import Foundation
import StrataLog
import StrataSupport

/// Takes over the nodes of an ``NSAtomicStore`` when it is loaded, and keeps them up to date at each save.
final class AtomicStoreLink: CustomStore, @unchecked Sendable {
    // Unchecked: used in the superclass's lock.

    private weak var store: NSAtomicStore?
    /// Whether nodes that come belong to a load or a save that deals with them itself.
    private var expectsNodes = true

    init(_ store: NSAtomicStore) {
        self.store = store
    }

    private func existingStore() throws -> NSAtomicStore {
        guard let store else {
            throw DescribedError(
                .persistentStoreOperation, userInfo: [NSLocalizedDescriptionKey: "The store is not open any more."])
        }
        return store
    }

    // MARK: Loading

    /// Has the store read its file and writes all nodes to the log.
    func load(_ coordinator: NSPersistentStoreCoordinator) throws {
        let store = try existingStore()
        try withLock {
            try store.load()
            try take(store.cacheNodes(), coordinator)
            expectsNodes = false
        }
    }

    /// Nodes have been added to the store.
    func nodesCame(_ nodes: Set<NSAtomicStoreCacheNode>) {
        guard !expectsNodes, let coordinator = store?.persistentStoreCoordinator else { return }
        do {
            try withLock { try take(nodes, coordinator) }
        } catch {
            programmerError(
                "NSAtomicStore.addCacheNodes(_:)",
                "nodes that were added to \(handle.path) cannot be taken: \(error.localizedDescription)",
                "Add nodes of the store's own IDs, with values that the model allows")
        }
    }

    /// Writes nodes to the log as rows of new objects.
    ///
    /// The objects of a context that nobody sees carry the values over, so that relationships are kept the usual way.
    private func take(_ nodes: Set<NSAtomicStoreCacheNode>, _ coordinator: NSPersistentStoreCoordinator) throws {
        guard !nodes.isEmpty else { return }
        let context = NSManagedObjectContext(.privateQueue)
        context.isSilent = true
        try context.performAndWait {
            context.persistentStoreCoordinator = coordinator
            var objects: [NSManagedObjectID: NSManagedObject] = [:]
            for node in nodes {
                // Not of the entity's own class: this is no insertion that the program should notice.
                let object = NSManagedObject(entity: node.objectID.entity, insertInto: context)
                object.reservedRef = node.objectID.ref
                objects[node.objectID] = object
            }
            for node in nodes {
                guard let object = objects[node.objectID] else { continue }
                for (name, property) in node.objectID.entity.propertiesByName where !property.isTransient {
                    guard let value = node.value(forKey: name), !(value is NSNull) else {
                        // An attribute that the node leaves out is null, not its default.
                        if property is NSAttributeDescription { object.setKeyedValue(nil, name) }
                        continue
                    }
                    if property is NSAttributeDescription {
                        object.setKeyedValue(value, name)
                    } else if let relationship = property as? NSRelationshipDescription {
                        try set(value, relationship, of: object, objects, in: context)
                    }
                }
            }
            let ending = StoreEnding(context, handle, context.registry.storeIndex(of: handle))
            ending.changes.inserted = ContiguousArray(
                objects.values.sorted { $0.reservedRef < $1.reservedRef })
            try ending.writeToLog()
            context.pipeline.forgetChanges()
        }
    }

    private func set(
        _ value: Any, _ relationship: NSRelationshipDescription, of object: NSManagedObject,
        _ objects: [NSManagedObjectID: NSManagedObject], in context: NSManagedObjectContext
    ) throws {
        let elements = relationship.isToMany ? AnyElements(value)?.elements ?? [] : [value]
        let targets = try elements.compactMap { element -> NSManagedObject? in
            guard let id = (element as? NSAtomicStoreCacheNode)?.objectID ?? element as? NSManagedObjectID else {
                throw DescribedError(
                    .persistentStoreOpen,
                    userInfo: [
                        NSLocalizedDescriptionKey:
                            "The value of \(object.shape.name).\(relationship.name) in a node is no node."
                    ])
            }
            return objects[id] ?? context.object(id.ref, context.registry.storeIndex(of: handle))
        }
        if relationship.isToMany {
            object.setKeyedValue(
                relationship.isOrdered ? NSOrderedSet(array: targets) : Set(targets) as Any, relationship.name)
        } else {
            object.setKeyedValue(targets.first, relationship.name)
        }
    }

    // MARK: Saving

    override func references(for objects: [NSManagedObject]) throws -> [ObjectRef] {
        let store = try existingStore()
        return withLock {
            objects.map { store.objectID(for: $0.entity, withReferenceObject: store.newReferenceObject(for: $0)).ref }
        }
    }

    override func saveAndCommit(_ transaction: WriteTransaction, _ ending: StoreEnding) throws -> CommitReceipt {
        let store = try existingStore()
        try checkConflicts(ending)
        try transaction.checkReferrers()
        if ending.changes.isEmpty { return try handle.log.commit(transaction) }
        makePermanent(ending)
        expectsNodes = true
        defer { expectsNodes = false }
        let inserted = Set(ending.changes.inserted.map { store.newCacheNode(for: $0) })
        store.addCacheNodes(inserted)
        var before: [(NSAtomicStoreCacheNode, NSMutableDictionary?)] = []
        for object in ending.changes.updated {
            guard let node = store.cacheNode(for: object.objectID) else { continue }
            before.append((node, node.propertyCache?.mutableCopy() as? NSMutableDictionary))
            store.updateCacheNode(node, from: object)
        }
        let deleted = Set(ending.changes.deleted.compactMap { store.cacheNode(for: $0.objectID) })
        if !deleted.isEmpty {
            store.willRemoveCacheNodes(deleted)
            store.removeCacheNodes(deleted)
        }
        do {
            try store.save()
            store.forgetMetadataChange()
        } catch {
            store.removeCacheNodes(inserted)
            store.addCacheNodes(deleted)
            for (node, values) in before { node.propertyCache = values }
            throw error
        }
        return try handle.log.commit(transaction)
    }

    override func saveMetadata() throws {
        let store = try existingStore()
        try withLock { try store.save() }
    }
}
