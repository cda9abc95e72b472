import Dispatch
import StrataLog
import Synchronization

/// The IDs that inserted objects are going to have, or those of deleted ones, made on another core while the save goes
/// on.
///
/// Every save announces sets of IDs (`NSManagedObjectContextDidSaveObjectIDs`), and making one takes as long as a third
/// of writing the rows. The keys are reserved before the rows are written, so that nothing has to wait for it.
final class SavedIDs {
    /// Fewer IDs are made faster than another thread is woken.
    static let minimumCount = 512

    private let refs: ContiguousArray<ObjectRef>
    private let work: IDWork
    private let finished = DispatchSemaphore(value: 0)
    private var isStarted = false

    /// Nil when there are few objects.
    ///
    /// - Precondition: every object that is not permanent yet has its key reserved.
    init?(_ objects: ContiguousArray<NSManagedObject>, _ identity: StoreIdentity, keepsOrder: Bool) {
        guard objects.count >= Self.minimumCount else { return nil }
        var refs = ContiguousArray<ObjectRef>()
        var shapes = ContiguousArray<ShapeReference>()
        refs.reserveCapacity(objects.count)
        shapes.reserveCapacity(objects.count)
        objects.forEachUnretained { object in
            refs.append(object.futureRef)
            shapes.append(ShapeReference(shape: object.shape))
        }
        self.refs = refs
        work = IDWork(refs: refs, shapes: shapes, identity: identity, keepsOrder: keepsOrder)
    }

    /// Begins, unless that was done. The best time is when the other core has no rows to encode, which everybody waits
    /// for.
    func start() {
        if isStarted { return }
        isStarted = true
        HelperPool.shared.async { [work, finished] in
            guard work.take() else { return }
            work.run()
            finished.signal()
        }
    }

    /// The IDs of the objects as they have been saved; nil when these are not the objects that the IDs were made for,
    /// because a merge policy has changed what was saved.
    func set(of objects: ContiguousArray<NSManagedObject>) -> Set<NSManagedObjectID>? {
        // What no helper has begun with is done here: they may be busy with what others want.
        if work.take() { work.run() } else { finished.wait() }
        // For whoever asks next.
        finished.signal()
        guard objects.count == refs.count else { return nil }
        var index = 0
        var isSame = true
        objects.forEachUnretained { object in
            if object.ref != refs[index] { isSame = false }
            index += 1
        }
        return isSame ? work.result : nil
    }

    /// Gives the objects their IDs; false, and nothing, when these are not the objects that they were made for.
    ///
    /// - Precondition: the IDs keep the order.
    func give(to objects: ContiguousArray<NSManagedObject>) -> Bool {
        guard set(of: objects) != nil else { return false }
        var index = 0
        objects.forEachUnretained { object in
            if object.cachedID == nil { object.cachedID = work.ids[index] }
            index += 1
        }
        return true
    }
}

/// A shape that is referred to without counting.
private struct ShapeReference {
    // SAFETY: shapes are never freed.
    unowned(unsafe) let shape: EntityShape
}

/// Unchecked: the input is constant, and the result is written once, by whoever has taken the work, before the
/// semaphore is signalled that its reader waits for.
private final class IDWork: @unchecked Sendable {
    private let isTaken = Atomic<Bool>(false)
    private let refs: ContiguousArray<ObjectRef>
    private let shapes: ContiguousArray<ShapeReference>
    private let identity: StoreIdentity
    private let keepsOrder: Bool
    private(set) var result: Set<NSManagedObjectID> = []
    /// The same in the objects' order, if that is kept.
    private(set) var ids = ContiguousArray<NSManagedObjectID>()

    init(
        refs: ContiguousArray<ObjectRef>, shapes: ContiguousArray<ShapeReference>, identity: StoreIdentity,
        keepsOrder: Bool
    ) {
        self.keepsOrder = keepsOrder
        self.refs = refs
        self.shapes = shapes
        self.identity = identity
    }

    /// Whether the caller is the one to do it.
    func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }

    func run() {
        var set = Set<IDMember>(minimumCapacity: ObjectChanges.capacity(refs.count))
        if keepsOrder { ids.reserveCapacity(refs.count) }
        for index in refs.indices {
            let id = NSManagedObjectID(ref: refs[index], identity: identity, shape: shapes[index].shape)
            set.update(with: IDMember(id))
            if keepsOrder { ids.append(id) }
        }
        result = set.asIDs()
    }
}
