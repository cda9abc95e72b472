import DataSet

/// Seconds a read takes when its block is not in the cache, and when a neighbour just brought it in.
public struct ColdReads: Sendable {
    /// Median and 99th percentile for the first row of a block.
    public let first: Double
    public let first99: Double
    /// Mean over all other rows of the blocks.
    public let neighbour: Double
    public let rowsPerBlock: Double

    /// Reads two fields of every row of at most `limit` blocks in random order.
    ///
    /// - Parameters:
    ///   - blocks: keys of the rows of each block. Nothing of them may have been read before.
    ///   - contestant: who reads.
    public init(_ blocks: [Range<UInt64>], limit: Int, through contestant: any Contestant) throws {
        var random = SplitMix64(31)
        var firsts: [Double] = []
        var neighbourSeconds = 0.0
        var neighbourCount = 0
        for block in blocks.shuffled(using: &random).prefix(limit) {
            let ids = Array(block)
            let middle = ids.count / 2
            // The first row that is read lies in the middle; the others of the block follow.
            let others = Array(ids[..<middle] + ids[(middle + 1)...])
            firsts.append(try timed { try contestant.read([ids[middle]], .twoFields) }.seconds)
            neighbourSeconds += try timed { try contestant.read(others, .twoFields) }.seconds
            neighbourCount += others.count
        }
        firsts.sort()
        first = percentile(firsts, 0.5)
        first99 = percentile(firsts, 0.99)
        neighbour = neighbourSeconds / Double(max(1, neighbourCount))
        rowsPerBlock = Double(firsts.count + neighbourCount) / Double(max(1, firsts.count))
    }
}
