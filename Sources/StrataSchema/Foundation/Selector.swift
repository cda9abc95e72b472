import Foundation

/// The name of a method, as a string.
///
/// There is no Objective-C runtime on Linux and so no `#selector`; Strata understands the few names that sort
/// descriptors and predicates use, such as `Selector("localizedCaseInsensitiveCompare:")`, and offers the others to
/// `PredicateFunctionTarget`.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name, with its colons.
    public let description: String

    /// A selector of that name.
    public init(_ name: String) {
        description = name
    }

    /// A selector of that name.
    public init(stringLiteral value: StaticString) {
        description = value.description
    }
}

/// The selector of that name.
public func NSSelectorFromString(_ name: String) -> Selector {
    Selector(name)
}

/// The name of a selector.
public func NSStringFromSelector(_ selector: Selector) -> String {
    selector.description
}
