import CStrataSupport
import Foundation
import StrataLog

// Loops over columns of fixed width, one for each type.
extension ColumnEvaluator {
    func integers(
        _ column: ColumnView, _ kind: SlotKind, _ rows: RowBits, _ nullResult: Bool, _ low: Int64, _ high: Int64,
        _ isNegated: Bool
    ) {
        switch kind {
        case .bool: range(column, rows, nullResult, low, high, isNegated, strata_keep_range_u8)
        case .int16: range(column, rows, nullResult, low, high, isNegated, strata_keep_range_i16)
        case .int32: range(column, rows, nullResult, low, high, isNegated, strata_keep_range_i32)
        default: range(column, rows, nullResult, low, high, isNegated, strata_keep_range_i64)
        }
    }

    private func range<T: FixedWidthInteger & BitwiseCopyable>(
        _ column: ColumnView, _ rows: RowBits, _ nullResult: Bool, _ low: Int64, _ high: Int64, _ isNegated: Bool,
        _ test: (UnsafePointer<T>, Int, T, T, Bool, UnsafeMutablePointer<UInt64>) -> Void
    ) {
        precondition(Int(column.width) == MemoryLayout<T>.size, "the slot has another kind")
        // In the column's own type, so that several fit into a register.
        let (least, greatest) = (T(clamping: low), T(clamping: high))
        let meets = low <= high && Int64(least) <= high && Int64(greatest) >= low
        keep(column, rows, nullResult) { words, count in
            if meets {
                test(column.values.assumingMemoryBound(to: T.self), count, least, greatest, isNegated, words)
            } else if !isNegated {
                rows.clear()
            }
        }
    }

    /// Keeps the rows whose values a test of all values at once lets stand; null ones where `nullResult` says so. What
    /// the test makes of the values of null rows does not matter.
    @inline(__always)
    private func keep(
        _ column: ColumnView, _ rows: RowBits, _ nullResult: Bool,
        _ test: (_ words: UnsafeMutablePointer<UInt64>, _ rowCount: Int) -> Void
    ) {
        precondition(rows.wordCount == RowBits.wordCount(rows: column.rowCount), "bits of other rows")
        guard column.nulls != nil else { return test(rows.words, column.rowCount) }
        let nulls = borrow(rows.wordCount)
        defer { giveBack(nulls) }
        for index in 0..<rows.wordCount { nulls.words[index] = rows.words[index] & (column.nullWord(index) ?? 0) }
        test(rows.words, column.rowCount)
        if nullResult { rows.formUnion(nulls) } else { rows.subtract(nulls) }
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

    /// What is no number is different from everything and has no order.
    func real(
        _ column: ColumnView, _ kind: SlotKind, _ rows: RowBits, _ nullResult: Bool, _ relation: Relation,
        _ value: Double
    ) {
        let related = relation.related
        if kind == .float {
            precondition(column.width == 4, "the slot has another kind")
            keep(column, rows, nullResult) { words, count in
                strata_keep_related_f32(
                    column.values.assumingMemoryBound(to: Float.self), count, related, value, words)
            }
        } else {
            precondition(column.width == 8, "the slot has another kind")
            keep(column, rows, nullResult) { words, count in
                strata_keep_related_f64(
                    column.values.assumingMemoryBound(to: Double.self), count, related, value, words)
            }
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

extension Relation {
    fileprivate var related: StrataRelation {
        switch self {
        case .less: StrataLess
        case .lessOrEqual: StrataLessOrEqual
        case .greater: StrataGreater
        case .greaterOrEqual: StrataGreaterOrEqual
        case .equal: StrataEqual
        case .notEqual: StrataNotEqual
        }
    }
}
