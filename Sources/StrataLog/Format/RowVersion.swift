/// Which row was read: where it lay and the sequence number of the transaction that wrote it.
public struct RowVersion: Hashable, Sendable {
    /// Where the row lay; absent for no row.
    public var location: Location
    /// The number of the transaction that wrote the row.
    public var sequence: UInt64

    /// No row: an absent location and sequence 0.
    public static let none = RowVersion(location: .absent, sequence: 0)

    /// A version with these members.
    @inlinable
    public init(location: Location, sequence: UInt64) {
        self.location = location
        self.sequence = sequence
    }
}
