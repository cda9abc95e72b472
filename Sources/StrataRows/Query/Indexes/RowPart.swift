import StrataLog

/// Looks a part of some rows up, so that they wait for memory together.
enum RowPart {
    /// Hands out the rows in their order, until the body returns false.
    ///
    /// - Parameters:
    ///   - refs: of rows that the snapshot has.
    ///   - body: is given the position of the reference, the block, and the row in it.
    /// - Returns: how many blocks were asked for, and how many of them were in memory already.
    /// - Throws: what cannot be read; what the body throws.
    @discardableResult
    static func forEach(
        _ refs: [ObjectRef], _ log: LogStore, _ snapshot: Snapshot,
        _ body: (Int, Block, Int) throws(StoreError) -> Bool
    ) throws(StoreError) -> ScanStatistics {
        var statistics = ScanStatistics()
        let count = refs.count
        let located = UnsafeMutablePointer<LocatedRow>.allocate(capacity: count)
        located.initialize(repeating: LocatedRow(), count: count)
        defer {
            for index in 0..<count { located[index].block?.release() }
            located.deallocate()
        }
        refs.withUnsafeBufferPointer { snapshot.locate($0, into: located) }
        log.blockCache.find(located, count)
        var last: (location: Location, block: Block)?
        for index in 0..<count {
            let location = located[index].location
            if location.isAbsent {
                // Why it cannot be found, the next look-up says.
                _ = try snapshot.locate(refs[index])
                continue
            }
            let block: Block
            if let last, last.location == location.block {
                block = last.block
            } else {
                block = try self.block(at: location, located[index].block, log, &statistics)
                last = (location.block, block)
            }
            guard location.row < block.rowCount else {
                throw StoreError(
                    .corruption, "row \(location.row) of a block with fewer", segment: location.segment,
                    offset: location.byteOffset)
            }
            if try !body(index, block, location.row) { break }
        }
        return statistics
    }

    private static func block(
        at location: Location, _ found: Unmanaged<Block>?, _ log: LogStore, _ statistics: inout ScanStatistics
    ) throws(StoreError) -> Block {
        statistics.blocks += 1
        if let found {
            statistics.cachedBlocks += 1
            return found.takeUnretainedValue()
        }
        var wasCached = false
        let block = try log.block(at: location.block, wasCached: &wasCached)
        if wasCached { statistics.cachedBlocks += 1 }
        return block
    }
}
