import StrataLog
import StrataRuntime
import StrataSupport

/// The IDs that a context's fetches have handed out lately. An ID is a value, so the same one can be handed out again,
/// which costs a tenth of making it.
///
/// Each reference has one place, which the last ID takes. The table grows up to a limit with what is in it.
struct IDCache: ~Copyable {
    /// More IDs than this at a time are not kept: they would only drive each other out.
    static let resultsMaximum = 1_024
    private static let capacityMaximum = 16_384

    private var entries: UnsafeMutablePointer<Unmanaged<NSManagedObjectID>?>?
    private var capacity = 0
    private var count = 0

    init() {}

    deinit {
        Self.release(entries, capacity)
    }

    private static func release(_ entries: UnsafeMutablePointer<Unmanaged<NSManagedObjectID>?>?, _ capacity: Int) {
        guard let entries else { return }
        for index in 0..<capacity { entries[index]?.release() }
        entries.deallocate()
    }

    mutating func removeAll() {
        Self.release(entries, capacity)
        (entries, capacity, count) = (nil, 0, 0)
    }

    /// The IDs of objects of one store; nil if one is of an entity that the store does not have.
    mutating func ids(_ refs: [ObjectRef], _ handle: StoreHandle) -> [NSManagedObjectID]? {
        if refs.isEmpty { return [] }
        if (count + refs.count) * 2 > capacity, capacity < Self.capacityMaximum { grow(count + refs.count) }
        guard let entries else { return nil }
        let capacity = capacity
        let identity = Unmanaged.passUnretained(handle.identity)
        var number: UInt16 = 0
        var shape: Unmanaged<EntityShape>?
        var isWhole = true
        var added = 0
        let result = [NSManagedObjectID](unsafeUninitializedCapacity: refs.count) { buffer, written in
            guard let base = buffer.baseAddress else { return }
            let results = ReferenceLayout.elements(base, capacity: refs.count)
            for ref in refs {
                if ref.entity != number || shape == nil {
                    (number, shape) = (ref.entity, handle.map.shape(ref.entity).map { .passUnretained($0) })
                }
                guard let shape else {
                    isWhole = false
                    return
                }
                let bucket = entries + Self.home(ref, capacity)
                if let known = bucket.pointee, known.withBorrowed({ $0.isFor(ref, identity, shape) }) {
                    (results + written).initialize(to: known.retain())
                } else {
                    let new = Unmanaged.passRetained(
                        NSManagedObjectID(
                            ref: ref, identity: identity.takeUnretainedValue(), shape: shape.takeUnretainedValue()))
                    if let old = bucket.pointee { old.release() } else { added += 1 }
                    bucket.pointee = new.retain()
                    (results + written).initialize(to: new)
                }
                written += 1
            }
        }
        count += added
        return isWhole ? result : nil
    }

    @inline(__always)
    private static func home(_ ref: ObjectRef, _ capacity: Int) -> Int {
        Probing(capacity: capacity).home(Hashing.spread(ref.rawValue) &>> 40)
    }

    private mutating func grow(_ needed: Int) {
        var new = max(capacity, 256)
        while new < needed * 2, new < Self.capacityMaximum { new *= 2 }
        let grown = UnsafeMutablePointer<Unmanaged<NSManagedObjectID>?>.allocate(capacity: new)
        grown.initialize(repeating: nil, count: new)
        count = 0
        for index in 0..<capacity {
            guard let id = entries?[index] else { continue }
            let bucket = grown + Self.home(id.withBorrowed { $0.ref }, new)
            if let other = bucket.pointee { other.release() } else { count += 1 }
            bucket.pointee = id
        }
        entries?.deallocate()
        (entries, capacity) = (grown, new)
    }
}
