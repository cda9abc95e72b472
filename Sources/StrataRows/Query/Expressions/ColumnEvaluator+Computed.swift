import Foundation
import StrataLog

extension ColumnEvaluator {
    /// Leaves of the rows those whose computed values satisfy a condition.
    func filter(_ rows: RowBits, _ condition: ComputedCondition, _ part: ScanPart) throws(StoreError) {
        let computation = RowComputation(evaluator: self, part: part, rows: rows)
        var columns: [ComputedColumn] = []
        var exceptions: [Int32] = []
        for expression in condition.columns {
            let column = try computation.column(expression)
            exceptions = RowComputation.union(exceptions, column.exceptions)
            columns.append(column)
        }
        for row in exceptions { rows.remove(Int(row)) }
        // What the columns lie in lives as long as the part.
        let computed = ScanPart.computed(columns)
        try filter(rows, condition.program, computed)
        withExtendedLifetime(computed) {}
        for row in exceptions where try interpreter.holds(condition.exceptional.predicate, part, Int(row)) {
            rows.insert(Int(row)..<Int(row) + 1)
        }
    }

    /// Leaves of the rows those that satisfy a condition by the interpreter's answer.
    func filter(_ rows: RowBits, _ condition: InterpretedCondition, _ part: ScanPart) throws(StoreError) {
        try rows.forEach(in: 0..<part.rowCount) { row throws(StoreError) in
            if try !interpreter.holds(condition.predicate, part, row) { rows.remove(row) }
        }
    }
}
