import Foundation
import Strata

/// An attribute of an ``Entity`` of a model in code.
///
/// ```swift
/// Attribute("title", .string, isOptional: false, minimum: 1, maximum: 200)
/// Attribute("pages", .integer32, default: 0)
/// ```
public struct Attribute: Sendable {
    let name: String
    let type: NSAttributeDescription.AttributeType
    let elements: [Attribute]
    let derivation: String?
    private(set) var isOptional = true
    private(set) var isTransient = false
    private(set) var defaultValue: (any Sendable)?
    private(set) var minimum: (any Sendable)?
    private(set) var maximum: (any Sendable)?
    private(set) var pattern: String?
    private(set) var transformer: String?
    private(set) var keepsValueOfDeleted = false
    private(set) var renamingIdentifier: String?

    /// An attribute of a type.
    ///
    /// - Parameters:
    ///   - isOptional: whether an object may be saved without a value.
    ///   - default: what new objects have; of the attribute's type.
    ///   - isTransient: whether the store does not keep it.
    ///   - minimum: the least number or the earliest date; of a text, the least length. Checked by saves.
    ///   - maximum: likewise; the value itself is allowed.
    ///   - pattern: a regular expression that a text has to match as a whole.
    ///   - transformer: the name of the value transformer of a transformable attribute; nil for the secure one.
    ///   - keepsValueOfDeleted: whether the persistent history has the value of a deleted object
    ///     (`preservesValueInHistoryOnDeletion`).
    ///   - renamingIdentifier: the name in the earlier version of the model, if it was another.
    public init(
        _ name: String, _ type: NSAttributeDescription.AttributeType, isOptional: Bool = true,
        default: (any Sendable)? = nil, isTransient: Bool = false, minimum: (any Sendable)? = nil,
        maximum: (any Sendable)? = nil, pattern: String? = nil, transformer: String? = nil,
        keepsValueOfDeleted: Bool = false, renamingIdentifier: String? = nil
    ) {
        self.init(name, type, elements: [], derivation: nil)
        self.isOptional = isOptional
        defaultValue = `default`
        self.isTransient = isTransient
        self.minimum = minimum
        self.maximum = maximum
        self.pattern = pattern
        self.transformer = transformer
        self.keepsValueOfDeleted = keepsValueOfDeleted
        self.renamingIdentifier = renamingIdentifier
    }

    /// A derived attribute: computed when an object is saved, from others of its own or behind relationships.
    ///
    /// - Parameter expression: the format of a `NSDerivedAttributeDescription.derivationExpression`, for instance
    ///   `canonical:(title)` or `books.@count`.
    public init(
        _ name: String, _ type: NSAttributeDescription.AttributeType, derivedFrom expression: String
    ) {
        self.init(name, type, elements: [], derivation: expression)
    }

    /// A composite attribute, whose value is a dictionary of the elements' values.
    public init(
        _ name: String, isOptional: Bool = true, @CompositeBuilder elements: () -> [Attribute]
    ) {
        self.init(name, .composite, elements: elements(), derivation: nil)
        self.isOptional = isOptional
    }

    private init(
        _ name: String, _ type: NSAttributeDescription.AttributeType, elements: [Attribute], derivation: String?
    ) {
        self.name = name
        self.type = type
        self.elements = elements
        self.derivation = derivation
    }
}

/// Collects the elements of a composite attribute.
@resultBuilder
public enum CompositeBuilder {
    /// All elements in their order.
    public static func buildBlock(_ parts: Attribute...) -> [Attribute] { parts }
}
