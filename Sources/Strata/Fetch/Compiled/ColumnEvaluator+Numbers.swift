import Foundation
import StrataLog

// Loops over columns of fixed width, one for each type.
extension ColumnEvaluator {
    func integers(
        _ column: ColumnView, _ kind: SlotKind, _ rows: RowBits, _ nullResult: Bool, _ low: Int64, _ high: Int64,
        _ isNegated: Bool
    ) {
        switch kind {
        case .bool: range(column, rows, nullResult, low, high, isNegated, UInt8.self)
        case .int16: range(column, rows, nullResult, low, high, isNegated, Int16.self)
        case .int32: range(column, rows, nullResult, low, high, isNegated, Int32.self)
        default: range(column, rows, nullResult, low, high, isNegated, Int64.self)
        }
    }

    @inline(__always)
    private func range<T: FixedWidthInteger & BitwiseCopyable>(
        _ column: ColumnView, _ rows: RowBits, _ nullResult: Bool, _ low: Int64, _ high: Int64, _ isNegated: Bool,
        _: T.Type
    ) {
        precondition(Int(column.width) == MemoryLayout<T>.size, "the slot has another kind")
        let values = column.values.assumingMemoryBound(to: T.self)
        // In the column's own type, so that several fit into a register.
        let (least, greatest) = (T(clamping: low), T(clamping: high))
        guard low <= high, Int64(least) <= high, Int64(greatest) >= low else {
            rows.filter(column, nullResult: nullResult) { _ in isNegated }
            return
        }
        if isNegated {
            rows.filter(column, nullResult: nullResult) { row in
                let value = values[row]
                return value < least || value > greatest
            }
        } else {
            rows.filter(column, nullResult: nullResult) { row in
                let value = values[row]
                return value >= least && value <= greatest
            }
        }
    }

    func integerSet(_ column: ColumnView, _ kind: SlotKind, _ rows: RowBits, _ set: IntegerSet) {
        rows.filter(column, nullResult: false) { row in
            switch kind {
            case .bool: set.contains(column.bool(row) ? 1 : 0)
            case .int16: set.contains(Int64(column.int16(row)))
            case .int32: set.contains(Int64(column.int32(row)))
            default: set.contains(column.int64(row))
            }
        }
    }

    func real(
        _ column: ColumnView, _ kind: SlotKind, _ rows: RowBits, _ nullResult: Bool, _ relation: Relation,
        _ value: Double
    ) {
        if kind == .float {
            precondition(column.width == 4, "the slot has another kind")
            let values = column.values.assumingMemoryBound(to: Float.self)
            compare(column, rows, nullResult, relation, value) { Double(values[$0]) }
        } else {
            precondition(column.width == 8, "the slot has another kind")
            let values = column.values.assumingMemoryBound(to: Double.self)
            compare(column, rows, nullResult, relation, value) { values[$0] }
        }
    }

    /// What is no number is different from everything and has no order.
    @inline(__always)
    private func compare(
        _ column: ColumnView, _ rows: RowBits, _ nullResult: Bool, _ relation: Relation, _ value: Double,
        _ load: (Int) -> Double
    ) {
        switch relation {
        case .less: rows.filter(column, nullResult: nullResult) { load($0) < value }
        case .lessOrEqual: rows.filter(column, nullResult: nullResult) { load($0) <= value }
        case .greater: rows.filter(column, nullResult: nullResult) { load($0) > value }
        case .greaterOrEqual: rows.filter(column, nullResult: nullResult) { load($0) >= value }
        case .equal: rows.filter(column, nullResult: nullResult) { load($0) == value }
        case .notEqual: rows.filter(column, nullResult: nullResult) { load($0) != value }
        }
    }

    func uuid(
        _ column: ColumnView, _ rows: RowBits, _ nullResult: Bool, _ relation: Relation, _ high: UInt64, _ low: UInt64
    ) {
        rows.filter(column, nullResult: nullResult) { row in
            let words = column.uuid(row)
            let value = (words.0.bigEndian, words.1.bigEndian)
            return relation.holds(value < (high, low) ? -1 : value == (high, low) ? 0 : 1)
        }
    }
}
