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
        let all = CompiledPredicate.everyRow
        let scan = CompiledScan(
            handle, snapshot, all, root: search.root, shape, entities: search.entities, reading: [path.rest])
        let count = search.rowCount
        var filling = Filling(
            ColumnChunkBuilder(path.rest.kind.valueKind, rowCount: count, handle.columnChunks.pages), count)
        do {
            try scan.run(.whole, turn) { rowGroup in
                let columns = try rowGroup.parts.indices.map { try rowGroup.column(path.rest, ofPart: $0) }
                return (rowGroup, columns)
            } take: { (part: (rowGroup: ScannedRowGroup, columns: [ComputedColumn])) in
                filling.take(part.rowGroup, part.columns)
            }
        } catch is NotCompiled {
            return nil
        }
        return filling.finish()
    }

    /// Puts a table together, row group by row group.
    private struct Filling {
        private let builder: ColumnChunkBuilder
        /// Of all objects.
        private let count: Int
        private var rows: [Int32] = []
        private var firstKey: UInt64 = 0
        private var fits = true

        init(_ builder: ColumnChunkBuilder, _ count: Int) {
            self.builder = builder
            self.count = count
            rows.reserveCapacity(count)
        }

        /// Takes in all objects of a row group, neighbours together. False when there can be no table.
        mutating func take(_ rowGroup: ScannedRowGroup, _ columns: [ComputedColumn]) -> Bool {
            var part = 0
            // Rows of the part that have been counted and not yet been copied.
            var waiting = 0..<0
            rowGroup.forEach { index, row, key in
                guard fits else { return }
                let next = builder.count + waiting.count
                if rows.isEmpty { firstKey = key }
                guard next < count, key - firstKey < UInt64(count) * PathTable.keysPerObjectMaximum + 4_096 else {
                    fits = false
                    return
                }
                let gap = key - firstKey - UInt64(rows.count)
                if gap > 0 { rows.append(contentsOf: repeatElement(-1, count: Int(gap))) }
                rows.append(Int32(next))
                if index == part, row == waiting.upperBound, !waiting.isEmpty {
                    waiting = waiting.lowerBound..<row + 1
                    return
                }
                if !waiting.isEmpty { fits = builder.append(columns[part].view, waiting) }
                (part, waiting) = (index, row..<row + 1)
            }
            if fits, !waiting.isEmpty { fits = builder.append(columns[part].view, waiting) }
            return fits
        }

        /// Nil where there can be no table.
        func finish() -> PathTable? {
            guard fits else { return nil }
            builder.appendNothing(count - builder.count)
            return PathTable(ColumnChunk(builder, []), rows, firstKey)
        }
    }
}
