/// Reads rows of a snapshot one after the other. The block that the last row lay in is kept: looking it up again for
/// each of its rows, and counting a reference to it that other threads count at the same time, takes longer than the
/// row. Belongs to one thread.
public struct RowReader {
    /// What is read.
    public let snapshot: Snapshot
    private var block: Block?

    /// Reads nothing yet.
    public init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
    }

    /// As ``Snapshot/row(_:)``.
    ///
    /// - Throws: `.corruption` or `.io`, naming segment and offset.
    public mutating func row(_ ref: ObjectRef) throws(StoreError) -> Row? {
        let location = try snapshot.locate(ref)
        if location.isAbsent { return nil }
        let row = try row(at: location)
        guard row.ref.key == ref.key else {
            throw StoreError(
                .corruption, "the row of object \(ref.key) is that of \(row.ref.key)", segment: location.segment,
                offset: location.byteOffset)
        }
        return row
    }

    /// The row at a location that the snapshot shows.
    ///
    /// - Throws: as ``row(_:)``.
    public mutating func row(at location: Location) throws(StoreError) -> Row {
        let current: Block
        if let block, block.location == location.block {
            current = block
        } else {
            current = try snapshot.block(at: location)
            block = current
        }
        return try current.row(at: location)
    }
}

extension Block {
    /// The row at a location of the block.
    ///
    /// - Throws: `.corruption` when the block has fewer rows.
    func row(at location: Location) throws(StoreError) -> Row {
        guard location.row < rowCount else {
            throw StoreError(
                .corruption, "row \(location.row) of a block of \(rowCount)", segment: location.segment,
                offset: location.byteOffset)
        }
        return Row(block: self, index: location.row)
    }
}
