/// The results of a context's latest fetches, kept alive until the block that fetched them ends.
///
/// Core Data's results are autoreleased: whoever keeps weak or unowned references to them finds them alive until then.
/// Holding an array costs one reference, whatever its length. How many objects are held is limited, so that a block
/// that goes through a large store a part at a time needs no more memory for it.
struct DeferredRelease {
    /// More than programs keep weak references to in one block; as many faults take two megabytes.
    static let maximumCount = 16_384

    private var results: [[NSManagedObject]] = []
    private var first = 0
    private var count = 0

    var isEmpty: Bool { count == 0 }

    /// Holds an array, and lets go of the oldest ones if there are too many objects. One that is too large by itself is
    /// not held.
    ///
    /// - Complexity: O(1), amortised.
    mutating func hold(_ objects: [NSManagedObject]) {
        guard !objects.isEmpty, objects.count <= Self.maximumCount else { return }
        results.append(objects)
        count += objects.count
        // An object's deinitialiser may fetch: they go when all is in order.
        var old: [[NSManagedObject]] = []
        defer { withExtendedLifetime(old) {} }
        while count > Self.maximumCount {
            count -= results[first].count
            old.append(results[first])
            results[first] = []
            first += 1
        }
        if first > 64, first * 2 > results.count {
            results.removeFirst(first)
            first = 0
        }
    }

    /// Lets go of everything.
    mutating func release() {
        // An object's deinitialiser may fetch.
        let old = results
        (results, first, count) = ([], 0, 0)
        withExtendedLifetime(old) {}
    }
}
