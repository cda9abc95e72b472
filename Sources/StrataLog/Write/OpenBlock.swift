/// A block that rows are being added to.
final class OpenBlock {
    let role: TransactionBody.BlockRole
    let buffer: RowBuffer
    /// Index of the job that will encode it; nil while it has no rows.
    @exclusivity(unchecked) var job: Int?

    init(role: TransactionBody.BlockRole, _ layout: WriterLayout) {
        self.role = role
        buffer = RowBuffer(layout: layout.layout, schemaVersion: layout.schemaVersion)
    }
}

/// The blocks that rows of one entity are being added to, by role; made when they are first needed, since a small
/// transaction needs one of them.
struct OpenBlocks {
    private let layout: WriterLayout
    private(set) var inserted: OpenBlock?
    private(set) var updated: OpenBlock?
    private(set) var tombstones: OpenBlock?

    init(_ layout: WriterLayout) {
        self.layout = layout
    }

    mutating func insertedOrNew() -> OpenBlock { Self.block(&inserted, .inserted, layout) }

    mutating func updatedOrNew() -> OpenBlock { Self.block(&updated, .updated, layout) }

    mutating func tombstonesOrNew() -> OpenBlock { Self.block(&tombstones, .tombstone, layout) }

    private static func block(
        _ place: inout OpenBlock?, _ role: TransactionBody.BlockRole, _ layout: WriterLayout
    ) -> OpenBlock {
        if let block = place { return block }
        let block = OpenBlock(role: role, layout)
        place = block
        return block
    }
}
