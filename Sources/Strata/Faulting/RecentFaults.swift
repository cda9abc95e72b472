import StrataLog
import StrataRuntime

/// The faults that a context last made by ID, as neighbours: who makes many faults mostly goes on to read them in the
/// same order. When the fault of one fires, the rows of the next are looked up as far as their blocks are cached, and
/// brought into the processor's caches.
///
/// Only locations are remembered; an object takes its row when its own fault fires. What was looked up counts only
/// while nothing has been saved since: a fault shows the newest row.
final class RecentFaults {
    private struct Entry {
        var location = Location.absent
        /// With a reference, nil when the block is not in the cache.
        var block: Unmanaged<Block>?
    }

    /// How many faults are remembered.
    private static let capacity = 1_024
    /// How many rows are known ahead at most; grows up to it while faults fire in the order in which they were made.
    private static let maximumAhead = 28
    private static let entryCount = 64
    /// With fewer rows than this known ahead, the next are looked up.
    private static let lead = 4
    /// After more faults than this that did not fire, their order is not that in which they were made.
    private static let gapMaximum = 8

    /// The references of the faults, by their number modulo the capacity. Made with the first fault, as most contexts
    /// of a service make none by ID.
    @exclusivity(unchecked) private var refs: UnsafeMutablePointer<ObjectRef>!
    /// Those of the faults from ``next`` up to, not including, ``located``, by their number modulo the count. Made with
    /// ``refs``.
    @exclusivity(unchecked) private var entries: UnsafeMutablePointer<Entry>!
    @exclusivity(unchecked) private var storeIndex: UInt16 = 0
    /// How many faults were made, the number of the one that is expected to fire, and of the first whose row is not
    /// located.
    @exclusivity(unchecked) private var made = 0
    @exclusivity(unchecked) private var next = 0
    @exclusivity(unchecked) private var located = 0
    @exclusivity(unchecked) private var ahead = 1
    @exclusivity(unchecked) private var publication: UInt64 = 0
    @exclusivity(unchecked) private var pipeline = RowPipeline()
    /// Whether the rows that were looked up last lie in many blocks.
    @exclusivity(unchecked) private var isScattered = false

    init() {}

    deinit {
        forgetLocations()
        entries?.deallocate()
        refs?.deallocate()
    }

    @inline(never)
    private func allocate() {
        refs = .allocate(capacity: Self.capacity)
        entries = .allocate(capacity: Self.entryCount)
        entries.initialize(repeating: Entry(), count: Self.entryCount)
    }

    /// A fault was made. Returns its number, of which the object keeps the lowest bits.
    @inline(__always)
    func add(_ ref: ObjectRef, _ storeIndex: UInt16) -> UInt32 {
        if storeIndex != self.storeIndex {
            // One store is the common case.
            forgetLocations()
            (next, located) = (made, made)
            self.storeIndex = storeIndex
        }
        if made == 0 { allocate() }
        refs[made & (Self.capacity - 1)] = ref
        made += 1
        return UInt32(truncatingIfNeeded: made - 1)
    }

    /// Lets go of what was looked up.
    func forgetLocations() {
        while next < located { drop() }
    }

    /// The row of an object whose fault fires, with a reference to its block for the caller: if it is one of these,
    /// fires in the order in which they were made, others were made after it, and its block is cached.
    ///
    /// - Parameters:
    ///   - number: what ``add(_:_:)`` has returned for it, or anything for an object that is none of these.
    ///   - wanted: the slots that are going to be read, as bits.
    ///   - toOne: those of them that refer to other objects.
    func take(
        _ ref: ObjectRef, _ number: UInt32, _ storeIndex: UInt16, _ handle: StoreHandle, _ wanted: UInt64,
        _ toOne: UInt64, _ registry: ObjectRegistry
    ) -> (block: Unmanaged<Block>, location: Location)? {
        let age = Int(UInt32(truncatingIfNeeded: made) &- number)
        guard age > 0, age <= Self.capacity, storeIndex == self.storeIndex else { return nil }
        let index = made - age
        guard refs[index & (Self.capacity - 1)] == ref else { return nil }
        if index < next || index - next > Self.gapMaximum {
            // It may begin a new order, which the next fault shows.
            forgetLocations()
            (next, located, ahead) = (index + 1, index + 1, 1)
            return nil
        }
        let newest = handle.log.publicationCount
        if newest != publication {
            forgetLocations()
            (next, located, publication, ahead) = (index, index, newest, 1)
        }
        while next < min(index, located) { drop() }
        next = index + 1
        if located <= index {
            located = index
            // There are no neighbours.
            if next == made {
                located = next
                return nil
            }
        }
        // Some at a time: they wait for memory together, and asking for the newest snapshot takes a lock.
        if located <= next + min(ahead / 2, Self.lead) {
            locate(upTo: min(next + ahead, made), handle)
            ahead = min(ahead * 2, Self.maximumAhead)
        }
        let entry = entries[index & (Self.entryCount - 1)]
        entries[index & (Self.entryCount - 1)].block = nil
        let asked = pipeline.advance(to: index, limit: located, isScattered ? wanted : 0) { number in
            let entry = number == index ? entry : entries[number & (Self.entryCount - 1)]
            return entry.block.map { ($0, entry.location.row) }
        }
        if toOne != 0, !asked.isEmpty { prefetchTargets(asked, toOne, registry) }
        return entry.block.map { ($0, entry.location) }
    }

    /// Brings the objects that the rows of some faults refer to into the caches, as far as there are any.
    private func prefetchTargets(_ numbers: Range<Int>, _ slots: UInt64, _ registry: ObjectRegistry) {
        var rest = slots
        while rest != 0 {
            let slot = rest.trailingZeroBitCount
            rest &= rest - 1
            registry.prefetch(numbers, storeIndex) { number in
                let entry = entries[number & (Self.entryCount - 1)]
                return entry.block?.withBorrowed { $0.knownReference(entry.location.row, slot) } ?? .null
            }
        }
    }

    /// Looks up the rows of the faults from ``located`` up to, not including, `end`. One that is not there, or cannot
    /// be read, is left to its own fault.
    private func locate(upTo end: Int, _ handle: StoreHandle) {
        guard located < end else { return }
        let (log, first) = (handle.log, located)
        // Every step waits for memory, and most of what counts references waits for everything before it. So each is
        // taken for all before the next one follows.
        var last = Location.absent
        log.snapshot.locate(first..<end) {
            refs[$0 & (Self.capacity - 1)]
        } _: { number, location in
            entries[number & (Self.entryCount - 1)] = Entry(location: location)
            if location.isAbsent || location.block == last { return }
            last = location.block
            log.prefetchLocation(at: location)
        }
        last = .absent
        var blocks = 0
        for number in first..<end {
            let location = entries[number & (Self.entryCount - 1)].location
            if location.isAbsent || location.block == last { continue }
            last = location.block
            blocks += 1
            log.prefetchBlock(at: location)
        }
        // Rows of one block that follow each other need no help.
        isScattered = blocks * 4 > end - first
        var block: Block?
        for number in first..<end {
            let entry: UnsafeMutablePointer<Entry> = entries + (number & (Self.entryCount - 1))
            let location = entry.pointee.location
            if location.isAbsent { continue }
            if block?.location != location.block {
                block = log.cachedBlock(at: location)
                if let found = block, (try? found.verify()) == nil { block = nil }
            }
            entry.pointee.block = block.map { .passRetained($0) }
        }
        located = end
    }

    /// Passes over the next fault.
    private func drop() {
        entries[next & (Self.entryCount - 1)].block?.release()
        entries[next & (Self.entryCount - 1)].block = nil
        next += 1
    }
}
