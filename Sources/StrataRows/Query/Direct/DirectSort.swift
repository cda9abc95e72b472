import StrataLog

/// Sorts a few rows by columns.
struct DirectSort {
    private struct Entry {
        let ref: ObjectRef
        let block: Block
        let row: Int
        let code: UInt64
    }

    private let sorts: [ColumnSort]
    private let log: LogStore
    private let snapshot: Snapshot

    init(_ sorts: [ColumnSort], _ log: LogStore, _ snapshot: Snapshot) {
        self.sorts = sorts
        self.log = log
        self.snapshot = snapshot
    }

    /// - Parameter refs: by key.
    /// - Returns: nil when a value lies out of line.
    /// - Complexity: O(n log n)
    func sorted(_ refs: [ObjectRef]) throws(StoreError) -> [ObjectRef]? {
        var entries: [Entry] = []
        entries.reserveCapacity(refs.count)
        var isInLine = true
        let first = sorts[0]
        try RowPart.forEach(refs, log, snapshot) { index, block, row throws(StoreError) in
            for sort in sorts where sort.kind == .string {
                let column = try block.column(sort.slot)
                if !column.isNull(row), column.isExternal(row) { isInLine = false }
            }
            let code = isInLine ? first.order.code(try block.column(first.slot), row) : 0
            entries.append(Entry(ref: refs[index], block: block, row: row, code: code))
            return isInLine
        }
        guard isInLine else { return nil }
        try order(&entries)
        return entries.map(\.ref)
    }

    private func order(_ entries: inout [Entry]) throws(StoreError) {
        var failure: StoreError?
        entries.sort { left, right in
            if left.code != right.code { return left.code < right.code }
            if failure != nil { return false }
            do throws(StoreError) {
                for sort in sorts {
                    let order = sort.order.order(
                        try left.block.column(sort.slot), left.row, try right.block.column(sort.slot), right.row)
                    if order != 0 { return order < 0 }
                }
            } catch {
                failure = error
            }
            return left.ref.key < right.ref.key
        }
        if let failure { throw failure }
    }
}
