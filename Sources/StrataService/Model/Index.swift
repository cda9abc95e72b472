public import Foundation
import Strata

/// An index of an ``Entity`` of a model in code, which answers fetches by its elements and in their order.
///
/// ```swift
/// Index("byYear", .descending("year"), "title")
/// ```
public struct Index {
    /// A property of an index, and its direction.
    public struct Element: ExpressibleByStringLiteral {
        let property: String
        let isAscending: Bool

        /// In ascending order.
        public init(stringLiteral property: String) { self = .ascending(property) }

        /// In ascending order.
        public static func ascending(_ property: String) -> Element { Element(property, isAscending: true) }

        /// In descending order.
        public static func descending(_ property: String) -> Element { Element(property, isAscending: false) }

        private init(_ property: String, isAscending: Bool) {
            self.property = property
            self.isAscending = isAscending
        }
    }

    let name: String
    let elements: [Element]
    let predicate: NSPredicate?

    /// An index.
    ///
    /// - Parameters:
    ///   - name: unique in the entity.
    ///   - elements: what is indexed, the most significant first.
    ///   - predicate: only objects that satisfy it are in the index; nil for all.
    public init(_ name: String, _ elements: Element..., where predicate: NSPredicate? = nil) {
        self.name = name
        self.elements = elements
        self.predicate = predicate
    }
}

/// A uniqueness constraint of an ``Entity`` of a model in code: no two objects share the values of all its properties.
///
/// ```swift
/// Unique("isbn")
/// Unique("shelf", "position")
/// ```
public struct Unique {
    let properties: [String]

    /// A constraint on the values of some properties together.
    public init(_ properties: String...) { self.properties = properties }
}
