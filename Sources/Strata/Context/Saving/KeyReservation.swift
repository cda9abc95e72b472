import StrataLog

/// Which store each new object is saved to, and under which key.
///
/// A key once reserved stays with its object through failed saves.
struct KeyReservation {
    private let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator
    private let registry: ObjectRegistry
    /// For each shape, the store index its inserted objects go to; 0 when not looked up yet.
    private var stores: [UInt16]

    init(_ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) {
        self.context = context
        self.coordinator = coordinator
        registry = context.registry
        stores = [UInt16](repeating: 0, count: coordinator.shapes.shapes.count)
    }

    /// The store that an inserted object is saved to.
    ///
    /// - Throws: `CocoaError` when no open store that can be written holds objects of the entity.
    mutating func storeIndex(for object: NSManagedObject) throws -> UInt16 {
        if object.storeIndex != 0 { return object.storeIndex }
        let assignments = context.pipeline.assignments
        if !assignments.isEmpty, let store = assignments[ObjectIdentifier(object)] {
            return registry.storeIndex(of: try coordinator.handle(ofOwn: store))
        }
        let known = stores[object.shape.index]
        if known != 0 { return known }
        guard let handle = coordinator.handle(holding: object.shape) else {
            if let readOnly = coordinator.readOnlyHandle(holding: object.shape) {
                throw StoreFailure.readOnly(readOnly)
            }
            throw SaveFailure.noStore(for: object)
        }
        let index = registry.storeIndex(of: handle)
        stores[object.shape.index] = index
        return index
    }

    /// Reserves permanent keys, in runs, for those of the objects that have none.
    mutating func reserve(for objects: ContiguousArray<NSManagedObject>) throws {
        if coordinator.hasCustomStores { try obtainReferences(objects) }
        var spaces: [KeySpace] = []
        // Objects mostly come in runs of one entity, which are looked up once, unless some are assigned to stores.
        let hasRuns = context.pipeline.assignments.isEmpty
        var run = KeyRun()
        try objects.forEachUnretained { object in
            guard needsKey(object) else { return }
            if !hasRuns || run.shapeID != object.shapeID {
                run.end(counting: &spaces)
                run = try keyRun(of: object, &spaces)
            }
            run.count += 1
        }
        run.end(counting: &spaces)
        for index in spaces.indices {
            let handle = registry.handles[Int(spaces[index].store) - 1]
            spaces[index].next = try handle.allocateKeys(
                root: handle.map.root(at: spaces[index].root), count: spaces[index].count)
        }
        run = KeyRun()
        try objects.forEachUnretained { object in
            guard needsKey(object) else { return }
            if !hasRuns || run.shapeID != object.shapeID {
                run.end(naming: &spaces)
                run = try keyRun(of: object, &spaces)
            }
            object.reservedRef = ObjectRef(entity: run.entity, key: run.next)
            run.next += 1
        }
        run.end(naming: &spaces)
    }

    private func needsKey(_ object: NSManagedObject) -> Bool {
        object.storeIndex == 0 && object.reservedRef.isNull
    }

    /// The space that the keys of an object's entity come from, added if need be. There are few, by store and root
    /// entity, so that searching a list is quick.
    private mutating func keyRun(of object: NSManagedObject, _ spaces: inout [KeySpace]) throws -> KeyRun {
        let store = try storeIndex(for: object)
        let root = object.shape.rootIndex
        let index = spaces.firstIndex { $0.root == root && $0.store == store } ?? spaces.count
        if index == spaces.count {
            spaces.append(KeySpace(store: store, root: root, map: registry.handles[Int(store) - 1].map))
        }
        return KeyRun(
            shapeID: object.shapeID, space: index, entity: spaces[index].map.numbers[object.shape.index],
            next: spaces[index].next)
    }

    /// Where objects of one shape get their keys.
    private struct KeyRun {
        /// No shape has the ID 0.
        var shapeID: UInt32 = 0
        var space = 0
        var entity: UInt16 = 0
        /// How many there are, while they are counted.
        var count = 0
        /// The key of the next one, while they are given.
        var next: UInt64 = 0

        func end(counting spaces: inout [KeySpace]) {
            if shapeID != 0 { spaces[space].count += count }
        }

        func end(naming spaces: inout [KeySpace]) {
            if shapeID != 0 { spaces[space].next = next }
        }
    }

    private struct KeySpace {
        var store: UInt16
        var root: Int
        var map: StoreMap
        var count = 0
        var next: UInt64 = 0
    }

    /// Has custom stores name the objects that go to them.
    private mutating func obtainReferences(_ objects: ContiguousArray<NSManagedObject>) throws {
        var byStore: [UInt16: [NSManagedObject]] = [:]
        for object in objects where needsKey(object) {
            let store = try storeIndex(for: object)
            if registry.handles[Int(store) - 1].custom != nil { byStore[store, default: []].append(object) }
        }
        for (store, named) in byStore {
            guard let custom = registry.handles[Int(store) - 1].custom else { continue }
            for (object, ref) in zip(named, try custom.references(for: named)) { object.reservedRef = ref }
        }
    }
}

extension NSManagedObjectContext {
    /// Gives inserted objects their permanent IDs before they are saved.
    ///
    /// - Throws: `CocoaError` when an object has no store to be saved to.
    final func reservePermanentIDs(for objects: [NSManagedObject]) throws {
        guard let coordinator else { throw SaveFailure.noStore(for: objects.first) }
        try obtainPermanentIDsFromParent(for: objects)
        let temporary = objects.filter { $0.registry === registry && $0.storeIndex == 0 }
        var keys = KeyReservation(self, coordinator)
        try keys.reserve(for: ContiguousArray(temporary))
        var byStore: [UInt16: ContiguousArray<NSManagedObject>] = [:]
        for object in temporary { byStore[try keys.storeIndex(for: object), default: []].append(object) }
        for (storeIndex, moved) in byStore {
            if let handle = registry.handle(storeIndex) { sharePermanentIDs(moved, handle) }
            registry.becamePermanent(moved, storeIndex)
        }
    }
}
