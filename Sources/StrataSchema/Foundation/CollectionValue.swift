import Foundation

/// An optional seen through `Any`.
package protocol OptionalValue {
    /// The wrapped value, or `nil`.
    var wrappedAny: Any? { get }
}

extension Optional: OptionalValue {
    package var wrappedAny: Any? {
        switch self {
        case .none: nil
        case .some(let value): value
        }
    }
}

/// A Swift collection seen through `Any`, without a conversion to `[Any]`.
protocol CollectionValue {
    /// The elements, in order when there is one.
    var anyElements: [Any?] { get }
    /// Whether order and duplicates mean nothing.
    var isUnordered: Bool { get }
}

extension Array: CollectionValue {
    var anyElements: [Any?] { map { $0 } }
    var isUnordered: Bool { false }
}

extension ArraySlice: CollectionValue {
    var anyElements: [Any?] { map { $0 } }
    var isUnordered: Bool { false }
}

extension Set: CollectionValue {
    var anyElements: [Any?] { map { $0 } }
    var isUnordered: Bool { true }
}

/// A Swift dictionary seen through `Any`.
package protocol DictionaryValue {
    /// The value under a string key.
    func anyValue(forKey key: String) -> Any?
    /// All values.
    var anyValues: [Any?] { get }
    /// The same dictionary for Foundation's comparison; `nil` when a key or value cannot be bridged.
    var foundationDictionary: NSDictionary? { get }
}

extension Dictionary: DictionaryValue {
    package func anyValue(forKey key: String) -> Any? {
        if let key = key as? Key { return self[key] }
        return nil
    }
    package var anyValues: [Any?] { values.map { $0 } }
    package var foundationDictionary: NSDictionary? {
        // Foundation cannot hash decimals.
        keys.contains(where: AnyElements.isDecimal) ? nil : (self as Any) as? NSDictionary
    }
}

/// The elements of any collection a predicate can meet.
package struct AnyElements {
    package var elements: [Any?]
    package var isUnordered: Bool
    /// Whether what is made of the elements is an ordered set as well.
    package var isOrderedSet = false

    /// `nil` when the value is no array, set or ordered set.
    package init?(_ value: Any) {
        if type(of: value) is AnyClass {
            switch value {
            case let array as NSArray:
                elements = array.map { $0 }
                isUnordered = false
            case let set as NSSet:
                elements = set.map { $0 }
                isUnordered = true
            case let ordered as NSOrderedSet:
                elements = ordered.map { $0 }
                isUnordered = false
                isOrderedSet = true
            default:
                return nil
            }
        } else if let collection = value as? any CollectionValue {
            elements = collection.anyElements
            isUnordered = collection.isUnordered
        } else {
            return nil
        }
    }

    /// A set of values, or an ordered one; where a decimal is among them, an array of the values without repetitions.
    /// To compute the hash of an `NSDecimalNumber`, which a set asks for, ends in a stack overflow on Linux, and a cast
    /// of Swift's set of them to any class makes such a set.
    package static func set(of values: [Any], isOrdered: Bool = false) -> Any {
        if values.contains(where: isDecimal) { return CollectionOperator.distinct(values) }
        return isOrdered ? NSOrderedSet(array: values) : NSSet(array: values)
    }

    /// Whether a cast to a class makes nothing of the value: of a Swift set of decimals it makes an `NSSet`, whose
    /// hashes overflow the stack on Linux.
    package static func isInstance(_ value: Any) -> Bool { type(of: value) is AnyClass }

    /// Whether the value must not be cast to a class; costs less than ``isInstance(_:)``.
    @inline(__always)
    package static func isSetOfDecimals(_ value: Any) -> Bool { type(of: value) == Set<Decimal>.self }

    package static func isDecimal(_ value: Any) -> Bool {
        type(of: value) == NSDecimalNumber.self || type(of: value) == Decimal.self
    }

    /// Whether a value is of a type that most are of, which needs no cast to be told.
    package static func isSurelyPlain(_ value: Any) -> Bool {
        let type = type(of: value)
        return type == String.self || type == Int.self || type == Double.self || type == Date.self || type == Bool.self
            || type == Int16.self || type == Int32.self || type == Int64.self || type == NSDate.self
            || type == NSNumber.self
    }

    /// Whether a value is the `NSNull`. Nobody makes subclasses of that, and a cast takes a thousand instructions.
    package static func isNull(_ value: Any) -> Bool { type(of: value) == NSNull.self }

    /// Unwraps optionals inside `Any` and turns `NSNull` into `nil`.
    package static func plain(_ value: Any?) -> Any? {
        guard let value else { return nil }
        if isSurelyPlain(value) { return value }
        if type(of: value) is AnyClass { return isNull(value) ? nil : value }
        if let optional = value as? any OptionalValue { return plain(optional.wrappedAny) }
        return value
    }

    /// All leaves of nested collections, depth first; a `nil` stays a leaf.
    package static func flattened(_ value: Any?) -> [Any?] {
        guard let value = plain(value) else { return [nil] }
        guard let collection = AnyElements(value) else { return [value] }
        return collection.elements.flatMap { flattened($0) }
    }
}
