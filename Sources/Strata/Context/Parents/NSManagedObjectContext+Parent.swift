import Foundation
import StrataIO
import StrataLog
import StrataSupport
import Synchronization

extension NSManagedObjectContext {
    /// Makes the context a child of another one, or of none.
    final func setParent(_ newValue: NSManagedObjectContext?) {
        guard newValue !== link?.parent else { return }
        guard link != nil || coordinator == nil else {
            programmerError(
                "NSManagedObjectContext.parent", "the context already has a coordinator",
                "Set either the parent or the coordinator")
        }
        guard registry.all.isEmpty else {
            programmerError(
                "NSManagedObjectContext.parent", "objects are registered with the context",
                "Set the parent of a new context, before it has objects")
        }
        link?.parent.children?.remove(self)
        link = nil
        registry.permanentIDs = nil
        setCoordinator(nil)
        guard let newValue else { return }
        guard !newValue.ancestors.contains(where: { $0 === self }) else {
            programmerError(
                "NSManagedObjectContext.parent", "the context would descend from itself",
                "Set a parent that is not one of its own children")
        }
        let family = newValue.madeChildren
        let ids = newValue.link?.permanentIDs ?? family.makePermanentIDs()
        link = ParentLink(newValue, ids)
        registry.permanentIDs = ids
        family.add(self)
        setCoordinator(newValue.coordinator)
    }

    /// The context, its parent, the parent's parent and so on.
    private final var ancestors: [NSManagedObjectContext] {
        var contexts = [self]
        while let parent = contexts.last?.link?.parent { contexts.append(parent) }
        return contexts
    }

    /// The context at the top of the line, which writes to the stores.
    final var top: NSManagedObjectContext { ancestors.last ?? self }

    /// Takes another coordinator, and gives it to the children.
    final func setCoordinator(_ new: NSPersistentStoreCoordinator?) {
        coordinator = new
        forgetModel()
        if let new { register(with: new) }
        if link == nil, automaticallyMergesChangesFromParent { new?.observe(self) }
        for child in allChildren { child.setCoordinator(new) }
    }

    private func register(with coordinator: NSPersistentStoreCoordinator) {
        let generation = coordinator.storesGeneration.load(ordering: .acquiring)
        let (count, store) = coordinator.register(self)
        if let store { recordStore(store, generation) }
        faults.begin(with: coordinator.readSlots, turn: count)
    }

    /// Runs a block with the parent, on the parent's queue. The caller may hold that queue already.
    ///
    /// - Throws: what the block throws.
    final func withParent<T>(_ link: ParentLink, _ block: (NSManagedObjectContext) throws -> T) throws -> T {
        let parent = link.parent
        let result: Result<T, any Error> = parent.queue.sync(for: parent, isQuestion: true) {
            Result { try block(parent) }
        }
        return try result.get()
    }

    // MARK: Names

    /// What the context and its family call the object.
    final func sharedRef(of object: NSManagedObject) -> SharedRef {
        SharedRef(object.ref, registry.handle(object.storeIndex), object.shape)
    }

    /// The ID's permanent name if it has become permanent.
    private final func resolved(_ ref: SharedRef) -> SharedRef {
        guard ref.handle == nil, let entry = (link?.permanentIDs ?? children?.permanentIDs)?.entry(for: ref.ref) else {
            return ref
        }
        return SharedRef(entry.ref, entry.handle, ref.shape)
    }

    /// The object that the family calls so, if it is in memory.
    final func registeredObject(_ shared: SharedRef) -> NSManagedObject? {
        adoptPermanentIDs()
        if shared.handle == nil, let object = registry.object(shared.ref, 0) { return object }
        let ref = resolved(shared)
        guard let handle = ref.handle else { return registry.object(ref.ref, ObjectRegistry.unsavedIndex) }
        return registry.object(ref.ref, registry.storeIndex(of: handle))
    }

    /// The object that the family calls so, or a fault. Nil when a root never heard of a temporary name.
    final func object(_ shared: SharedRef) -> NSManagedObject? {
        if let object = registeredObject(shared) { return object }
        let ref = resolved(shared)
        if let handle = ref.handle { return object(ref.ref, registry.storeIndex(of: handle)) }
        guard link != nil else { return nil }
        let object = registry.newUnsavedFault(ref.ref, ref.shape)
        if isRetaining { retained.append(object) }
        return object
    }

    /// The object that a reference in a row of `object` names.
    final func target(_ ref: ObjectRef, of object: NSManagedObject) -> NSManagedObject? {
        self.object(ref, object.storeIndex, of: object)
    }

    /// The target of a reference in a row that the usual way did not find: it is temporary, or the row's own object
    /// is, so that the row does not say which store counts.
    final func unusualTarget(_ ref: ObjectRef, of owner: NSManagedObject?) -> NSManagedObject? {
        if ref.entity != 0 {
            guard let handle = handle(holding: ref, of: owner) else { return nil }
            return object(ref, registry.storeIndex(of: handle))
        }
        if let object = registry.object(ref, 0) ?? registry.object(ref, ObjectRegistry.unsavedIndex) { return object }
        if let entry = (link?.permanentIDs ?? children?.permanentIDs)?.entry(for: ref) {
            return object(entry.ref, registry.storeIndex(of: entry.handle))
        }
        guard let link else { return nil }
        let shape = try? withParent(link) { parent in parent.unusualTarget(ref, of: nil)?.shape }
        return shape.flatMap { $0 }.flatMap { object(SharedRef(ref, nil, $0)) }
    }

    /// The store that a reference of an object without permanent ID leads to: objects refer only to those of their own
    /// store, so it is the one that the object is going to.
    private final func handle(holding ref: ObjectRef, of owner: NSManagedObject?) -> StoreHandle? {
        let handles = (coordinator?.persistentStores.compactMap(\.handle) ?? []).filter {
            $0.map.shape(ref.entity) != nil
        }
        if handles.count > 1, let owner, let handle = destination(of: sharedRef(of: owner)),
            handles.contains(where: { $0 === handle })
        {
            return handle
        }
        return handles.first
    }

    /// The store that an object without permanent ID is going to: the one it was assigned to, here or further up, or
    /// the first one that takes its entity.
    private final func destination(of shared: SharedRef) -> StoreHandle? {
        if let object = registeredObject(shared), let store = pipeline.assignments[ObjectIdentifier(object)] {
            return store.handle
        }
        if let link { return (try? withParent(link) { $0.destination(of: shared) }) ?? nil }
        return coordinator?.handle(holding: shared.shape)
    }

    // MARK: Permanent IDs

    /// Gives objects that the parent's side has made permanent their new names.
    final func adoptPermanentIDs() {
        guard let link else { return }
        let generation = link.permanentIDs.generation.load(ordering: .acquiring)
        guard generation != link.adoptedGeneration else { return }
        link.adoptedGeneration = generation
        registry.adopt(link.permanentIDs)
    }

    /// Tells the descendants what the objects, which are about to become permanent, will be called.
    final func sharePermanentIDs(_ objects: ContiguousArray<NSManagedObject>, _ handle: StoreHandle) {
        guard let ids = link?.permanentIDs ?? children?.permanentIDs else { return }
        var new: [(temporary: ObjectRef, entry: PermanentIDs.Entry)] = []
        objects.forEachUnretained { object in
            guard object.storeIndex == 0, object.flags.contains(.knownToChildren) else { return }
            new.append((object.ref, PermanentIDs.Entry(ref: object.reservedRef, handle: handle)))
        }
        ids.add(new)
    }

    /// Called when the context has forgotten all objects. What its root is saving just now nobody below hears of before
    /// that is done, and then by its permanent name.
    final func forgetPermanentIDs() {
        guard let link, link.parent.link == nil, children?.isEmpty != false, link.parent.children?.isOnlyOne == true
        else { return }
        link.permanentIDs.removeAll()
    }

    /// As ``sharePermanentIDs(_:_:)``, of an object that gets another reference than the one reserved for it.
    final func sharePermanentID(_ ref: ObjectRef, of object: NSManagedObject, _ handle: StoreHandle) {
        guard object.storeIndex == 0, object.flags.contains(.knownToChildren),
            let ids = link?.permanentIDs ?? children?.permanentIDs
        else { return }
        ids.add([(object.ref, PermanentIDs.Entry(ref: ref, handle: handle))])
    }

    /// Has the parent's side give permanent IDs to what only it knows.
    final func obtainPermanentIDsFromParent(for objects: [NSManagedObject]) throws {
        guard let link else { return }
        adoptPermanentIDs()
        let refs = objects.filter { $0.registry === registry && $0.storeIndex == ObjectRegistry.unsavedIndex }
            .map(sharedRef)
        guard !refs.isEmpty else { return }
        try withParent(link) { parent in
            try parent.obtainPermanentIDs(for: refs.compactMap { parent.registeredObject($0) })
        }
        adoptPermanentIDs()
    }

    // MARK: Merging

    /// Tells the children that merge by themselves what has changed in this context.
    final func tellChildren(_ changes: ObjectChanges, except child: NSManagedObjectContext? = nil) {
        let listeners = allChildren.filter { $0 !== child && $0.automaticallyMergesChangesFromParent }
        guard !listeners.isEmpty else { return }
        let ids = MergedIDs(
            inserted: changes.inserted.map(\.objectID), updated: changes.updated.map(\.objectID),
            deleted: changes.deleted.map(\.objectID))
        for listener in listeners { listener.perform { listener.merge(ids) } }
    }

    /// As ``tellChildren(_:except:)``, of changes that were merged into this context.
    final func tellChildren(of ids: MergedIDs, areOfSave: Bool) {
        for child in allChildren where child.automaticallyMergesChangesFromParent {
            child.perform { child.merge(ids, areOfSave: areOfSave) }
        }
    }

    /// Remembers that the context's objects are as new as the stores: what children read before does not count as
    /// out of date any more.
    final func recordMerged() {
        guard link == nil, children?.isEmpty == false else { return }
        for handle in coordinator?.persistentStores.compactMap(\.handle) ?? [] {
            knownSequences[ObjectIdentifier(handle)] = KnownSequences(merged: handle.log.snapshot.sequence)
        }
    }

    /// Remembers that a transaction of a store was this context's own.
    final func recordSaved(_ sequence: UInt64, _ handle: StoreHandle) {
        guard children?.isEmpty == false else { return }
        knownSequences[ObjectIdentifier(handle), default: KnownSequences()].insert(sequence)
    }
}
