import Foundation

/// A derived attribute compiled.
package struct Derivation {
    package let slot: Int
    package let type: NSAttributeType
    package let expression: NSExpression
    /// `now()`: the time of the save, for every object that is saved.
    package let isTime: Bool
    /// The key paths in the expression, without collection operators.
    package let paths: [KeyPathComponents]
    /// Whether only attributes of the same object count.
    package let isLocal: Bool
    /// A function in the expression that there is not.
    package var unknownFunction: String? { Self.unknownFunction(expression) }

    package init?(_ slot: Int, _ attribute: NSAttributeDescription?) {
        guard let derived = attribute as? NSDerivedAttributeDescription, let expression = derived.derivationExpression
        else { return nil }
        self.slot = slot
        self.expression = expression
        type = derived.attributeType
        if case .function(nil, "now", _) = expression.form { isTime = true } else { isTime = false }
        paths = Self.paths(expression)
        let relationships = derived.owningEntity?.relationshipsByName ?? [:]
        isLocal = paths.allSatisfy { $0.names.count == 1 && relationships[$0.names[0]] == nil }
    }

    private static func paths(_ expression: NSExpression) -> [KeyPathComponents] {
        switch expression.form {
        case .keyPath(nil, let path): return [withoutOperators(path)]
        case .function(_, _, let arguments): return arguments.flatMap { paths($0) }
        case .conditional(_, let first, let second): return paths(first) + paths(second)
        default: return []
        }
    }

    private static func unknownFunction(_ expression: NSExpression) -> String? {
        switch expression.form {
        case .function(let target, let name, let arguments):
            if target != nil || !PredicateFunction.isKnown(name) { return name }
            return arguments.lazy.compactMap { unknownFunction($0) }.first
        case .conditional(_, let first, let second): return unknownFunction(first) ?? unknownFunction(second)
        default: return nil
        }
    }

    package static func withoutOperators(_ path: KeyPathComponents) -> KeyPathComponents {
        KeyPathComponents(path.names.filter { $0.utf8.first != UInt8(ascii: "@") }.joined(separator: "."))
    }
}
