/// Seconds a read takes when its block is not in the cache, and when a neighbour just brought it in.
public struct ColdReads: Sendable {
    /// Median and 99th percentile for the first row of a block.
    public var first: Double
    public var first99: Double
    /// Mean over all other rows of the blocks.
    public var neighbour: Double
    public var rowsPerBlock: Double

    /// Collects the timings of blocks.
    public struct Gatherer {
        private var firsts: [Double] = []
        private var neighbourSeconds = 0.0
        private var neighbourCount = 0

        public init() {}

        public mutating func add(first: Double, neighbours: Double, count: Int) {
            firsts.append(first)
            neighbourSeconds += neighbours
            neighbourCount += count
        }

        public var result: ColdReads {
            let sorted = firsts.sorted()
            return ColdReads(
                first: percentile(sorted, 0.5), first99: percentile(sorted, 0.99),
                neighbour: neighbourSeconds / Double(max(1, neighbourCount)),
                rowsPerBlock: Double(firsts.count + neighbourCount) / Double(max(1, firsts.count)))
        }
    }
}
