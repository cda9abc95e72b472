import CStrataSupport
import StrataSupport

/// A set of managed objects by identity, which it retains.
///
/// Open addressing over the objects' addresses: a `Set` spends several hundred instructions on the hash and on
/// `isEqual` of every object, which is more than all else that a change of a relationship does.
struct IdentitySet: ~Copyable {
    private var entries: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    private var capacity = 0
    private(set) var count = 0

    init() {}

    deinit {
        Self.free(entries, capacity)
    }

    var isEmpty: Bool { count == 0 }

    /// The members, in no order.
    var objects: [NSManagedObject] {
        guard let entries else { return [] }
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(count)
        for index in 0..<capacity {
            if let pointer = entries[index] {
                objects.append(Unmanaged<NSManagedObject>.fromOpaque(pointer).takeUnretainedValue())
            }
        }
        return objects
    }

    func contains(_ object: NSManagedObject) -> Bool {
        guard let entries, count > 0 else { return false }
        return entries[find(Self.pointer(object), entries)] != nil
    }

    /// Returns whether the object was not a member.
    @discardableResult
    mutating func insert(_ object: NSManagedObject) -> Bool {
        let pointer = Self.pointer(object)
        if (count + 1) * 3 > capacity * 2 { grow() }
        guard let entries else { return false }
        let index = find(pointer, entries)
        if entries[index] != nil { return false }
        entries[index] = Unmanaged.passRetained(object).toOpaque()
        count += 1
        return true
    }

    /// Returns whether the object was a member.
    @discardableResult
    mutating func remove(_ object: NSManagedObject) -> Bool {
        guard let entries, count > 0 else { return false }
        let found = find(Self.pointer(object), entries)
        guard entries[found] != nil else { return false }
        count -= 1
        let probing = probing
        let hole = probing.close(found) { index in
            entries[index].map { probing.home(Self.hash($0)) }
        } move: { source, target in
            entries[target] = entries[source]
        }
        entries[hole] = nil
        // The caller has a reference of its own.
        Unmanaged.passUnretained(object).release()
        return true
    }

    mutating func removeAll() {
        let (old, oldCapacity) = (entries, capacity)
        (entries, capacity, count) = (nil, 0, 0)
        // Last, since the objects' deinits may do anything.
        Self.free(old, oldCapacity)
    }

    private static func pointer(_ object: NSManagedObject) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(object).toOpaque()
    }

    private static func free(_ entries: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ capacity: Int) {
        guard let entries else { return }
        for index in 0..<capacity {
            if let pointer = entries[index] { Unmanaged<NSManagedObject>.fromOpaque(pointer).release() }
        }
        strata_heap_free(entries)
    }

    private var probing: Probing { Probing(capacity: capacity) }

    private static func hash(_ pointer: UnsafeMutableRawPointer) -> UInt64 {
        Hashing.spread(UInt64(UInt(bitPattern: pointer))) &>> 32
    }

    /// Where the object is, or the free entry where it would go.
    private func find(
        _ pointer: UnsafeMutableRawPointer, _ entries: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Int {
        probing.first(from: probing.home(Self.hash(pointer))) { entries[$0] == nil || entries[$0] == pointer }
    }

    private mutating func grow() {
        let (old, oldCapacity) = (entries, capacity)
        capacity = max(8, oldCapacity * 2)
        guard let memory = strata_heap_allocate(capacity * MemoryLayout<UnsafeMutableRawPointer?>.stride) else {
            fatalError("there is no memory for a set of \(capacity) objects")
        }
        let new = memory.bindMemory(to: UnsafeMutableRawPointer?.self, capacity: capacity)
        new.initialize(repeating: nil, count: capacity)
        entries = new
        guard let old else { return }
        for index in 0..<oldCapacity {
            if let pointer = old[index] { new[find(pointer, new)] = pointer }
        }
        strata_heap_free(old)
    }
}
