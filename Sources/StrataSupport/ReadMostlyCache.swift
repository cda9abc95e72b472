public import StrataRuntime
public import Synchronization

/// A small cache of shared values that many threads look up and few add to. Thread-safe.
///
/// Looking up takes no lock and writes nothing that other threads read, but for the count of references of what it
/// finds. A key has four places, by its hash; a fifth key drives one of the others out, in turn.
///
/// What looks up is inlined: asked for by way of the generic code, a key costs five times as much to find. Only the
/// methods ask for keys that can be hashed: were it the class, Swift's runtime would search for that the first time a
/// cache is made, while a store is opened.
@usableFromInline
package final class ReadMostlyCache<Key: Sendable, Value: AnyObject & Sendable>: @unchecked Sendable {
    // Unchecked: the places are atomic, an entry is immutable, and readers look at entries under a `ReadGuard`.

    @usableFromInline
    final class Entry {
        @usableFromInline let hash: Int
        @usableFromInline let key: Key
        @usableFromInline let value: Value

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

    @inlinable static var ways: Int { 4 }

    @usableFromInline let buckets: UnsafeMutablePointer<Atomic<UInt>>
    @usableFromInline let bucketCount: Int
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

    @inlinable @inline(__always)
    static func entry(_ bits: UInt) -> Unmanaged<Entry>? {
        UnsafeRawPointer(bitPattern: bits).map { .fromOpaque($0) }
    }

    @inlinable @inline(__always)
    func bucket(_ hash: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
        buckets + (hash & (bucketCount - 1)) * Self.ways
    }
}

extension ReadMostlyCache where Key: Hashable {
    /// The value that was added last for a key, if it is still there.
    ///
    /// - Complexity: O(1).
    @inlinable
    package subscript(_ key: Key) -> Value? {
        let hash = key.hashValue
        let bucket = bucket(hash)
        let reader = ReadGuard.begin()
        let value = Self.reference(bucket, hash, key)
        reader.end()
        guard let value else { return nil }
        return Unmanaged<Value>.fromOpaque(value).takeRetainedValue()
    }

    /// The value for a key among the places of its hash, with a reference for the caller. To be called by a reader.
    @inlinable @inline(__always)
    static func reference(
        _ bucket: UnsafeMutablePointer<Atomic<UInt>>, _ hash: Int, _ key: Key
    ) -> UnsafeMutableRawPointer? {
        for way in 0..<ways {
            guard let entry = entry(bucket[way].load(ordering: .sequentiallyConsistent)),
                entry.withBorrowed({ $0.hash == hash && $0.key == key })
            else { continue }
            let value = entry.withBorrowed { Unmanaged.passUnretained($0.value).toOpaque() }
            // Not the compiler's way of taking a reference, which it may move behind the end of the reader.
            ReferenceCounts.retain(value)
            return value
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
