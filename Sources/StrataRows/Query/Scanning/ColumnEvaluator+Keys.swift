import StrataLog

// Tests of the rows' own keys.
extension ColumnEvaluator {
    /// Leaves the rows whose keys are in a set, or are not.
    func filter(_ rows: RowBits, _ part: ScanPart, _ keys: IntegerSet, isNegated: Bool) {
        switch part {
        case .block(let block):
            rows.forEach(in: 0..<part.rowCount) { row in
                if keys.contains(Int64(block.key(row))) == isNegated { rows.remove(row) }
            }
        case .rowGroup(let columns):
            let rowGroup = columns.rowGroup
            // The keys of a run follow each other.
            for (index, run) in rowGroup.runs.enumerated() {
                let first = Int(rowGroup.starts[index])
                let base = Int64(run.firstKey) - Int64(first)
                rows.forEach(in: first..<first + run.count) { row in
                    if keys.contains(base + Int64(row)) == isNegated { rows.remove(row) }
                }
            }
        case .computed: preconditionFailure("computed columns have no keys")
        }
    }
}
