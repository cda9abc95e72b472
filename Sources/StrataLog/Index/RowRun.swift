/// Neighbouring rows of one block with consecutive keys: keys `firstKey..<firstKey + count` lie at rows
/// `location.row..<location.row + count` of the block at `location`.
public struct RowRun: Hashable, Sendable {
    /// The least key.
    public var firstKey: UInt64
    /// How many rows there are.
    public var count: Int
    /// Where the row of ``firstKey`` lies.
    public var location: Location

    /// A run with these members; nothing is checked.
    @inlinable
    public init(firstKey: UInt64, count: Int, location: Location) {
        self.firstKey = firstKey
        self.count = count
        self.location = location
    }
}
