import Foundation

/// Takes the dictionaries of composite attributes apart, as batch requests are given them.
enum BatchComposites {
    /// The values with those of composite attributes under the paths of their elements.
    ///
    /// - Throws: `CocoaError` 134070 for what is no dictionary and for elements that the attribute does not have.
    static func flattened(
        _ values: @escaping (String) -> Any?, _ shape: EntityShape
    ) throws -> (String) -> Any? {
        var elements: [String: Any] = [:]
        for (name, attribute) in shape.entity.attributesByName where attribute is NSCompositeAttributeDescription {
            guard case .composite(let composite)? = shape.property(name), let value = values(name) else { continue }
            for (slot, value) in try Self.elements(value, composite) { elements[shape.slots[slot].name] = value }
        }
        return { elements[$0] ?? values($0) }
    }

    /// The value of every element's slot; `NSNull` for those that are not given.
    static func elements(_ value: Any, _ composite: CompositeShape) throws -> [Int: Any] {
        guard let value = ValueConversion.flattened(value), !(value is NSNull) else {
            return try elements([String: Any](), composite)
        }
        let pairs: [(Any, Any)] =
            switch value {
            case let values as [String: Any]: values.map { ($0.key, $0.value) }
            case let values as NSDictionary: values.map { ($0.key, $0.value) }
            default:
                throw BatchSession.error(
                    "The composite attribute \(composite.name) takes a dictionary, not a \(type(of: value)).")
            }
        var given: [String: Any] = [:]
        for (key, value) in pairs {
            guard let key = key as? String, composite.elements.contains(where: { $0.name == key }) else {
                throw BatchSession.error(
                    "The composite attribute \(composite.name) has no element named \(key)"
                        + "\(Suggestion.text(for: "\(key)", among: composite.elements.map { $0.name })).")
            }
            given[key] = value
        }
        var slots: [Int: Any] = [:]
        for (name, element) in composite.elements {
            switch element {
            case .slot(let slot): slots[slot] = given[name] ?? NSNull()
            case .composite(let inner):
                slots.merge(try elements(given[name] ?? NSNull(), inner)) { $1 }
            }
        }
        return slots
    }
}
