import StrataLog

/// What a link refers to, by side.
package struct LinkRefs {
    let first: ObjectRef
    let second: ObjectRef

    package subscript(side: Int) -> ObjectRef { side == 0 ? first : second }
}

/// Goes through the deleted links of a group of changes and tells what they referred to, where that was preserved: it
/// was not before the history kept the ends of links.
struct PreservedLinks {
    private let entity: UInt16
    private let versions: SlotVersions
    private var blocks: ArraySlice<Block>
    private var row = 0

    init(_ group: ChangeGroup, _ versions: SlotVersions) {
        (entity, self.versions, blocks) = (group.entity, versions, group.tombstones[...])
    }

    /// Of the next link of the group.
    mutating func next() throws(StoreError) -> LinkRefs? {
        while let block = blocks.first, row >= block.rowCount {
            blocks.removeFirst()
            row = 0
        }
        guard let block = blocks.first else { return nil }
        defer { row += 1 }
        guard let first = try ref(0, of: block), let second = try ref(1, of: block) else { return nil }
        return LinkRefs(first: first, second: second)
    }

    private func ref(_ side: Int, of block: Block) throws(StoreError) -> ObjectRef? {
        // The block shows what was deleted, in the slots of that time.
        guard let slot = try versions.slot(side, of: entity, inVersion: block.schemaVersion) else { return nil }
        let column = try block.column(slot)
        return column.isNull(row) ? nil : column.reference(row)
    }
}
