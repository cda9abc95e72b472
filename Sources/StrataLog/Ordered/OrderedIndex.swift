/// One version of an ordered index: the objects of some entities in the order of some of their slots.
///
/// As postings are: a *base* in the checkpoint file, read a block at a time, under a few *runs* of later changes in
/// memory. An entry is the row's key (see ``OrderedKey``) and the object, so that every entry is unique; whether it is
/// there is the sum of what base and runs say. Immutable and safe to use from any thread.
public final class OrderedIndex: Sendable {
    /// Tells an index from another of the same definition that was begun anew.
    final class Lineage: Sendable {}

    /// What the index is over.
    public let definition: OrderedIndexDefinition
    let lineage: Lineage
    /// Nil while the index is being built: then the runs hold what came after building began.
    let base: OrderedList?
    let runs: SortedRuns<OrderedRun>

    init(
        _ definition: OrderedIndexDefinition, lineage: Lineage, base: OrderedList?,
        runs: SortedRuns<OrderedRun> = SortedRuns()
    ) {
        self.definition = definition
        self.lineage = lineage
        self.base = base
        self.runs = runs
    }

    /// An index that has to be built.
    convenience init(unbuilt definition: OrderedIndexDefinition) {
        self.init(definition, lineage: Lineage(), base: nil)
    }

    /// Tells whether an index is a later version of one.
    package struct Version: Sendable {
        fileprivate let lineage: Lineage
        fileprivate let generation: UInt64

        /// Whether the index is this version, or has grown out of it in a few changes.
        package func isBefore(_ index: OrderedIndex, byAtMost count: UInt64) -> Bool {
            index.lineage === lineage && index.runs.generation &- generation <= count
        }
    }

    package var version: Version { Version(lineage: lineage, generation: runs.generation) }

    /// Whether it can be read: not while it is being built for a store that has rows already.
    public var isReady: Bool { base != nil }

    /// The version after a transaction.
    func adding(_ list: OrderedList) throws(StoreError) -> OrderedIndex {
        if list.isEmpty { return self }
        var runs = runs
        try runs.append(OrderedRun(list: list, generation: runs.generation + 1))
        return OrderedIndex(definition, lineage: lineage, base: base, runs: runs)
    }

    /// The version that is built, of what the rows were when building began.
    func built(_ list: OrderedList) -> OrderedIndex {
        OrderedIndex(definition, lineage: lineage, base: list, runs: runs)
    }

    func sealed() throws(StoreError) -> OrderedIndex {
        OrderedIndex(definition, lineage: lineage, base: base, runs: try runs.sealed())
    }

    /// This version with a base that holds what its base and its runs up to `sealed` held.
    ///
    /// - Parameters:
    ///   - reopened: from a checkpoint of `sealed`.
    ///   - sealed: what ``sealed()`` returned last in this version's past.
    func rebased(onto reopened: OrderedIndex, from sealed: OrderedIndex) -> OrderedIndex {
        guard lineage === sealed.lineage, runs.border == sealed.runs.border, sealed.isReady, let base = reopened.base
        else { return self }
        return OrderedIndex(definition, lineage: lineage, base: base, runs: runs.afterSealing())
    }

    var lists: [OrderedList] { (base.map { [$0] } ?? []) + runs.list.map(\.list) }

    /// How many objects are in the index.
    public var count: Int { lists.reduce(0) { $0 + $1.netCount } }

    /// Whether the order of the entries is that of the values: not when some are longer than an index looks at.
    public var isExact: Bool { base?.isInexact != true && !runs.list.contains { $0.list.isInexact } }

    /// Bytes that this version holds, most of them shared with its neighbours.
    public var memoryByteCount: Int { lists.reduce(0) { $0 + $1.memoryByteCount } }

    // MARK: Reading

    /// How many entries lie in a range, read from sums and not by counting.
    ///
    /// - Throws: `.io` or `.corruption` when a block of the checkpoint has to be read and cannot be.
    /// - Complexity: O(log n) for each of the O(log n) runs.
    public func count(in range: OrderedRange) throws(StoreError) -> Int {
        if range.isEmpty { return 0 }
        var count = 0
        for list in lists {
            let end = try range.upper?.withBytes { upper throws(StoreError) in try list.netCount(before: upper) }
            let start = try range.lower.withBytes { lower throws(StoreError) in try list.netCount(before: lower) }
            count += (end ?? list.netCount) - start
        }
        return count
    }

    /// Hands out the objects in a range, in the order of the index or against it, until the body returns false.
    /// Objects with equal values come in the order of their keys, in both directions.
    ///
    /// - Returns: false when the body stopped it.
    /// - Throws: `.io` or `.corruption` when a block of the checkpoint has to be read and cannot be; what the body
    ///   throws.
    /// - Complexity: O(log n + objects).
    public func forEach(
        in range: OrderedRange, descending: Bool = false, _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        if range.isEmpty { return true }
        if descending { return try forEachDescending(in: range, passing: 0, body) }
        return try forEachEntry(in: range) { entry throws(StoreError) in try body(OrderedBlock.ref(entry)) }
    }

    /// Hands out the objects whose entries begin with some bytes, in their order, until the body returns false. Quick
    /// when there are few, and when there are none.
    ///
    /// - Throws: `.io` or `.corruption` when a block of the checkpoint has to be read and cannot be; what the body
    ///   throws.
    package func forEach(
        prefix: UnsafeRawBufferPointer, _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try forEachEntry(prefix: prefix) { entry throws(StoreError) in try body(OrderedBlock.ref(entry)) }
    }

    /// As ``forEach(prefix:_:)``, with the entries themselves.
    @inline(__always)
    func forEachEntry(
        prefix: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var found: (list: OrderedList, position: OrderedList.Position)?
        func look(_ list: OrderedList) throws(StoreError) -> Bool {
            guard let position = try list.position(ofPrefix: prefix) else { return false }
            if found != nil { return true }
            found = (list, position)
            return false
        }
        var isMany = false
        if let base { isMany = try look(base) }
        for run in runs.list where !isMany { isMany = try look(run.list) }
        if isMany {
            // One list may take back what another one adds.
            _ = try forEachEntry(in: OrderedRange(prefix: Array(prefix)), body)
            return
        }
        guard let (list, start) = found else { return }
        var position = start
        while position.block < list.blockCount {
            let block = try list.block(position.block)
            while position.index < block.count {
                let entry = block.entry(position.index)
                guard OrderedBytes.begins(entry, with: prefix) else { return }
                if !block.isRemoval(position.index), try !body(entry) { return }
                position.index += 1
            }
            position = OrderedList.Position(block: position.block + 1, index: 0)
        }
    }

    /// Calls the block with each entry of a range, in ascending order, until it returns false.
    func forEachEntry(
        in range: OrderedRange, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        var merge = try OrderedMerge(lists, in: range)
        if let only = merge.only {
            guard let upper = range.upper else { return try only.forEach(before: nil, body) }
            return try upper.withBytes { upper throws(StoreError) in try only.forEach(before: upper, body) }
        }
        while let (entry, net) = try merge.next() {
            if net > 0, try !body(entry) { return false }
        }
        return true
    }

    /// More objects with equal values than this are read a second time, upwards, instead of being kept.
    private static let groupMaximumCount = 64

    /// Hands out the objects of a range against the order of the index, but for the first ones: large groups of equal
    /// values among those are counted, the others read.
    func forEachDescending(
        in range: OrderedRange, passing passed: Int, _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        var (range, left) = (range, passed)
        func handOut(_ group: [ObjectRef]) throws(StoreError) -> Bool {
            for ref in group.reversed() {
                if left > 0 {
                    left -= 1
                } else if try !body(ref) {
                    return false
                }
            }
            return true
        }
        while true {
            var merge = try OrderedMerge(lists, in: range, descending: true)
            var values: [UInt8] = []
            var group: [ObjectRef] = []
            var isLarge = false
            while let (entry, net) = try merge.next() {
                if net <= 0 { continue }
                let own = UnsafeRawBufferPointer(rebasing: entry.dropLast(OrderedBlock.refByteCount))
                if group.isEmpty || values.withUnsafeBytes({ OrderedBytes.compare($0, own) != 0 }) {
                    guard try handOut(group) else { return false }
                    group.removeAll(keepingCapacity: true)
                    values.removeAll(keepingCapacity: true)
                    values.append(contentsOf: own)
                }
                group.append(OrderedBlock.ref(entry))
                if group.count > Self.groupMaximumCount {
                    isLarge = true
                    break
                }
            }
            guard isLarge else { return try handOut(group) }
            // The rest of the range may begin or end in the middle of the group.
            let part = OrderedRange(prefix: values).clamped(to: range)
            let count = left > 0 ? try count(in: part) : 0
            if left > 0, left >= count {
                left -= count
            } else {
                guard try forEachAscending(in: part, skipping: left, body) else { return false }
                left = 0
            }
            range.upper = values
            if range.isEmpty { return true }
        }
    }
}
