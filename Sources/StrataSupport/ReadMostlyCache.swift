internal import StrataRuntime
internal import Synchronization

/// A small cache of shared values that many threads look up and few add to. Thread-safe.
///
/// Looking up takes no lock and writes nothing that other threads read, but for the count of references of what it
/// finds. A key has four places, by its hash; a fifth key drives one of the others out, in turn.
package final class ReadMostlyCache<Key: Hashable & Sendable, Value: AnyObject & Sendable>: @unchecked Sendable {
    // Unchecked: the places are atomic, an entry is immutable, and readers look at entries under a `ReadGuard`.

    private final class Entry {
        let hash: Int
        let key: Key
        let value: Value

        init(_ hash: Int, _ key: Key, _ value: Value) {
            self.hash = hash
            self.key = key
            self.value = value
        }
    }

    private struct State {
        /// Out of the readers' sight since an epoch.
        var retired: [(epoch: UInt64, entry: UncheckedEntry)] = []
        /// Whose turn it is to be driven out.
        var turn = 0
    }

    /// Carries a reference that the cache has. Unchecked: an entry is immutable.
    private struct UncheckedEntry: @unchecked Sendable {
        let entry: Unmanaged<Entry>
    }

    private static var ways: Int { 4 }

    private let buckets: UnsafeMutablePointer<Atomic<UInt>>
    private let bucketCount: Int
    private let state = AdaptiveMutex<State>(State())

    /// - Parameter capacity: how many values at most, a power of two of at least four.
    package init(capacity: Int = 512) {
        precondition(capacity >= Self.ways && capacity & (capacity - 1) == 0)
        bucketCount = capacity / Self.ways
        buckets = .allocate(capacity: capacity)
        for index in 0..<capacity { (buckets + index).initialize(to: Atomic(0)) }
    }

    deinit {
        for index in 0..<bucketCount * Self.ways { Self.entry(buckets[index].load(ordering: .relaxed))?.release() }
        state.withLock { state in
            for (_, retired) in state.retired { retired.entry.release() }
        }
        buckets.deallocate()
    }

    private static func entry(_ bits: UInt) -> Unmanaged<Entry>? {
        UnsafeRawPointer(bitPattern: bits).map { .fromOpaque($0) }
    }

    private func bucket(_ hash: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
        buckets + (hash & (bucketCount - 1)) * Self.ways
    }

    /// The value that was added last for a key, if it is still there.
    ///
    /// - Complexity: O(1).
    package subscript(_ key: Key) -> Value? {
        let hash = key.hashValue
        let bucket = bucket(hash)
        let reader = ReadGuard.begin()
        defer { reader.end() }
        for way in 0..<Self.ways {
            guard let entry = Self.entry(bucket[way].load(ordering: .sequentiallyConsistent)) else { continue }
            let found = entry.withBorrowed { entry -> Unmanaged<Value>? in
                guard entry.hash == hash, entry.key == key else { return nil }
                let value = Unmanaged.passUnretained(entry.value)
                // Not the compiler's way of taking a reference, which it may move behind the end of the reader.
                ReferenceCounts.retain(value.toOpaque())
                return value
            }
            if let found { return found.takeRetainedValue() }
        }
        return nil
    }

    /// Adds a value, or exchanges the one for the key.
    ///
    /// - Complexity: O(threads that have ever read at a time).
    package func add(_ value: Value, for key: Key) {
        let hash = key.hashValue
        let bucket = bucket(hash)
        let new = UncheckedEntry(entry: .passRetained(Entry(hash, key, value)))
        let forgotten = state.withLock { state in
            let way = Self.way(bucket, hash, key, &state.turn)
            let bits = UInt(bitPattern: new.entry.toOpaque())
            if let old = Self.entry(bucket[way].exchange(bits, ordering: .sequentiallyConsistent)) {
                state.retired.append((ReadGuard.epoch, UncheckedEntry(entry: old)))
            }
            if state.retired.isEmpty { return [UncheckedEntry]() }
            let oldest = ReadGuard.nextEpoch()
            let forgotten = state.retired.prefix { $0.epoch < oldest }.map(\.entry)
            state.retired.removeFirst(forgotten.count)
            return forgotten
        }
        // Freeing may take a while, and nobody waits for it.
        for entry in forgotten { entry.entry.release() }
    }

    /// The place for a key: its own, an empty one, or the next in turn.
    private static func way(
        _ bucket: UnsafeMutablePointer<Atomic<UInt>>, _ hash: Int, _ key: Key, _ turn: inout Int
    ) -> Int {
        var empty: Int?
        for way in 0..<ways {
            guard let entry = entry(bucket[way].load(ordering: .relaxed)) else {
                empty = empty ?? way
                continue
            }
            if entry.withBorrowed({ $0.hash == hash && $0.key == key }) { return way }
        }
        if let empty { return empty }
        turn = (turn + 1) % ways
        return turn
    }
}
