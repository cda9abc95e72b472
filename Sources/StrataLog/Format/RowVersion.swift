/// Which row was read: where it lay and the sequence number of the transaction that wrote it.
public struct RowVersion: Hashable, Sendable {
    public var location: Location
    public var sequence: UInt64

    /// No row: an absent location and sequence 0.
    public static let none = RowVersion(location: .absent, sequence: 0)

    @inlinable
    public init(location: Location, sequence: UInt64) {
        self.location = location
        self.sequence = sequence
    }
}
