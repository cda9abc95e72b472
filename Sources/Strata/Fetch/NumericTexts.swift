import Foundation

/// Makes numbers of the strings that a predicate compares with attributes that hold numbers.
///
/// Core Data's stores bind a constant in the type of the column that it is compared with, so that `age == "30"` finds
/// what `age == 30` does. A string that is no number is left alone and equals none.
struct NumericTexts {
    private let shape: EntityShape

    init(_ shape: EntityShape) {
        self.shape = shape
    }

    func apply(to predicate: NSPredicate) -> NSPredicate {
        switch predicate {
        case let comparison as NSComparisonPredicate: return apply(to: comparison)
        case let compound as NSCompoundPredicate:
            let parts = compound.subpredicates
            let changed = parts.map { apply(to: $0) }
            if zip(parts, changed).allSatisfy({ $0 === $1 }) { return predicate }
            return CompoundPredicate(type: compound.compoundPredicateType, subpredicates: changed)
        default: return predicate
        }
    }

    private func apply(to comparison: NSComparisonPredicate) -> NSPredicate {
        switch comparison.predicateOperatorType {
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo, .in, .between:
            break
        default: return comparison
        }
        let (left, right) = (comparison.leftExpression, comparison.rightExpression)
        if let kind = numericKind(left), let number = Self.number(right, kind) {
            return Self.copy(comparison, left, number)
        }
        if let kind = numericKind(right), let number = Self.number(left, kind) {
            return Self.copy(comparison, number, right)
        }
        return comparison
    }

    private static func copy(
        _ comparison: NSComparisonPredicate, _ left: NSExpression, _ right: NSExpression
    ) -> NSPredicate {
        NSComparisonPredicate(
            left, right, comparison.comparisonPredicateModifier, comparison.predicateOperatorType, comparison.options,
            comparison.customSelector)
    }

    /// What the attribute at the end of a key path holds, if that is numbers.
    private func numericKind(_ expression: NSExpression) -> SlotKind? {
        guard case .keyPath(nil, let path) = expression.form else { return nil }
        var current = shape
        for (index, name) in path.names.enumerated() {
            if let relationship = current.relationship(name) {
                current = relationship.destination
                continue
            }
            if name == "self" || name == "SELF" { continue }
            guard index == path.names.count - 1, case .slot(let slot)? = current.place(name) else { return nil }
            let kind = current.slots[slot].kind
            return kind.isNumber || kind == .decimal ? kind : nil
        }
        return nil
    }

    /// The constant with numbers in the place of strings; nil if there are no strings that are numbers.
    private static func number(_ expression: NSExpression, _ kind: SlotKind) -> NSExpression? {
        switch expression.form {
        case .constant(let value?):
            if case .string(let text) = Operand(value) {
                return number(text, kind).map { NSExpression(form: .constant($0)) }
            }
            guard let elements = AnyElements(value), elements.elements.contains(where: isText) else { return nil }
            let numbers: [Any] = elements.elements.map { element in
                guard case .string(let text) = Operand(element) else { return element ?? NSNull() }
                return number(text, kind) ?? text
            }
            return NSExpression(form: .constant(elements.isUnordered ? NSSet(array: numbers) : numbers))
        case .aggregate(let elements):
            let numbers = elements.map { number($0, kind) }
            if numbers.allSatisfy({ $0 == nil }) { return nil }
            return NSExpression(form: .aggregate(zip(elements, numbers).map { $1 ?? $0 }))
        default: return nil
        }
    }

    private static func isText(_ value: Any?) -> Bool {
        if case .string = Operand(value) { return true }
        return false
    }

    private static func number(_ text: String, _ kind: SlotKind) -> Any? {
        // No hexadecimal digits, and no names of values that are no numbers.
        guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
        if let integer = Int(text) { return integer }
        guard let real = Double(text), real.isFinite else { return nil }
        return kind == .decimal ? Decimal(string: text).map { NSDecimalNumber(decimal: $0) } ?? real : real
    }
}
