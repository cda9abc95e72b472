/// What those who write an entity's rows go by, worked out once for all transactions. Immutable.
final class WriterLayout: Sendable {
    let layout: EntityLayout
    /// The version of the store's schema that the layout is of.
    let schemaVersion: UInt16
    /// How blocks of such rows are read.
    let shape: BlockShape
    /// Slots whose references are listed from the other end, and the numbers of their postings.
    let postingSlots: [(slot: Int, postingsID: UInt16)]
    /// For each slot its position in `postingSlots`, -1 where it keeps no postings; empty when no slot does.
    let postingIndexes: [Int]
    /// Slots whose values the history keeps when the object is deleted.
    let preservedSlots: [Int]

    init(_ layout: EntityLayout, schemaVersion: UInt16) {
        self.layout = layout
        self.schemaVersion = schemaVersion
        shape = BlockShape(layout)
        var postingSlots: [(slot: Int, postingsID: UInt16)] = []
        var indexes: [Int] = []
        for (slot, description) in layout.slots.enumerated() {
            indexes.append(description.postingsID == 0 ? -1 : postingSlots.count)
            if description.postingsID != 0 { postingSlots.append((slot, description.postingsID)) }
        }
        self.postingSlots = postingSlots
        postingIndexes = postingSlots.isEmpty ? [] : indexes
        preservedSlots = layout.slots.indices.filter { layout.slots[$0].preservedInHistory }
    }
}
