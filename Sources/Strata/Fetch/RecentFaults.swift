import StrataLog

/// The faults that a context last made by ID, as neighbours: who makes many faults mostly goes on to read them in the
/// same order. When the fault of one fires, the rows of the next are looked up as far as their blocks are cached, and
/// brought into the processor's caches.
///
/// Only places are kept; an object takes its row when its own fault fires. What was looked up counts only while nothing
/// has been saved since: a fault shows the newest row.
final class RecentFaults {
    private struct Place {
        var location = Location.absent
        /// With a reference, nil when the block is not in the cache.
        var block: Unmanaged<Block>?
    }

    /// How many faults are remembered.
    private static let capacity = 1_024
    /// How many rows are known ahead at most; grows up to it while faults fire in the order in which they were made.
    private static let maximumAhead = 12
    private static let placeCount = 16
    /// How many faults that never fired are passed over in search of the one that does.
    private static let lookAhead = 8

    /// The references of the faults, by their number modulo the capacity.
    private let refs: UnsafeMutablePointer<ObjectRef>
    /// Those of the faults from ``next`` up to, not including, ``located``, by their number modulo the count.
    private let places: UnsafeMutablePointer<Place>
    @exclusivity(unchecked) private var storeIndex: UInt16 = 0
    /// How many faults were made, the number of the one that is expected to fire, and of the first whose place is not
    /// known.
    @exclusivity(unchecked) private var made = 0
    @exclusivity(unchecked) private var next = 0
    @exclusivity(unchecked) private var located = 0
    @exclusivity(unchecked) private var ahead = 1
    @exclusivity(unchecked) private var publication: UInt64 = 0
    @exclusivity(unchecked) private var pipeline = RowPipeline()

    init() {
        refs = .allocate(capacity: Self.capacity)
        places = .allocate(capacity: Self.placeCount)
        places.initialize(repeating: Place(), count: Self.placeCount)
    }

    deinit {
        forgetPlaces()
        places.deallocate()
        refs.deallocate()
    }

    /// A fault was made.
    @inline(__always)
    func add(_ ref: ObjectRef, _ storeIndex: UInt16) {
        if storeIndex != self.storeIndex {
            // One store is the common case.
            forgetPlaces()
            (next, located) = (made, made)
            self.storeIndex = storeIndex
        }
        refs[made & (Self.capacity - 1)] = ref
        made += 1
    }

    /// Lets go of what was looked up.
    func forgetPlaces() {
        while next < located { drop() }
    }

    /// The row of an object whose fault fires, with a reference to its block for the caller: if it is one of these,
    /// others were made after it, and its block is cached.
    ///
    /// - Parameter wanted: the slots that are going to be read, as bits.
    func take(
        _ ref: ObjectRef, _ storeIndex: UInt16, _ handle: StoreHandle, _ wanted: UInt64
    ) -> (block: Unmanaged<Block>, location: Location)? {
        guard storeIndex == self.storeIndex, next < made, let index = index(of: ref) else { return nil }
        let newest = handle.log.publicationCount
        if newest != publication || index >= located {
            forgetPlaces()
            (next, located, publication, ahead) = (index, index, newest, 1)
        }
        while next < index { drop() }
        if located == index, index + 1 == made {
            // There are no neighbours.
            (next, located) = (made, made)
            return nil
        }
        // Some at a time, since asking for the newest snapshot takes a lock.
        if located <= index + 1 + ahead / 2 {
            locate(upTo: min(index + 1 + ahead, made), handle)
            ahead = min(ahead * 2, Self.maximumAhead)
        }
        let place = places[index & (Self.placeCount - 1)]
        places[index & (Self.placeCount - 1)].block = nil
        next = index + 1
        pipeline.advance(to: index, limit: located, wanted) { number in
            let place = places[number & (Self.placeCount - 1)]
            return place.block.map { ($0, place.location.row) }
        }
        return place.block.map { ($0, place.location) }
    }

    private func index(of ref: ObjectRef) -> Int? {
        if made - next > Self.capacity {
            // The oldest have been written over.
            forgetPlaces()
            (next, located) = (made - Self.capacity, made - Self.capacity)
        }
        for index in next..<min(next + Self.lookAhead, made) where refs[index & (Self.capacity - 1)] == ref {
            return index
        }
        return nil
    }

    /// Looks up the rows of the faults from ``located`` up to, not including, `end`. One that is not there, or cannot
    /// be read, is left to its own fault.
    private func locate(upTo end: Int, _ handle: StoreHandle) {
        guard located < end else { return }
        let snapshot = handle.log.snapshot
        while located < end {
            var place = Place()
            if let location = try? snapshot.locate(refs[located & (Self.capacity - 1)]), !location.isAbsent,
                let block = handle.log.cachedBlock(at: location), (try? block.verify()) != nil
            {
                place = Place(location: location, block: .passRetained(block))
            }
            places[located & (Self.placeCount - 1)] = place
            located += 1
        }
    }

    /// Passes over the next fault.
    private func drop() {
        places[next & (Self.placeCount - 1)].block?.release()
        places[next & (Self.placeCount - 1)].block = nil
        next += 1
    }
}
