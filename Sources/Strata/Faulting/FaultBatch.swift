import StrataLog
import StrataRuntime
import StrataSupport

/// The objects of a fetch or of a to-many relationship, as neighbours: when the fault of one fires, the rows of those
/// around it are looked up with its own, so that theirs need no search.
///
/// Only places are kept, and the few blocks they are in; an object takes its row when its own fault fires. What was
/// looked up counts only while nothing has been saved since: a fault shows the newest row.
final class FaultBatch {
    /// How many rows are looked up together when the request does not say: as many places as the heap hands out without
    /// first putting together all that is free.
    static let defaultSize = 60
    /// The most that is looked up together, whatever the request says: the blocks are kept meanwhile.
    static let maximumSize = 1_024
    /// The members of a relationship are mostly read in the order in which their set has them, but they need not be:
    /// all of them are looked up together, up to so many.
    static let maximumMemberCount = 4_096
    /// How many results that are no faults any more are passed over in search of the one that fires.
    private static let lookAhead = 8
    /// After how many faults in no order the batch stops searching for each, and how often it tries again.
    private static let strayMaximum = 4
    private static let strayInterval = 64

    // A batch belongs to its context's queue, and no access to its state calls out: the run-time checks for overlapping
    // accesses are turned off.
    private let refs: [ObjectRef]
    private let storeIndex: UInt16
    private let size: Int
    private let isAscending: Bool
    /// References outside of these are none of these; other entities' objects are told apart by them at once.
    private let bounds: ClosedRange<ObjectRef>
    @exclusivity(unchecked) private var next = 0
    @exclusivity(unchecked) private var window = 0..<0
    /// Those of the window; memory for ``size`` of them when it is first needed.
    @exclusivity(unchecked) private var rows: UnsafeMutablePointer<LocatedRow>?
    @exclusivity(unchecked) private var publication: UInt64 = 0
    @exclusivity(unchecked) private var pipeline = RowPipeline()
    /// How many faults in a row fired in no order: looking up the neighbours of each would be in vain.
    @exclusivity(unchecked) private var strays = 0

    /// Nil when there are no neighbours.
    init?(_ matches: [FetchMatch], size: Int) {
        guard matches.count > 1, let storeIndex = matches.first(where: { $0.storeIndex != 0 })?.storeIndex else {
            return nil
        }
        // One store is the common case; others' faults are looked up one by one.
        refs = matches.compactMap { $0.storeIndex == storeIndex ? $0.ref : nil }
        self.storeIndex = storeIndex
        self.size = min(size > 0 ? size : Self.defaultSize, Self.maximumSize)
        (isAscending, bounds) = Self.order(refs)
    }

    /// As ``init(_:size:)`` for results that are all stored.
    init?(_ refs: [ObjectRef], _ storeIndex: UInt16, size: Int) {
        guard refs.count > 1 else { return nil }
        self.refs = refs
        self.storeIndex = storeIndex
        self.size = min(size > 0 ? size : Self.defaultSize, Self.maximumSize)
        (isAscending, bounds) = Self.order(refs)
    }

    /// The members of a relationship. Nil when there are no neighbours.
    init?(members refs: [ObjectRef], _ storeIndex: UInt16) {
        guard refs.count > 1 else { return nil }
        self.refs = refs
        self.storeIndex = storeIndex
        size = refs.count <= Self.maximumMemberCount ? refs.count : Self.maximumSize
        (isAscending, bounds) = Self.order(refs)
    }

    deinit {
        forgetLocations()
        rows?.deallocate()
    }

    private func forgetLocations() {
        guard let rows else { return }
        for index in 0..<window.count { rows[index].block?.release() }
        window = 0..<0
    }

    private static func order(_ refs: [ObjectRef]) -> (isAscending: Bool, bounds: ClosedRange<ObjectRef>) {
        var (low, high) = (refs[0], refs[0])
        var isAscending = true
        for ref in refs {
            if ref < high { isAscending = false }
            low = min(low, ref)
            high = max(high, ref)
        }
        return (isAscending, low...high)
    }

    /// The row of an object whose fault fires, with a reference to its block for the caller, if the object is one of
    /// these and exists. A row is handed out once: an object that becomes a fault again is looked up by itself.
    ///
    /// - Parameters:
    ///   - hint: its position among them, if it was made for them; anything else does no harm.
    ///   - wanted: the slots that are going to be read, as bits.
    func take(
        _ ref: ObjectRef, _ hint: UInt32, _ storeIndex: UInt16, _ handle: StoreHandle, _ wanted: UInt64,
        _ statistics: inout FaultStatistics
    ) throws(StoreError) -> (block: Unmanaged<Block>, location: Location)? {
        guard storeIndex == self.storeIndex, bounds.contains(ref), let index = index(of: ref, Int(hint)) else {
            return nil
        }
        next = index + 1
        // A second stray may begin a new order, which the next fault shows.
        if strays > 1 { return nil }
        let newest = handle.log.publicationCount
        if newest != publication || !window.contains(index) {
            try lookUp(from: index, handle, newest)
            statistics.batchLookups += 1
        } else {
            statistics.faultsFromBatches += 1
        }
        guard let rows, let block = rows[index - window.lowerBound].block else { return nil }
        let (start, count) = (window.lowerBound, window.count)
        let location = rows[index - start].location
        // Rows of one block that follow each other need no help.
        if rows[min(index - start + Self.lookAhead, count - 1)].location.block != location.block {
            pipeline.advance(to: index, limit: start + count, from: start, wanted) { number in
                rows[number - start].block.map { ($0, rows[number - start].location.row) }
            }
        }
        rows[index - start].block = nil
        return (block, location)
    }

    /// Faults mostly fire in order; of what is in the order of references, any is found, and so is what is where the
    /// hint says, unless many fire in no order: then only now and then one is searched for.
    private func index(of ref: ObjectRef, _ hint: Int) -> Int? {
        let isThere = hint < refs.count && refs[hint] == ref
        if isThere {
            if hint >= next, hint - next < Self.lookAhead {
                strays = 0
                return hint
            }
        } else if strays <= Self.strayMaximum {
            let end = min(next + Self.lookAhead, refs.count)
            for index in next..<max(next, end) where refs[index] == ref {
                strays = 0
                return index
            }
        }
        guard isThere || isAscending else { return nil }
        if isThere ? window.contains(hint) : windowCovers(ref) {
            strays = 0
            return isThere ? hint : search(ref, in: window)
        }
        if refs.count > size {
            strays += 1
            if strays > Self.strayMaximum, strays % Self.strayInterval != 0 { return nil }
        }
        return isThere ? hint : search(ref, in: 0..<refs.count)
    }

    /// Whether a reference lies between those of the window, which ascend.
    private func windowCovers(_ ref: ObjectRef) -> Bool {
        guard let first = window.first else { return false }
        return refs[first] <= ref && refs[window.upperBound - 1] >= ref
    }

    private func search(_ ref: ObjectRef, in range: Range<Int>) -> Int? {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if refs[middle] < ref { low = middle + 1 } else { high = middle }
        }
        return low < range.upperBound && refs[low] == ref ? low : nil
    }

    private func lookUp(from first: Int, _ handle: StoreHandle, _ publication: UInt64) throws(StoreError) {
        let entity = refs[first].entity
        try EventHub.telling(.fault, of: handle.eventStores) { work in
            .fault(
                FaultEvent(
                    work: work, entity: handle.map.shape(entity)?.name, rows: window.count, isPrefetch: false))
        } _: { () throws(StoreError) in
            try lookUpRows(from: first, handle, publication)
        }
    }

    private func lookUpRows(
        from first: Int, _ handle: StoreHandle, _ publication: UInt64
    ) throws(StoreError) {
        // What refers to each other is often read in no order: a small batch is looked up as a whole.
        let start = refs.count <= size ? 0 : first
        let (log, snapshot) = (handle.log, handle.log.snapshot)
        // It keeps the places from being compacted away meanwhile.
        defer { withExtendedLifetime(snapshot) {} }
        forgetLocations()
        let rows = self.rows ?? .allocate(capacity: size)
        self.rows = rows
        let range = start..<min(start + size, refs.count)
        rows.initialize(repeating: LocatedRow(), count: range.count)
        window = range
        pipeline = RowPipeline()
        self.publication = publication
        // Each step waits for memory: it is taken for all before the next one follows, as in RecentFaults.
        refs.withUnsafeBufferPointer { snapshot.locate(UnsafeBufferPointer(rebasing: $0[range]), into: rows) }
        do throws(StoreError) {
            // A neighbour that cannot be read is its own fault's problem; why this one cannot, the next look-up says.
            if rows[first - start].location.isAbsent { _ = try snapshot.locate(refs[first]) }
            log.blockCache.find(rows, range.count)
            try readBlocks(first - start, range.count, rows, log)
        } catch {
            // What comes behind it has not been verified yet.
            forgetLocations()
            throw error
        }
    }

    /// Reads the blocks that the cache does not have.
    ///
    /// - Parameters:
    ///   - first: the place whose block must be there.
    ///   - count: of the places.
    private func readBlocks(
        _ first: Int, _ count: Int, _ rows: UnsafeMutablePointer<LocatedRow>, _ log: LogStore
    ) throws(StoreError) {
        let cache = log.blockCache
        var known: [Location: Block] = [:]
        var last: (location: Location, block: Unmanaged<Block>)?
        for index in 0..<count {
            let location = rows[index].location.block
            if location.isAbsent { continue }
            do throws(StoreError) {
                if let last, last.location == location {
                    rows[index].block = last.block.retain()
                    continue
                }
                if let found = rows[index].block {
                    try found.withBorrowed { block in
                        Result { () throws(StoreError) in try block.verify() }
                    }.get()
                    last = (location, found)
                    continue
                }
                let found = Unmanaged.passRetained(try block(at: location, log, cache, &known))
                rows[index].block = found
                last = (location, found)
            } catch {
                if index == first { throw error }
                last = nil
                rows[index].block?.release()
                (rows[index].block, rows[index].location) = (nil, .absent)
            }
        }
    }

    /// A block, verified. What the cache does not keep is read once for the whole batch.
    private func block(
        at location: Location, _ log: LogStore, _ cache: BlockCache, _ known: inout [Location: Block]
    ) throws(StoreError) -> Block {
        if let block = cache.get(location) {
            try block.verify()
            return block
        }
        if let block = known[location] { return block }
        var wasCached = false
        let block = try log.block(at: location, wasCached: &wasCached)
        try block.verify()
        if !wasCached { known[location] = block }
        return block
    }
}
