import CStrataSupport
import Foundation
import StrataLog
import StrataRuntime
import StrataSupport
import Synchronization

/// One object per row and context: the table that finds the object for a reference, without keeping it alive.
///
/// Objects hold their registry, not their context, so that they may outlive it. An object may be released on any
/// thread: its `deinit` takes the lock to remove itself before its memory is freed, and a look-up takes a reference
/// under the same lock or finds that the object is being destroyed.
final class ObjectRegistry: @unchecked Sendable {
    // Unchecked: the tables are guarded by the mutex; `context` and `handles` belong to the context's queue.

    struct Tables: ~Copyable {
        var temporary = RefTable()
        var first = RefTable()
        /// Of a child context: what its parent has not saved.
        var unsaved = RefTable()
        /// Of the stores after the first.
        var others: [Box] = []

        final class Box {
            var table = RefTable()
        }

        mutating func with<R>(_ storeIndex: UInt16, _ body: (inout RefTable) -> R) -> R {
            switch storeIndex {
            case 0: return body(&temporary)
            case 1: return body(&first)
            case unsavedIndex: return body(&unsaved)
            default:
                while others.count < Int(storeIndex) - 1 { others.append(Box()) }
                return body(&others[Int(storeIndex) - 2].table)
            }
        }
    }

    private let lock = Mutex<Void>(())
    /// Only touched in `locked`.
    @exclusivity(unchecked) private var tables = Tables()
    /// What a large save has inserted, while another core lets go of it. Its lock is taken after the other one.
    let leaving = LeavingObjects()
    /// What lets go of the objects of large saves at this moment. Only touched in `locked`.
    @exclusivity(unchecked) var disposals: [SaveDisposal] = []
    /// Whether the objects that a save has inserted have been put aside already, and ``setAside(_:)`` is still to
    /// follow. Only touched on the context's queue.
    @exclusivity(unchecked) var isPuttingAside = false

    func locked<R>(_ body: (inout Tables) -> R) -> R {
        lock.locked { body(&tables) }
    }

    /// The store index of objects in a child context that exist in its parent and have not been saved there.
    static let unsavedIndex = UInt16.max

    /// Memory for the objects' overlays. Only touched on the context's queue.
    @exclusivity(unchecked) var overlays = OverlayArena()

    /// What temporary IDs have become, in a child context.
    var permanentIDs: PermanentIDs?

    /// Nil once the context has gone.
    var context: NSManagedObjectContext? {
        get { contextReference?.takeUnretainedValue() }
        set { contextReference = newValue.map { .passUnretained($0) } }
    }
    /// The context, for what every fault asks it: references to one are slow to count, as weak ones lead to it.
    @exclusivity(unchecked) private(set) var contextReference: Unmanaged<NSManagedObjectContext>?
    /// The stores that objects live in, by store index less one. Only grows, so that an index stays valid.
    @exclusivity(unchecked) private(set) var handles: [StoreHandle] = [] {
        didSet { firstHandle = handles.first.map { .passUnretained($0) } }
    }
    @exclusivity(unchecked) private var firstHandle: Unmanaged<StoreHandle>?

    /// What objects are marked with when they are taken in.
    var registrationFlags: ObjectFlags = .registered
    /// Tells whether reads are being tracked; made when that is first asked.
    lazy var probe = ObservationProbe()

    func handle(_ storeIndex: UInt16) -> StoreHandle? {
        storeIndex == 0 || storeIndex == Self.unsavedIndex ? nil : handles[Int(storeIndex) - 1]
    }

    /// As ``handle(_:)`` without counting a reference: the registry keeps it until it is exchanged, on the context's
    /// queue.
    @inline(__always)
    func handleReference(_ storeIndex: UInt16) -> Unmanaged<StoreHandle>? {
        storeIndex == 1 ? firstHandle : handle(storeIndex).map { .passUnretained($0) }
    }

    func storeIndex(of handle: StoreHandle) -> UInt16 {
        if let index = handles.firstIndex(where: { $0 === handle }) { return UInt16(index + 1) }
        handles.append(handle)
        return UInt16(handles.count)
    }

    /// Takes over the stores of another registry, for objects that belong to no context any more.
    func adopt(_ handles: [StoreHandle]) { self.handles = handles }

    /// Puts a store in the place of one whose objects it has taken over.
    func exchange(_ old: StoreHandle, for new: StoreHandle) -> UInt16? {
        guard let index = handles.firstIndex(where: { $0 === old }) else { return nil }
        handles[index] = new
        return UInt16(index + 1)
    }

    /// The registered object, nil if there is none.
    func object(_ ref: ObjectRef, _ storeIndex: UInt16) -> NSManagedObject? {
        locked { tables in
            Self.retain(tables.with(storeIndex) { $0.object(ref) } ?? leavingObject(ref, storeIndex))
        }
    }

    /// Asks the processor for the registered objects of some references, which wait for memory together.
    func prefetch(_ numbers: Range<Int>, _ storeIndex: UInt16, _ ref: (Int) -> ObjectRef) {
        locked { tables in
            tables.with(storeIndex) { table in
                for number in numbers { table.prefetch(ref(number)) }
                for number in numbers {
                    guard let object = table.object(ref(number)) else { continue }
                    // An object takes about three lines.
                    strata_prefetch(object)
                    strata_prefetch(object + 64)
                    strata_prefetch(object + 128)
                }
            }
        }
    }

    private static func retain(_ pointer: UnsafeMutableRawPointer?) -> NSManagedObject? {
        guard let pointer else { return nil }
        return ReferenceCounts.retainUnlessDying(pointer, as: NSManagedObject.self)?.takeRetainedValue()
    }

    func add(_ object: NSManagedObject) {
        let pointer = Unmanaged.passUnretained(object).toOpaque()
        let (ref, storeIndex) = (object.ref, object.storeIndex)
        object.registry = self
        object.flags.formUnion(registrationFlags)
        locked { tables in
            tables.with(storeIndex) { $0.set(ref, pointer) }
        }
    }

    /// Takes an object out that dies. Called from deinit, on any thread.
    ///
    /// - Returns: whether the object gives up a reference to the registry, at the end of its deinit.
    func removeDying(_ object: NSManagedObject) -> Bool {
        let pointer = Unmanaged.passUnretained(object).toOpaque()
        let (ref, storeIndex) = (object.ref, object.storeIndex)
        if storeIndex == 1 {
            switch leaving.remove(ref, pointer) {
            case .removed: return false
            case .last: return true
            case .missing: break
            }
        }
        locked { tables in
            tables.with(storeIndex) { $0.remove(ref, pointer) }
        }
        if object.flags.contains(.fromCustomStore) { CustomStore.didUnregister(object) }
        return true
    }

    /// A new fault for a reference that is not in the table. Nil if the store has no such entity.
    func newFault(_ ref: ObjectRef, _ storeIndex: UInt16) -> NSManagedObject? {
        guard storeIndex != 0, storeIndex != Self.unsavedIndex, let handle = handleReference(storeIndex) else {
            return nil
        }
        // SAFETY: the registry keeps its handles. All threads would count references to the same one.
        return handle.withBorrowed { handle in
            guard let object = makeFault(ref, storeIndex, handle: handle) else { return nil }
            let pointer = Unmanaged.passUnretained(object).toOpaque()
            locked { tables in
                tables.with(storeIndex) { $0.set(ref, pointer) }
            }
            if let custom = handle.custom { custom.didRegister([object]) }
            return object
        }
    }

    /// Moves objects that have been saved from the temporary table to their store's.
    /// Their new keys are those reserved for them. Objects that are permanent already are passed over.
    func becamePermanent(_ objects: ContiguousArray<NSManagedObject>, _ storeIndex: UInt16) {
        locked { tables in
            var change = PermanenceChange(objects.count)
            tables.with(storeIndex) { table in
                table.reserve(objects.count)
                objects.forEachUnretained { object in
                    guard change.apply(to: object, storeIndex) else { return }
                    table.prefetchNext(object.ref)
                    table.set(object.ref, Unmanaged.passUnretained(object).toOpaque())
                }
            }
            forgetTemporary(objects, change, &tables)
        }
        if let custom = handle(storeIndex)?.custom { custom.didRegister(Array(objects)) }
    }

    /// What becomes of objects whose references become permanent.
    struct PermanenceChange {
        /// Whether all of them were temporary, and registered.
        private(set) var isWhole = true
        fileprivate private(set) var oldRefs = ContiguousArray<ObjectRef>()

        init(_ count: Int) { oldRefs.reserveCapacity(count) }

        /// Gives an object the reference that was reserved for it; false for one that has a permanent one.
        @inline(__always)
        mutating func apply(to object: NSManagedObject, _ storeIndex: UInt16) -> Bool {
            oldRefs.append(object.ref)
            if object.storeIndex != 0 {
                isWhole = false
                return false
            }
            if !object.flags.contains(.registered) { isWhole = false }
            object.ref = object.reservedRef
            object.standing = .none
            object.storeIndex = storeIndex
            object.cachedID = nil
            return true
        }
    }

    /// Takes objects that have become permanent out of the temporary table.
    func forgetTemporary(
        _ objects: ContiguousArray<NSManagedObject>, _ change: PermanenceChange, _ tables: inout Tables
    ) {
        // Mostly all that was temporary has been saved: then nothing need be searched for.
        if change.isWhole, tables.temporary.count == objects.count, objects.count > tables.temporary.capacity / 8 {
            return tables.temporary.removeAll()
        }
        var next = 0
        objects.forEachUnretained { object in
            tables.temporary.remove(change.oldRefs[next], Unmanaged.passUnretained(object).toOpaque())
            next += 1
        }
    }

    /// A fault for a row; not yet in the table.
    private func makeFault(_ ref: ObjectRef, _ storeIndex: UInt16, handle: StoreHandle) -> NSManagedObject? {
        guard let shape = handle.map.shape(ref.entity) else { return nil }
        let object = shape.objectClass.made(shape.entity, insertInto: nil)
        object.ref = ref
        object.storeIndex = storeIndex
        object.registry = self
        object.flags.formUnion(registrationFlags)
        return object
    }

    /// Takes an object out; it no longer belongs to the context.
    func forget(_ object: NSManagedObject) {
        guard object.flags.contains(.registered) else { return }
        locked { takeOut(object, &$0) }
        if object.flags.contains(.fromCustomStore) { CustomStore.didUnregister(object) }
        object.flags.remove(.registered)
    }

    /// As ``forget(_:)`` for many.
    func forget(_ objects: ContiguousArray<NSManagedObject>) {
        // Custom stores are told of each.
        if handles.contains(where: { $0.custom != nil }) { return objects.forEachUnretained { forget($0) } }
        for first in stride(from: 0, to: objects.count, by: Self.forgottenAtOnce) {
            locked { tables in
                for object in objects[first..<min(objects.count, first + Self.forgottenAtOnce)] {
                    guard object.flags.contains(.registered) else { continue }
                    takeOut(object, &tables)
                    object.flags.remove(.registered)
                }
            }
        }
    }

    /// How many objects are forgotten while others wait for the lock.
    private static let forgottenAtOnce = 256

    /// Enters an object under another name.
    func move(_ object: NSManagedObject, to ref: ObjectRef, _ storeIndex: UInt16) {
        let pointer = Unmanaged.passUnretained(object).toOpaque()
        locked { tables in
            takeOut(object, &tables)
            if object.storeIndex == 0 { object.standing = .none }
            object.ref = ref
            object.storeIndex = storeIndex
            object.cachedID = nil
            tables.with(storeIndex) { $0.set(ref, pointer) }
        }
    }

    /// The objects that the parent has not saved, of a child context.
    var unsavedObjects: [NSManagedObject] {
        locked { tables in
            var objects: [NSManagedObject] = []
            tables.unsaved.forEach { if let object = Self.retain($0) { objects.append(object) } }
            return objects
        }
    }

    /// Every object that is alive.
    var all: [NSManagedObject] {
        locked { tables in
            var objects: [NSManagedObject] = []
            let collect = { (pointer: UnsafeMutableRawPointer) in
                if let object = Self.retain(pointer) { objects.append(object) }
            }
            tables.temporary.forEach(collect)
            tables.first.forEach(collect)
            tables.unsaved.forEach(collect)
            for box in tables.others { box.table.forEach(collect) }
            if !leaving.isEmpty { leaving.forEach(collect) }
            return objects
        }
    }
}
