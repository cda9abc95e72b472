/// One row of a block. Keeps the block alive.
public struct Row: Sendable {
    /// The block that has the row.
    public let block: Block
    /// In the block.
    public let index: Int

    /// The row at an index of a block.
    ///
    /// - Precondition: `index` is a row of the block.
    @inlinable
    public init(block: Block, index: Int) {
        precondition(index >= 0 && index < block.rowCount, "row out of range")
        self.block = block
        self.index = index
    }

    /// The object.
    @inlinable
    public var ref: ObjectRef { block.ref(index) }

    /// Where the row lies.
    @inlinable
    public var location: Location { Location(rawValue: block.location.rawValue | UInt64(index)) }

    /// Which row it is, for the update or deletion that replaces it.
    @inlinable
    public var version: RowVersion { RowVersion(location: location, sequence: block.sequence(index)) }
}
