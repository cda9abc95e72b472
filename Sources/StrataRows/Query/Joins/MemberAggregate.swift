import Foundation
import StrataLog

/// What a collection operator makes of the values of an owner's members, one by one.
struct MemberAggregate {
    enum Function {
        case sum, average, minimum, maximum

        init?(operator name: String) {
            switch name {
            case "@sum": self = .sum
            case "@avg": self = .average
            case "@min": self = .minimum
            case "@max": self = .maximum
            default: return nil
            }
        }

        /// Whether values of a kind are added up to the last digit as the interpreter does it, which takes members in
        /// the order of the relationship.
        func isComputed(of kind: SlotKind, _ relationship: RelationshipShape) -> Bool {
            switch kind {
            case .bool, .int16, .int32: return true
            case .int64, .float, .double, .date:
                let isOrderFree = self == .minimum || self == .maximum
                return isOrderFree || !relationship.isOrdered && !relationship.isSymmetric
            default: return false
            }
        }
    }

    /// A value of a column that an operator takes.
    enum Value {
        case null
        case integer(Int64)
        case real(Double)

        init(_ column: ColumnView, _ row: Int, _ kind: SlotKind) {
            if column.isNull(row) {
                self = .null
                return
            }
            switch kind {
            case .bool: self = .integer(column.bool(row) ? 1 : 0)
            case .int16: self = .integer(Int64(column.int16(row)))
            case .int32: self = .integer(Int64(column.int32(row)))
            case .int64: self = .integer(column.int64(row))
            case .float: self = .real(Double(column.float(row)))
            default: self = .real(column.double(row))
            }
        }
    }

    private(set) var count = 0
    private var sum = ArithmeticSum()
    /// The least or the greatest value; null when there is none.
    private(set) var best = Value.null

    mutating func add(_ value: Value, _ function: Function) {
        count += 1
        switch (function, value) {
        case (_, .null): return
        case (.sum, .integer(let value)), (.average, .integer(let value)): sum.add(.integer(value))
        case (.sum, .real(let value)), (.average, .real(let value)): sum.add(.double(value))
        case (.minimum, .integer(let new)):
            if case .integer(let old) = best, old <= new { return }
            best = value
        case (.maximum, .integer(let new)):
            if case .integer(let old) = best, old >= new { return }
            best = value
        case (.minimum, .real(let new)):
            if new.isNaN { return }
            if case .real(let old) = best, !(new < old) { return }
            best = value
        case (.maximum, .real(let new)):
            if new.isNaN { return }
            if case .real(let old) = best, !(new > old) { return }
            best = value
        }
    }

    /// Takes in a member whose values nobody asks for.
    mutating func addMember() { count += 1 }

    /// The sum of the values.
    var total: Arithmetic { sum.value }

    /// 0 of no members.
    var average: Double { count == 0 ? 0 : total.doubleValue / Double(count) }

    /// What the operator gives; the aggregate of no members has its value, too.
    func result(_ function: Function, _ kind: SlotKind) -> Any? {
        switch function {
        case .sum: return total.anyValue
        case .average: return average
        case .minimum, .maximum:
            switch best {
            case .null: return nil
            case .integer(let value): return Int(value)
            case .real(let value):
                return kind == .date ? Date(timeIntervalSinceReferenceDate: value) : value
            }
        }
    }
}
