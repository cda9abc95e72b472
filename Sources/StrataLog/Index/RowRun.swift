/// Neighbouring rows of one block with consecutive keys: keys `firstKey..<firstKey + count` lie at rows
/// `location.row..<location.row + count` of the block at `location`.
public struct RowRun: Hashable, Sendable {
    public var firstKey: UInt64
    public var count: Int
    public var location: Location

    @inlinable
    public init(firstKey: UInt64, count: Int, location: Location) {
        self.firstKey = firstKey
        self.count = count
        self.location = location
    }
}
