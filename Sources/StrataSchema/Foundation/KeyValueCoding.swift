import Foundation

/// An object whose properties can be read by name.
///
/// Linux's Foundation has no key-value coding, so Strata declares the part of it that predicates, sort descriptors and
/// expressions need. Managed objects conform; a class or structure of yours can conform too and is then read without
/// reflection. Dictionaries, arrays, sets, ordered sets and common Foundation values need no conformance, and anything
/// else is read through `Mirror` as a last resort: stored properties only, much slower, and a name that is missing
/// reads as `nil`.
public protocol KeyValueCoding {
    /// The value of the property named `key`, or `nil` when it has none.
    ///
    /// What happens for a name that does not exist is the conforming type's decision: managed objects stop the program,
    /// as Apple's do, everything Strata conforms by itself answers `nil`.
    func value(forKey key: String) -> Any?
}

extension KeyValueCoding {
    /// The value at the end of a dotted path, with collection operators (`@count`, `@sum.x`,
    /// `@distinctUnionOfObjects.x`).
    ///
    /// A `nil` on the way makes the whole path `nil`. A collection on the way is mapped over: arrays and ordered sets
    /// keep their order and hold `NSNull` for elements without a value, sets drop those.
    ///
    /// - Complexity: O(n) in the number of objects the path passes through.
    public func value(forKeyPath keyPath: String) -> Any? {
        KeyValueAccess.value(of: self, forKeyPath: keyPath)
    }
}

/// An object that gives its own meaning to `FUNCTION(object, 'name:', arguments…)` in a predicate.
///
/// There is no selector dispatch on Linux; this protocol stands in its place.
public protocol PredicateFunctionTarget {
    /// Runs the function named `name` (a selector name such as `doubled:`) and returns its result, `nil` for none.
    func performPredicateFunction(_ name: String, arguments: [Any?]) -> Any?
}

/// An object that predicates compare by something else than itself, so that an object equals its identifier.
package protocol PredicateIdentifiable {
    /// What stands for the object in comparisons.
    var predicateIdentity: AnyHashable { get }
    /// False while saving the object gives it another identity.
    var hasFinalPredicateIdentity: Bool { get }
}

/// A key path, split once.
package struct KeyPathComponents: Hashable, Sendable {
    /// The path as written.
    package let text: String
    /// The names between the dots; operators keep their `@`.
    package let names: [String]

    /// Splits `text` at its dots; empty names are dropped.
    package init(_ text: String) {
        self.text = text
        // Most paths are a name, which is found without a search for characters.
        let isName = !text.isEmpty && !text.utf8.contains(UInt8(ascii: "."))
        names = isName ? [text] : text.split(separator: ".").map(String.init)
    }
}
