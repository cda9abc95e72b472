extension Block {
    /// Whether the large values that a row refers to are still there: when the row was not replaced yet, compaction may
    /// have moved both and left this copy of the row behind.
    func hasLargeValues(of row: Int, in snapshot: Snapshot) throws(StoreError) -> Bool {
        let holes = snapshot.epoch.compaction.holes
        guard !holes.isEmpty, hasExternals else { return true }
        for slot in 0..<slotCount where layout.slots[slot].kind.fixedWidth == 0 {
            let column = try column(slot)
            if !column.isNull(row), column.isExternal(row), holes.contains(column.external(row).segment) {
                return false
            }
        }
        return true
    }
}
