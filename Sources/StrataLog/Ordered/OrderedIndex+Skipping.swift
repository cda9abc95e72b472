// Reaching entries by their number: blocks know how many entries lie before them.
extension OrderedIndex {
    /// Hands out the objects in several ranges, in the order of the index or against it, until the body returns false.
    ///
    /// - Parameters:
    ///   - ranges: ascending, none of which meets another.
    ///   - descending: whether the objects come against the order of the index.
    ///   - skipped: how many objects come before the first one that the body is called with. They are counted, not
    ///     read.
    ///   - body: takes an object; false ends the enumeration.
    /// - Throws: as ``forEach(in:descending:_:)``.
    /// - Complexity: O(log n) for each range and each of the O(log n) runs, and the objects handed out. Up to as many
    ///   entries as a block of each run holds are read besides.
    public func forEach(
        in ranges: [OrderedRange], descending: Bool = false, skipping skipped: Int = 0,
        _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var left = skipped
        for range in descending ? ranges.reversed() : ranges {
            if left > 0, ranges.count > 1 {
                let count = try count(in: range)
                if left >= count {
                    left -= count
                    continue
                }
            }
            guard try forEach(in: range, descending: descending, skipping: left, body) else { return }
            left = 0
        }
    }

    private func forEach(
        in range: OrderedRange, descending: Bool, skipping skipped: Int,
        _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        if skipped == 0 { return try forEach(in: range, descending: descending, body) }
        if range.isEmpty { return true }
        if !descending { return try forEachAscending(in: range, skipping: skipped, body) }
        let (rest, left) = try skipDescending(skipped, in: range)
        return try forEachDescending(in: rest, passing: left, body)
    }

    /// Hands out the objects of a range in the order of the index, but for the first ones.
    func forEachAscending(
        in range: OrderedRange, skipping skipped: Int, _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        if skipped == 0 { return try forEach(in: range, body) }
        let (rest, few) = try skip(skipped, in: range)
        var left = few
        return try forEach(in: rest) { ref throws(StoreError) in
            if left == 0 { return try body(ref) }
            left -= 1
            return true
        }
    }

    /// The range without most of the first entries that are to be skipped, and how many are left to skip.
    private func skip(_ count: Int, in range: OrderedRange) throws(StoreError) -> (OrderedRange, left: Int) {
        var (range, left) = (range, count)
        for list in lists {
            let start = range
            let block = try list.blockCount(where: { block throws(StoreError) in
                let key = list.firstKey(block)
                guard start.lower.lexicographicallyPrecedes(key) else { return true }
                if let upper = start.upper, !key.lexicographicallyPrecedes(upper) { return false }
                return try self.count(in: OrderedRange(lower: start.lower, upper: key)) <= left
            })
            guard block > 0 else { continue }
            let key = list.firstKey(block - 1)
            guard range.lower.lexicographicallyPrecedes(key) else { continue }
            left -= try self.count(in: OrderedRange(lower: range.lower, upper: key))
            range.lower = key
        }
        return (range, left)
    }

    /// The range without most of the last entries that are to be skipped, and how many are left to skip. It ends where
    /// values end.
    private func skipDescending(
        _ count: Int, in range: OrderedRange
    ) throws(StoreError) -> (OrderedRange, left: Int) {
        var (range, left) = (range, count)
        for list in lists {
            let start = range
            func values(_ block: Int) -> [UInt8] { list.firstKey(block).dropLast(OrderedBlock.refByteCount) }
            let block = try list.blockCount(where: { block throws(StoreError) in
                let key = values(block)
                guard start.lower.lexicographicallyPrecedes(key) else { return true }
                if let upper = start.upper, !key.lexicographicallyPrecedes(upper) { return false }
                return try self.count(in: OrderedRange(lower: key, upper: start.upper)) > left
            })
            guard block < list.blockCount else { continue }
            let key = values(block)
            guard range.upper.map({ key.lexicographicallyPrecedes($0) }) ?? true else { continue }
            left -= try self.count(in: OrderedRange(lower: key, upper: range.upper))
            range.upper = key
        }
        return (range, left)
    }
}
