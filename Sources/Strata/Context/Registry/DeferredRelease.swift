/// The results of a context's latest fetches, kept alive until the block that fetched them ends.
///
/// Core Data's results are autoreleased: whoever keeps weak or unowned references to them finds them alive until then.
/// Holding an array costs one reference, whatever its length. How many objects are held is limited, so that a block
/// that goes through a large store a part at a time needs no more memory for it.
struct DeferredRelease {
    /// More than programs keep weak references to in one block; as many faults take two megabytes.
    static let maximumCount = 16_384

    /// The newest results by themselves: most blocks fetch once.
    private var newest: [NSManagedObject] = []
    private var older: [[NSManagedObject]] = []
    private var first = 0
    private var count = 0

    var isEmpty: Bool { count == 0 }

    /// Holds an array, and lets go of the oldest ones if there are too many objects. One that is too large by itself is
    /// not held.
    ///
    /// - Complexity: O(1), amortised.
    mutating func hold(_ objects: [NSManagedObject]) {
        guard !objects.isEmpty, objects.count <= Self.maximumCount else { return }
        if !newest.isEmpty { older.append(newest) }
        newest = objects
        count += objects.count
        if count <= Self.maximumCount { return }
        // An object's deinitialiser may fetch: they go when all is in order.
        var old: [[NSManagedObject]] = []
        defer { withExtendedLifetime(old) {} }
        // The newest alone are not too many.
        while count > Self.maximumCount {
            count -= older[first].count
            old.append(older[first])
            older[first] = []
            first += 1
        }
        if first > 64, first * 2 > older.count {
            older.removeFirst(first)
            first = 0
        }
    }

    /// Lets go of everything.
    mutating func release() {
        if count == 0 { return }
        // An object's deinitialiser may fetch.
        let old = (newest, older)
        (newest, older, first, count) = ([], [], 0, 0)
        withExtendedLifetime(old) {}
    }
}
