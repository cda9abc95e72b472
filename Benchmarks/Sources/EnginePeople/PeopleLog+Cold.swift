public import BenchSupport
import DataSet

extension PeopleLog {
    /// Reads two fields of every row of at most `blockLimit` blocks in random order. Nothing may have been read
    /// through this object before. Ends by closing the store.
    public func coldReads(blockLimit: Int) throws -> ColdReads {
        var random = SplitMix64(31)
        let runs = try keysByBlock().shuffled(using: &random).prefix(blockLimit)
        var timings = ColdReads.Gatherer()
        for run in runs {
            let ids = Array(run)
            let middle = ids.count / 2
            // The first row that is read lies in the middle; the others of the block follow.
            let first = [ids[middle]]
            let others = Array(ids[..<middle] + ids[(middle + 1)...])
            let (firstSeconds, _) = try timed { try read(first, .twoFields) }
            let (otherSeconds, _) = try timed { try read(others, .twoFields) }
            timings.add(first: firstSeconds, neighbours: otherSeconds, count: others.count)
        }
        try close()
        return timings.result
    }
}
