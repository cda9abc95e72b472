public import Foundation
import StrataLog
import StrataSupport

/// A store that is read and written as a whole: a file format of one's own. Subclass it, register the class with
/// `NSPersistentStoreCoordinator.registerStoreClass(_:forStoreType:)` and add a store of that type.
///
/// A subclass overrides ``NSPersistentStore/loadMetadata()``, ``load()``, which makes the nodes and hands them to
/// ``addCacheNodes(_:)``, ``save()``, which writes ``cacheNodes()``, and ``newReferenceObject(for:)``. Its methods are
/// called one at a time.
open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
    // Unchecked: nodes are only touched with the link's lock held.

    private var nodes: [NSManagedObjectID: NSAtomicStoreCacheNode] = [:]
    /// Nodes that others refer to and that have not been added yet.
    private var expected: [NSManagedObjectID: NSAtomicStoreCacheNode] = [:]

    /// Creates the store; the coordinator does, and has it load its contents then.
    override public init(
        persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, configurationName: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        super.init(
            persistentStoreCoordinator: coordinator, configurationName: configurationName, at: url, options: options)
    }

    // MARK: To be overridden

    /// Reads the whole file, when the store is being added, and adds a node for each object. Nothing by itself.
    ///
    /// - Throws: what keeps the store from being added.
    open func load() throws {}

    /// Writes the whole file. Called after the nodes have been brought up to date.
    ///
    /// - Throws: what the save throws then; nothing has been saved.
    open func save() throws {
        throw DescribedError(
            .persistentStoreSave,
            userInfo: [NSLocalizedDescriptionKey: "\(Swift.type(of: self)) does not override save()."])
    }

    /// A node with the values of an object that is being inserted. The object has its permanent ID.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let id = managedObject.objectID
        let node = expected.removeValue(forKey: id) ?? NSAtomicStoreCacheNode(objectID: id)
        updateCacheNode(node, from: managedObject)
        return node
    }

    /// Takes the values of an object that is being saved into its node.
    open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        // An object of which only relationships have changed may be a fault.
        managedObject.willAccessValue(forKey: nil)
        let values = NSMutableDictionary()
        for (name, property) in managedObject.entity.propertiesByName where !property.isTransient {
            if property is NSAttributeDescription {
                if let value = managedObject.primitiveValue(forKey: name) { values[name] = value }
            } else if let relationship = property as? NSRelationshipDescription {
                let found = managedObject.objectIDs(forRelationshipNamed: name).map { existingOrExpected($0) }
                if !relationship.isToMany {
                    if let first = found.first { values[name] = first }
                } else if relationship.isOrdered {
                    values[name] = NSOrderedSet(array: found)
                } else {
                    values[name] = NSSet(array: found)
                }
            }
        }
        node.propertyCache = values
    }

    /// A number, text or other hashable value by which the store will know a new object, unique in its entity. A UUID
    /// by itself.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

    /// Called before nodes of deleted objects are removed.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    // MARK: Nodes

    /// All nodes.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(nodes.values) }

    /// Adds nodes. Outside of ``load()`` and of a save their objects are in the store from then on.
    open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        for node in cacheNodes {
            nodes[node.objectID] = node
            expected[node.objectID] = nil
        }
        (handle?.custom as? AtomicStoreLink)?.nodesCame(cacheNodes)
    }

    /// The node for an ID; nil if there is none.
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodes[objectID] }

    final func removeCacheNodes(_ removed: Set<NSAtomicStoreCacheNode>) {
        for node in removed { nodes[node.objectID] = nil }
    }

    private func existingOrExpected(_ id: NSManagedObjectID) -> NSAtomicStoreCacheNode {
        if let node = nodes[id] ?? expected[id] { return node }
        let node = NSAtomicStoreCacheNode(objectID: id)
        expected[id] = node
        return node
    }

    // MARK: IDs

    /// The ID of an object that the store knows by a reference object. The same reference object gives the same ID.
    ///
    /// - Precondition: the store has been added to a coordinator, or is being added and has loaded its metadata.
    open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        customLink.objectID(entity, data)
    }

    /// What ``objectID(for:withReferenceObject:)`` was given for an ID.
    ///
    /// - Precondition: the ID is a permanent one of this store.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any { customLink.reference(objectID) }
}
