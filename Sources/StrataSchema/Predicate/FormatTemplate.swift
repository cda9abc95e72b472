import Foundation
import StrataSupport
import Synchronization

/// A parsed format with places for its arguments: what is left of making a predicate is to put them in.
///
/// Only formats whose placeholders are sides of comparisons, or elements of lists that are, have one. Parsing others
/// depends on what their arguments are.
///
/// Unchecked: immutable, and made of immutable parts.
final class FormatTemplate: @unchecked Sendable {
    /// Nil for a format that has to be parsed each time.
    private let predicate: NSPredicate?

    init(_ format: String) {
        let parsed = try? PredicateParser.template(format)
        predicate = parsed.flatMap { Self.argumentCount($0.predicate) == $0.argumentCount ? $0.predicate : nil }
    }

    /// The predicate with the arguments in their places; nil when the format has to be parsed with them.
    func predicate(_ arguments: [Any?]) -> NSPredicate? { predicate.flatMap { filled($0, arguments) } }

    // MARK: Filling

    private func filled(_ predicate: NSPredicate, _ arguments: [Any?]) -> NSPredicate? {
        if let comparison = predicate as? NSComparisonPredicate {
            guard let left = filled(comparison.leftExpression, arguments),
                let right = filled(comparison.rightExpression, arguments)
            else { return nil }
            return comparison.with(left, right)
        }
        guard let compound = predicate as? CompoundPredicate else { return predicate }
        var parts: [NSPredicate] = []
        parts.reserveCapacity(compound.children.count)
        for child in compound.children {
            guard let part = filled(child, arguments) else { return nil }
            parts.append(part)
        }
        return CompoundPredicate(type: compound.compoundPredicateType, subpredicates: parts)
    }

    private func filled(_ expression: NSExpression, _ arguments: [Any?]) -> NSExpression? {
        if type(of: expression) == FormatPlace.self, let place = expression as? FormatPlace {
            return Self.expression(place, arguments)
        }
        switch expression.form {
        // Parameters of plans are told apart by their expressions: each predicate has its own.
        case .constant(let value): return NSExpression(form: .constant(value))
        case .aggregate(let elements):
            var filledElements: [NSExpression] = []
            for element in elements {
                guard let filled = filled(element, arguments) else { return nil }
                filledElements.append(filled)
            }
            return NSExpression(form: .aggregate(filledElements))
        default: return expression
        }
    }

    /// What the parser makes of an argument; nil for one that is no value, or not what the placeholder wants.
    private static func expression(_ place: FormatPlace, _ arguments: [Any?]) -> NSExpression? {
        guard place.number < arguments.count else { return nil }
        var plain: Any? { AnyElements.plain(arguments[place.number]) }
        switch place.kind {
        case .object: return constant(arguments[place.number])
        case .key:
            guard let name = plain as? String else { return nil }
            let path = KeyPathComponents(name)
            return path.names.isEmpty ? nil : NSExpression(form: .keyPath(operand: nil, path: path))
        case .integer:
            guard let number = Arithmetic(plain) else { return nil }
            return NSExpression(form: .constant(number.integerValue.map { Int($0) as Any } ?? number.anyValue))
        case .double: return Arithmetic(plain).map { NSExpression(form: .constant($0.doubleValue)) }
        case .text:
            guard case .string(let text) = Operand(plain) else { return nil }
            return NSExpression(form: .constant(text))
        }
    }

    /// Nil for what is a part of a predicate, and no value.
    private static func constant(_ value: Any?) -> NSExpression? {
        guard let value else { return NSExpression(form: .constant(nil)) }
        if AnyElements.isSurelyPlain(value) { return NSExpression(form: .constant(value)) }
        let plain = AnyElements.plain(value)
        if let plain, AnyElements.isInstance(plain), plain is NSPredicate || plain is NSExpression { return nil }
        return NSExpression(form: .constant(plain))
    }

    // MARK: Places

    /// How many places a predicate has that can be filled without parsing: fewer than there are placeholders, if the
    /// parser has made something else of one.
    private static func argumentCount(_ predicate: NSPredicate) -> Int {
        switch predicate {
        case let comparison as NSComparisonPredicate:
            argumentCount(comparison.leftExpression) + argumentCount(comparison.rightExpression)
        case let compound as CompoundPredicate: compound.children.reduce(0) { $0 + argumentCount($1) }
        default: 0
        }
    }

    private static func argumentCount(_ expression: NSExpression) -> Int {
        if expression is FormatPlace { return 1 }
        guard case .aggregate(let elements) = expression.form else { return 0 }
        return elements.reduce(0) { $0 + argumentCount($1) }
    }
}

/// The templates of the formats that the program makes predicates of. Thread-safe; looking one up takes no lock.
enum FormatCache {
    /// A format by its bytes: strings that are equal to Swift may be different ones.
    private struct Key: Hashable, Sendable {
        let format: String

        static func == (left: Key, right: Key) -> Bool {
            let (left, right) = (left.format.utf8, right.format.utf8)
            guard left.count == right.count else { return false }
            let isSame = left.withContiguousStorageIfAvailable { left in
                right.withContiguousStorageIfAvailable { right in
                    guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                    return memcmp(first, second, left.count) == 0
                }
            }
            if let isSame, let isSame { return isSame }
            return left.elementsEqual(right)
        }
    }

    private static let templates = ReadMostlyCache<Key, FormatTemplate>(capacity: 1_024)
    /// Formats with their values written into them come once, and would drive others out.
    private static let repetition = RepetitionFilter()
    /// Longer ones are parsed each time.
    private static let byteCountMaximum = 1_024

    /// The predicate of a format, if it is known and takes these arguments; else it has to be parsed.
    static func predicate(_ format: String, _ arguments: [Any?]) -> NSPredicate? {
        guard format.utf8.count <= byteCountMaximum else { return nil }
        let key = Key(format: format)
        if let template = templates[key] { return template.predicate(arguments) }
        guard repetition.isRepeated(key.hashValue) else { return nil }
        let template = FormatTemplate(format)
        templates.add(template, for: key)
        return template.predicate(arguments)
    }
}
