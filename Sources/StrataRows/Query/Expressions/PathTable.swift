import StrataLog

/// What a path leads to, for all objects of its destination, to be found by their keys. Immutable.
final class PathTable {
    /// The values of all objects.
    private let column: ColumnChunk
    /// For each key from the first one on the row in the column; -1 where there is no object.
    private let rows: [Int32]
    private let firstKey: UInt64

    /// More keys for each object than this are not worth a table.
    private static let keysPerObjectMaximum: UInt64 = 16

    private init(_ column: ColumnChunk, _ rows: [Int32], _ firstKey: UInt64) {
        self.column = column
        self.rows = rows
        self.firstKey = firstKey
    }

    var view: ColumnView { column.view }

    /// The row of an object in ``view``.
    @inline(__always)
    func row(_ key: UInt64) -> Int? {
        guard key >= firstKey, key - firstKey < UInt64(rows.count) else { return nil }
        let row = rows[Int(key - firstKey)]
        return row < 0 ? nil : Int(row)
    }

    /// Nil when the values take too much memory together, or their keys lie too far from each other.
    ///
    /// - Complexity: O(n) in the objects of the destination.
    static func make(
        _ path: RowPath, _ handle: StoreHandle, _ snapshot: Snapshot, _ turn: ScanTurn?
    ) throws -> PathTable? {
        guard let shape = path.relationship.destination else { return nil }
        let search = RowSearch(handle, snapshot, shape, family: shape.family, turn: turn)
        guard search.root != 0 else { return nil }
        let all = CompiledPredicate(program: .constant(true), rest: nil)
        let scan = CompiledScan(
            handle, snapshot, all, root: search.root, shape, entities: search.entities, reading: [path.rest])
        let count = search.rowCount
        let builder = ColumnChunkBuilder(path.rest.kind.valueKind, rowCount: count, handle.columnChunks.pages)
        var rows: [Int32] = []
        var firstKey: UInt64 = 0
        var fits = true
        func take(_ part: (rowGroup: ScannedRowGroup, columns: [ComputedColumn])) -> Bool {
            part.rowGroup.forEach { index, row, key in
                guard fits, builder.count < count else {
                    fits = false
                    return
                }
                if rows.isEmpty { firstKey = key }
                let gap = key - firstKey - UInt64(rows.count)
                guard key - firstKey < UInt64(count) * Self.keysPerObjectMaximum + 4_096 else {
                    fits = false
                    return
                }
                if gap > 0 { rows.append(contentsOf: repeatElement(-1, count: Int(gap))) }
                rows.append(Int32(builder.count))
                fits = builder.append(part.columns[index].view, row..<row + 1)
            }
            return fits
        }
        do {
            try scan.run(.whole, turn) { rowGroup in
                let columns = try rowGroup.parts.indices.map { try rowGroup.column(path.rest, ofPart: $0) }
                return (rowGroup, columns)
            } take: {
                take($0)
            }
        } catch is NotCompiled {
            return nil
        }
        guard fits else { return nil }
        builder.appendNothing(count - builder.count)
        return PathTable(ColumnChunk(builder, []), rows, firstKey)
    }
}
