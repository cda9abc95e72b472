/// Sorts more entries than may be in memory: an external merge sort.
///
/// Sorted lists are gathered in memory. When they outgrow it, they are merged into one in a file; files of one tier are
/// merged when there are many, so that an entry is written once a tier and no merge has too many inputs. Used by one
/// thread.
final class OrderedSorter {
    /// As many files are merged into one: more make a merge slow, fewer make more passes.
    private static let fanout = 16

    private let maximumByteCount: Int
    /// Nil: all in memory.
    private let scratch: OrderedScratch?
    private var runs = SortedRuns<OrderedRun>()
    private var byteCount = 0
    /// Lists in files, by how often what is in them was written.
    private var tiers: [[OrderedList]] = []

    /// - Parameters:
    ///   - maximumByteCount: of the entries in memory; merging takes as much again for a moment.
    ///   - scratch: where the rest goes.
    init(maximumByteCount: Int, scratch: OrderedScratch?) {
        self.maximumByteCount = maximumByteCount
        self.scratch = scratch
    }

    /// - Throws: `.io` and `.corruption` when a list in a file cannot be read.
    func add(_ list: OrderedList) throws(StoreError) {
        byteCount += list.memoryByteCount
        try runs.append(OrderedRun(list: list, generation: runs.generation + 1))
        guard byteCount >= maximumByteCount, scratch != nil else { return }
        try add(spilled(runs.list.map(\.list)), tier: 0)
        runs = SortedRuns()
        byteCount = 0
    }

    private func add(_ list: OrderedList, tier: Int) throws(StoreError) {
        if tier == tiers.count { tiers.append([]) }
        tiers[tier].append(list)
        guard tiers[tier].count == Self.fanout else { return }
        let merged = try spilled(tiers[tier])
        tiers[tier] = []
        try add(merged, tier: tier + 1)
    }

    /// All that was added, as one list: in memory when all of it was at once.
    func finish() throws(StoreError) -> OrderedList {
        let lists = tiers.flatMap { $0 } + runs.list.map(\.list)
        guard let scratch, !tiers.isEmpty else { return try OrderedMerge.merged(lists) }
        return try scratch.orMemory(lists, residentMaximumByteCount: OrderedList.residentMaximumByteCount)
    }

    private func spilled(_ lists: [OrderedList]) throws(StoreError) -> OrderedList {
        guard let scratch else { preconditionFailure("nothing is written without a file") }
        // Read once, from the first entry to the last: nothing of it need stay.
        return try scratch.orMemory(lists, residentMaximumByteCount: 0)
    }
}
