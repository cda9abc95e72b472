import Foundation
import StrataSupport

/// A composite attribute compiled: its elements are slots of their own, named by their path ("address.street").
@usableFromInline
package final class CompositeShape {
    package enum Element {
        case slot(Int)
        case composite(CompositeShape)
    }

    /// The path of the attribute.
    package let name: String
    package let description: NSCompositeAttributeDescription
    package let elements: [(name: String, element: Element)]

    package init(_ name: String, _ description: NSCompositeAttributeDescription, slots: [String: Int]) {
        self.name = name
        self.description = description
        elements = description.elements.map { element in
            let path = name + "." + element.name
            if let inner = element as? NSCompositeAttributeDescription {
                return (element.name, .composite(CompositeShape(path, inner, slots: slots)))
            }
            guard let slot = slots[path] else { preconditionFailure("the element \(path) has no slot") }
            return (element.name, .slot(slot))
        }
    }

    /// The value as key-value coding hands it out; nil when no element has one.
    package func dictionary(_ value: (Int) -> Any?) -> [String: Any]? {
        var values: [String: Any] = [:]
        for (name, element) in elements {
            switch element {
            case .slot(let slot): values[name] = value(slot)
            case .composite(let inner): values[name] = inner.dictionary(value)
            }
        }
        return values.isEmpty ? nil : values
    }

    /// Hands every element's value out; an element that the dictionary does not have is nil.
    ///
    /// - Precondition: the value is a dictionary, or nil, with no keys but the elements' names.
    package func assign(_ value: Any?, _ body: (Int, Any?) -> Void) {
        let values = Self.values(AnyElements.plain(value), name)
        for key in values.keys where !elements.contains(where: { $0.name == key }) {
            programmerError(
                name,
                "the composite attribute has no element named \"\(key)\""
                    + "\(Suggestion.text(for: key, among: elements.map { $0.name }))",
                "Give a dictionary of its elements")
        }
        for (name, element) in elements {
            switch element {
            case .slot(let slot): body(slot, values[name])
            case .composite(let inner): inner.assign(values[name], body)
            }
        }
    }

    private static func values(_ value: Any?, _ name: String) -> [String: Any] {
        switch value {
        case nil: return [:]
        case let values as [String: Any]: return values
        case let values as NSDictionary:
            return Dictionary(
                values.compactMap { key, value in (key as? String).map { ($0, value) } }, uniquingKeysWith: { $1 })
        default:
            programmerError(
                name,
                "the composite attribute takes a dictionary, and was given a"
                    + " \(value.map { "\(type(of: $0))" } ?? "nil")",
                "Give a dictionary of its elements, or nil")
        }
    }

    /// Itself and the composites in it.
    package var all: [CompositeShape] {
        elements.reduce(into: [self]) { all, element in
            if case .composite(let inner) = element.element { all += inner.all }
        }
    }
}
