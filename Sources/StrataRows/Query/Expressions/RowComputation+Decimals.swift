import Foundation
import StrataLog

// Arithmetic of decimals, with the results of `Arithmetic`: Foundation rounds quotients, and whatever else is rounded
// is left to the interpreter.
extension RowComputation {
    /// What an operation on decimals takes: decimals, or numbers that are made decimals.
    enum Decimals {
        case constant(ColumnDecimal?)
        case column(ComputedColumn, SlotKind)

        var exceptions: [Int32] {
            if case .column(let column, _) = self { return column.exceptions }
            return []
        }

        /// Whether the values are decimals or integers; unknown for constants.
        var isExact: Bool {
            if case .column(_, let kind) = self { return kind == .decimal || kind.isInteger }
            return false
        }

        func isNull(_ row: Int) -> Bool {
            if case .column(let column, _) = self { return column.view.isNull(row) }
            return false
        }

        /// Nil for what is no number.
        func value(_ row: Int) -> ColumnDecimal? {
            switch self {
            case .constant(let value): value
            case .column(let column, let kind): ColumnDecimal(column.view, row, kind)
            }
        }
    }

    func decimals(_ expression: RowExpression) throws(StoreError) -> Decimals {
        switch expression {
        case .integer(let value): .constant(ColumnDecimal(value))
        case .real(let value): .constant(ColumnDecimal(shortest: value))
        default: .column(try column(expression), expression.kind)
        }
    }

    /// Rows whose sum or product would be rounded are exceptional.
    func decimals(
        _ operation: ColumnArithmetic, _ left: Decimals, _ right: Decimals
    ) throws(StoreError) -> ComputedColumn {
        try appending(.decimal, exceptions: Self.union(left.exceptions, right.exceptions)) { row, builder in
            if left.isNull(row) || right.isNull(row) { return nil }
            // There is no quotient by zero, unless that is one in floating point.
            if operation == .divide, right.value(row)?.isZero == true { return right.isExact ? nil : false }
            guard let result = Self.result(operation, left.value(row), right.value(row)) else { return false }
            return result.withCanonicalBytes { builder.append($0) }
        }
    }

    /// Nil for what is rounded, or no number.
    private static func result(
        _ operation: ColumnArithmetic, _ left: ColumnDecimal?, _ right: ColumnDecimal?
    ) -> ColumnDecimal? {
        guard let left, let right else { return nil }
        switch operation {
        case .add: return ColumnDecimal.sum(left, right)
        case .subtract: return ColumnDecimal.sum(left, right.negated)
        case .multiply: return ColumnDecimal.product(left, right)
        case .divide: return ColumnDecimal(left.decimal / right.decimal)
        case .remainder, .and, .or, .xor, .shiftLeft, .shiftRight:
            preconditionFailure("\(operation) of decimals")
        }
    }
}

extension ColumnDecimal {
    /// A number of any kind; nil for what is none.
    ///
    /// - Precondition: the value is not null.
    @inline(__always)
    package init?(_ view: ColumnView, _ row: Int, _ kind: SlotKind) {
        switch kind {
        case .decimal: self.init(view.bytes(row))
        case .float, .double, .date: self.init(shortest: view.real(row, kind))
        default: self.init(view.integer(row, kind))
        }
    }
}
