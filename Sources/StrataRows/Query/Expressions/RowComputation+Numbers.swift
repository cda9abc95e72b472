import Foundation
import StrataLog

// Arithmetic and functions of numbers, with the results of `Arithmetic` and `PredicateFunction`.
extension RowComputation {
    func integers(
        _ operation: ColumnArithmetic, _ left: Numbers<Int64>, _ right: Numbers<Int64>
    ) throws(StoreError) -> ComputedColumn {
        switch operation {
        case .add: try combine(left, right) { Self.checked($0.addingReportingOverflow($1)) }
        case .subtract: try combine(left, right) { Self.checked($0.subtractingReportingOverflow($1)) }
        case .multiply: try combine(left, right) { Self.checked($0.multipliedReportingOverflow(by: $1)) }
        case .divide:
            try combine(left, right) { left, right in
                right == 0 ? (0, .null) : Self.checked(left.dividedReportingOverflow(by: right))
            }
        case .remainder:
            try combine(left, right) { left, right in
                right == 0 ? (0, .null) : (left.remainderReportingOverflow(dividingBy: right).partialValue, .value)
            }
        case .and: try combine(left, right) { ($0 & $1, .value) }
        case .or: try combine(left, right) { ($0 | $1, .value) }
        case .xor: try combine(left, right) { ($0 ^ $1, .value) }
        case .shiftLeft: try combine(left, right) { ($0 << $1, .value) }
        case .shiftRight: try combine(left, right) { ($0 >> $1, .value) }
        }
    }

    /// Integers that overflow become floating point.
    @inline(__always)
    private static func checked(_ result: (partialValue: Int64, overflow: Bool)) -> (Int64, Outcome) {
        (result.partialValue, result.overflow ? .exceptional : .value)
    }

    @inline(__always)
    private func combine<Value: ComputedNumber>(
        _ left: Numbers<Value>, _ right: Numbers<Value>, _ body: (Value, Value) -> (Value, Outcome)
    ) throws(StoreError) -> ComputedColumn {
        let exceptions = Self.union(left.exceptions, right.exceptions)
        return try fill(Value.slotKind, Value.self, exceptions: exceptions) { row in
            if left.isNull(row) || right.isNull(row) { return (0, .null) }
            return body(left[row], right[row])
        }
    }

    func reals(
        _ operation: ColumnArithmetic, _ left: Numbers<Double>, _ right: Numbers<Double>
    ) throws(StoreError) -> ComputedColumn {
        switch operation {
        case .add: try combine(left, right) { ($0 + $1, .value) }
        case .subtract: try combine(left, right) { ($0 - $1, .value) }
        case .multiply: try combine(left, right) { ($0 * $1, .value) }
        case .divide: try combine(left, right) { ($0 / $1, .value) }
        case .remainder:
            try combine(left, right) { left, right in
                right == 0 ? (0, .null) : (left.truncatingRemainder(dividingBy: right), .value)
            }
        case .and, .or, .xor, .shiftLeft, .shiftRight: preconditionFailure("bits of floating point")
        }
    }

    // MARK: Functions

    func call(_ function: ColumnFunction, _ argument: RowExpression) throws(StoreError) -> ComputedColumn {
        switch function {
        case .uppercase, .lowercase, .canonical: return try text(function, try column(argument))
        case .length: return try lengths(try column(argument))
        case .squareRoot: return try map(try reals(argument)) { ($0.squareRoot(), .value) }
        case .logarithm: return try map(try reals(argument)) { (log10($0), .value) }
        case .naturalLogarithm: return try map(try reals(argument)) { (log($0), .value) }
        case .exponential: return try map(try reals(argument)) { (exp($0), .value) }
        case .complement: return try map(try integers(argument)) { (~$0, .value) }
        case .absolute:
            guard argument.kind.isInteger else {
                return try map(try reals(argument)) { ($0 < 0 ? 0 - $0 : $0, .value) }
            }
            return try map(try integers(argument)) { value in
                value < 0 ? Self.checked((0 as Int64).subtractingReportingOverflow(value)) : (value, .value)
            }
        case .floor: return try whole(argument) { $0.rounded(.down) }
        case .ceiling: return try whole(argument) { $0.rounded(.up) }
        case .truncate: return try whole(argument) { $0.rounded(.towardZero) }
        }
    }

    /// A whole number, which is an integer if it fits.
    @inline(__always)
    private func whole(
        _ argument: RowExpression, _ round: (Double) -> Double
    ) throws(StoreError) -> ComputedColumn {
        if argument.kind.isInteger { return try map(try integers(argument)) { ($0, .value) } }
        let values = try reals(argument)
        return try fill(.int64, Int64.self, exceptions: values.exceptions) { row in
            if values.isNull(row) { return (0, .null) }
            guard let whole = Int64(exactly: round(values[row])) else { return (0, .exceptional) }
            return (whole, .value)
        }
    }

    @inline(__always)
    private func map<Value: ComputedNumber>(
        _ values: Numbers<Value>, _ body: (Value) -> (Value, Outcome)
    ) throws(StoreError) -> ComputedColumn {
        try fill(Value.slotKind, Value.self, exceptions: values.exceptions) { row in
            values.isNull(row) ? (0, .null) : body(values[row])
        }
    }
}

/// The two widths in which numbers are computed.
private protocol ComputedNumber: BitwiseCopyable, Numeric {
    static var slotKind: SlotKind { get }
}

extension Int64: ComputedNumber {
    fileprivate static var slotKind: SlotKind { .int64 }
}

extension Double: ComputedNumber {
    fileprivate static var slotKind: SlotKind { .double }
}
