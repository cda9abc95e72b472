import StrataLog

/// A row group as one scan sees it: the columns that it reads, by the slots of its own entity.
package struct ScannedColumns {
    package let rowGroup: RowGroup
    /// By slot; nil for those that the scan has not asked for.
    private let chunks: [ColumnChunk?]

    /// - Parameter ids: of the columns, all of which the row group has.
    init(_ rowGroup: RowGroup, _ ids: [ColumnID]) {
        self.rowGroup = rowGroup
        var chunks = [ColumnChunk?](repeating: nil, count: Int(ids.last?.slot ?? 0) + 1)
        for id in ids { chunks[Int(id.slot)] = rowGroup.column(id) }
        self.chunks = chunks
    }

    func column(_ slot: Int) -> ColumnChunk {
        guard slot < chunks.count, let chunk = chunks[slot] else {
            preconditionFailure("the scan has not asked for slot \(slot)")
        }
        return chunk
    }

    /// Removes the rows that the zone maps of their blocks rule out. Returns how many blocks and rows those are.
    ///
    /// - Parameter wanted: the entities whose rows are asked.
    func prune(
        _ rows: RowBits, _ program: CompiledPredicate.Node, of wanted: EntityNumbers
    ) -> (blocks: Int, rows: Int) {
        var pruned = (blocks: 0, rows: 0)
        guard rowGroup.segments.count <= RowGroup.segmentsWithZonesMaximum,
            program.hasTest(where: { $0.hasZones && column($0.slot).zonesTellApart })
        else { return pruned }
        for segment in rowGroup.segments.indices {
            let runs = rowGroup.runs(ofSegment: segment)
            guard wanted.contains(rowGroup.entity(ofRun: runs.lowerBound)) else { continue }
            let verdict = program.verdict { test in
                guard test.hasZones, let zone = column(test.slot).zone(segment) else { return .some }
                return test.verdict(zone)
            }
            guard verdict == .none else { continue }
            let range = Int(rowGroup.starts[runs.lowerBound])..<Int(rowGroup.starts[runs.upperBound])
            rows.remove(range)
            pruned.blocks += 1
            pruned.rows += range.count
        }
        return pruned
    }
}
