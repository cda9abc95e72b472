/// Copies the rows of a snapshot into another store, without what cannot be read.
struct SalvageWriter {
    let snapshot: Snapshot
    let store: LogStore
    private(set) var report: SalvageReport

    /// The next key of each root entity that is free.
    private var reserved: [UInt16: UInt64] = [:]

    private static let rowsPerTransaction = 50_000

    init(snapshot: Snapshot, store: LogStore, report: SalvageReport) {
        self.snapshot = snapshot
        self.store = store
        self.report = report
    }

    /// - Throws: `.io` when the new store cannot be written.
    mutating func run(nextKeys: [StoreState.KeyRange], _ progress: (Int, Int) -> Void) throws(StoreError) {
        let total = snapshot.counts.reduce(0) { $0 + max($1, 0) }
        var transaction = store.makeTransaction()
        var pending = 0
        for range in nextKeys { reserve(upTo: range.next, root: range.root) }
        for root in snapshot.layout.roots {
            try snapshot.forEachRun(root: root) { run throws(StoreError) in
                reserve(upTo: run.firstKey + UInt64(run.count), root: root)
                do throws(StoreError) {
                    let block = try snapshot.source.block(at: run.location)
                    let writer = transaction.writer(for: block.entity)
                    for index in 0..<run.count {
                        try copy(Row(block: block, index: run.location.row + index), writer)
                    }
                    report.rows += run.count
                    pending += run.count
                } catch {
                    // It could be read a moment ago: the disk is failing, or the new one is full.
                    guard error.code != .io else { throw error }
                    report.lostRows += run.count
                    report.record(error)
                }
                if pending >= Self.rowsPerTransaction {
                    _ = try store.commit(transaction)
                    transaction = store.makeTransaction()
                    pending = 0
                    progress(report.rows, total)
                }
                return true
            }
        }
        _ = try store.commit(transaction)
        progress(total, total)
    }

    /// Lets no key below this one be given out again. Before the commit that uses them: that makes it last.
    private mutating func reserve(upTo next: UInt64, root: UInt16) {
        guard next > reserved[root] ?? 1 else { return }
        store.reserveKeys(root: root, through: next - 1)
        reserved[root] = next
    }

    private mutating func copy(_ row: Row, _ writer: EntityWriter) throws(StoreError) {
        // Columns that do not inflate are found before the row is begun.
        for slot in 0..<row.block.slotCount { _ = try row.block.column(slot) }
        writer.beginInsert(key: row.ref.key)
        for slot in 0..<row.block.slotCount {
            let column = try row.block.column(slot)
            if column.isNull(row.index) { continue }
            if column.kind == .reference, try snapshot.locate(column.reference(row.index)).isAbsent {
                report.clearedReferences += 1
            } else if column.kind.fixedWidth == 0, column.isExternal(row.index) {
                do throws(StoreError) {
                    let bytes = try snapshot.source.read(column.external(row.index))
                    bytes.withUnsafeBytes { writer.set(slot, bytes: $0) }
                } catch {
                    report.lostValues += 1
                    report.record(error)
                }
            } else {
                try writer.copy(slot, from: row, slot: slot)
            }
        }
        _ = writer.endRow()
    }
}
