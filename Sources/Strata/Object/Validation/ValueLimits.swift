import Foundation
import StrataLog
import StrataRows
import StrataSchema

/// The validation predicates of an attribute that compare its value, or a text's length, with a constant: what a
/// model's designer sets as limits.
///
/// To evaluate such a predicate takes some 5,000 instructions, as much as all else that inserting an object costs, so a
/// save tests the value where it lies. What lies within all limits satisfies all of these predicates. Of anything else
/// they are asked themselves.
struct ValueLimits {
    private enum Form {
        case int16(Bounds<Int64>)
        case int32(Bounds<Int64>)
        case int64(Bounds<Int64>)
        case float(Bounds<Double>)
        case double(Bounds<Double>)
        /// Seconds since the reference date.
        case date(Bounds<Double>)
        case decimal(Bounds<Decimal>)
        /// In units of UTF-16.
        case length(Bounds<Int64>)
    }

    private struct Bounds<Value: Comparable> {
        var lower: Value?
        var upper: Value?
        /// Whether the bound itself lies outside.
        var isLowerOpen = false
        var isUpperOpen = false

        func contain(_ value: Value) -> Bool {
            if let lower, isLowerOpen ? value <= lower : value < lower { return false }
            if let upper, isUpperOpen ? value >= upper : value > upper { return false }
            return true
        }

        /// Narrows them; false if the operator gives no bound.
        mutating func add(_ type: NSComparisonPredicate.Operator, _ bound: Value) -> Bool {
            switch type {
            case .greaterThan: addLower(bound, isOpen: true)
            case .greaterThanOrEqualTo: addLower(bound, isOpen: false)
            case .lessThan: addUpper(bound, isOpen: true)
            case .lessThanOrEqualTo: addUpper(bound, isOpen: false)
            case .equalTo:
                addLower(bound, isOpen: false)
                addUpper(bound, isOpen: false)
            default: return false
            }
            return true
        }

        private mutating func addLower(_ bound: Value, isOpen: Bool) {
            if let lower, bound < lower || bound == lower && !isOpen { return }
            (lower, isLowerOpen) = (bound, isOpen)
        }

        private mutating func addUpper(_ bound: Value, isOpen: Bool) {
            if let upper, bound > upper || bound == upper && !isOpen { return }
            (upper, isUpperOpen) = (bound, isOpen)
        }
    }

    private let form: Form
    private let token: SlotToken
    /// Positions of the predicates that are no limits.
    let others: [Int]

    /// Nil when no predicate is a limit.
    init?(_ predicates: [NSPredicate], _ shape: EntityShape, _ slot: Int) {
        let code = shape.codes[slot]
        token = SlotToken(shape: shape, index: slot, offset: Int(code.offset))
        let found: (form: Form, others: [Int])?
        switch code.kind {
        case .int16: found = Self.bounds(predicates, Self.integer).map { (.int16($0), $1) }
        case .int32: found = Self.bounds(predicates, Self.integer).map { (.int32($0), $1) }
        case .int64: found = Self.bounds(predicates, Self.integer).map { (.int64($0), $1) }
        case .float: found = Self.bounds(predicates, Self.real).map { (.float($0), $1) }
        case .double: found = Self.bounds(predicates, Self.real).map { (.double($0), $1) }
        case .date: found = Self.bounds(predicates, Self.seconds).map { (.date($0), $1) }
        case .decimal: found = Self.bounds(predicates, Self.decimal).map { (.decimal($0), $1) }
        case .string: found = Self.bounds(predicates, ofLength: true, Self.integer).map { (.length($0), $1) }
        case .bool, .uuid, .data, .uri, .transformable, .toOne: found = nil
        }
        guard let found else { return nil }
        (form, others) = found
    }

    /// Whether an object's value certainly lies within the limits; no value does.
    func hold(for object: NSManagedObject) -> Bool {
        // A number that its type does not hold is another one than the slot's; and who notes what is read notes what
        // an application asks for.
        guard object.flags.isDisjoint(with: [.numberOutOfRange, .readsNoted]) else { return false }
        switch form {
        case .int16(let bounds): return (object._value(token) as Int16?).map { bounds.contain(Int64($0)) } ?? true
        case .int32(let bounds): return (object._value(token) as Int32?).map { bounds.contain(Int64($0)) } ?? true
        case .int64(let bounds): return (object._value(token) as Int64?).map { bounds.contain($0) } ?? true
        case .float(let bounds): return (object._value(token) as Float?).map { Self.lies(Double($0), bounds) } ?? true
        case .double(let bounds): return (object._value(token) as Double?).map { Self.lies($0, bounds) } ?? true
        case .date(let bounds):
            return (object._value(token) as Date?).map { Self.lies($0.timeIntervalSinceReferenceDate, bounds) } ?? true
        case .decimal(let bounds):
            return (object._value(token) as Decimal?).map { !$0.isNaN && bounds.contain($0) } ?? true
        case .length(let bounds): return (object._value(token) as String?).map { Self.hasLength($0, bounds) } ?? true
        }
    }

    /// Not-a-number lies nowhere.
    private static func lies(_ value: Double, _ bounds: Bounds<Double>) -> Bool {
        !value.isNaN && bounds.contain(value)
    }

    private static func hasLength(_ text: String, _ bounds: Bounds<Int64>) -> Bool {
        // A unit of UTF-16 is one to three bytes of UTF-8: mostly their number is enough.
        let bytes = Int64(text.utf8.count)
        if bounds.contain((bytes + 2) / 3), bounds.contain(bytes) { return true }
        return bounds.contain(Int64(text.utf16.count))
    }

    // MARK: Reading predicates

    private static func bounds<Value: Comparable>(
        _ predicates: [NSPredicate], ofLength: Bool = false, _ convert: (Operand) -> Value?
    ) -> (Bounds<Value>, others: [Int])? {
        var bounds = Bounds<Value>()
        var others: [Int] = []
        for (index, predicate) in predicates.enumerated() {
            var narrowed = bounds
            if add(predicate, to: &narrowed, ofLength: ofLength, convert) {
                bounds = narrowed
            } else {
                others.append(index)
            }
        }
        return others.count == predicates.count ? nil : (bounds, others)
    }

    /// Whether all that a predicate asks is a bound. A subclass may ask something else.
    private static func add<Value: Comparable>(
        _ predicate: NSPredicate, to bounds: inout Bounds<Value>, ofLength: Bool, _ convert: (Operand) -> Value?
    ) -> Bool {
        if let compound = predicate as? CompoundPredicate {
            guard type(of: compound) == CompoundPredicate.self, compound.compoundPredicateType == .and else {
                return false
            }
            for part in compound.children {
                guard add(part, to: &bounds, ofLength: ofLength, convert) else { return false }
            }
            return true
        }
        guard let comparison = predicate as? NSComparisonPredicate,
            type(of: comparison) == NSComparisonPredicate.self,
            comparison.comparisonPredicateModifier == .direct, comparison.options == [],
            isSubject(comparison.leftExpression, ofLength: ofLength),
            case .constant(let constant) = comparison.rightExpression.form, let bound = convert(Operand(constant))
        else { return false }
        return bounds.add(comparison.predicateOperatorType, bound)
    }

    private static func isSubject(_ expression: NSExpression, ofLength: Bool) -> Bool {
        switch expression.form {
        case .evaluatedObject: return !ofLength
        case .keyPath(let operand, let path):
            if !ofLength || path.names != ["length"] { return false }
            if case .evaluatedObject? = operand?.form { return true }
            return operand == nil
        default: return false
        }
    }

    private static func integer(_ operand: Operand) -> Int64? {
        switch operand {
        case .integer(let value): value
        case .double(let value): Int64(exactly: value)
        default: nil
        }
    }

    private static func real(_ operand: Operand) -> Double? {
        switch operand {
        case .integer(let value): Double(exactly: value)
        case .double(let value): value.isNaN ? nil : value
        default: nil
        }
    }

    private static func seconds(_ operand: Operand) -> Double? {
        if case .date(let value) = operand { return value.isNaN ? nil : value }
        return real(operand)
    }

    private static func decimal(_ operand: Operand) -> Decimal? {
        operand.asDecimal.flatMap { $0.isNaN ? nil : $0 }
    }
}
