import Foundation

/// The collection operators of key paths.
package enum CollectionOperator {
    /// Applies `name` (with its `@`) to a collection; `rest` is the path that follows the operator. Unknown operators
    /// give `nil`.
    package static func apply(_ name: String, to collection: AnyElements, rest: ArraySlice<String>) -> Any? {
        if name == "@count" {
            return KeyValueAccess.value(of: collection.elements.count, names: rest)
        }
        switch name {
        case "@unionOfArrays", "@distinctUnionOfArrays", "@unionOfSets", "@distinctUnionOfSets":
            // Each element, be it a collection or an object with a to-many property, leads to a collection.
            let values = collection.elements.flatMap { element -> [Any] in
                guard let inner = KeyValueAccess.value(of: element, names: rest).flatMap({ AnyElements($0) }) else {
                    return []
                }
                guard EvaluationWork.step(inner.elements.count) else { return [] }
                return inner.elements.compactMap { AnyElements.plain($0) }
            }
            if name == "@unionOfArrays" { return values }
            return name == "@distinctUnionOfArrays" ? distinct(values) : AnyElements.set(of: values)
        case "@unionOfObjects":
            return values(collection.elements, rest)
        case "@distinctUnionOfObjects":
            let unique = distinct(values(collection.elements, rest))
            return collection.isUnordered ? AnyElements.set(of: unique) : unique
        default:
            return aggregate(name, values(collection.elements, rest), of: collection)
        }
    }

    private static func aggregate(_ name: String, _ values: [Any], of collection: AnyElements) -> Any? {
        let count = collection.elements.count
        switch name {
        case "@sum": return Arithmetic.sum(values).anyValue
        case "@avg": return count == 0 ? 0 : Arithmetic.average(values, count: count).anyValue
        case "@min": return extreme(values, keeping: -1)
        case "@max": return extreme(values, keeping: 1)
        case "@first", "@firstObject": return collection.isUnordered ? nil : values.first
        case "@last", "@lastObject": return collection.isUnordered ? nil : values.last
        default: return nil
        }
    }

    /// The smallest (-1) or largest (1) of the values; those that cannot be compared are passed over.
    static func extreme(_ values: [Any], keeping sign: Int) -> Any? {
        var best: (value: Any, operand: Operand)?
        for value in values {
            let operand = Operand(value)
            // What is no number (nor a date) is left out as null is, so that the result does not depend on the order.
            if operand.isNothing { continue }
            guard let current = best else {
                best = (value, operand)
                continue
            }
            if operand.compare(current.operand) == sign { best = (value, operand) }
        }
        return best?.value
    }

    private static func values(_ elements: [Any?], _ rest: ArraySlice<String>) -> [Any] {
        guard EvaluationWork.step(elements.count) else { return [] }
        return elements.compactMap { KeyValueAccess.value(of: $0, names: rest) }
    }

    /// Values without repetitions, in order of first appearance.
    static func distinct(_ values: [Any]) -> [Any] {
        var seen: Set<Operand.DistinctKey> = []
        return values.filter { seen.insert(Operand.DistinctKey(Operand($0))).inserted }
    }
}
