import Foundation

/// A derived attribute compiled.
struct Derivation {
    let slot: Int
    let type: NSAttributeType
    private let expression: NSExpression
    /// `now()`: the time of the save, for every object that is saved.
    let isTime: Bool
    /// The key paths in the expression, without collection operators.
    let paths: [KeyPathComponents]
    /// Whether only attributes of the same object count.
    let isLocal: Bool
    /// A function in the expression that there is not.
    var unknownFunction: String? { Self.unknownFunction(expression) }

    init?(_ slot: Int, _ attribute: NSAttributeDescription?) {
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

    private static func withoutOperators(_ path: KeyPathComponents) -> KeyPathComponents {
        KeyPathComponents(path.names.filter { $0.utf8.first != UInt8(ascii: "@") }.joined(separator: "."))
    }

    /// The value for an object: as its context has it, or as `view` does.
    func value(for object: NSManagedObject, in view: DerivationView? = nil) -> Any? {
        ResultConversion.convert(Self.evaluate(expression, object, view), to: type)
    }

    /// As an expression is evaluated, except that a to-many path has all its values, equal ones included.
    private static func evaluate(
        _ expression: NSExpression, _ object: NSManagedObject, _ view: DerivationView?
    ) -> Any? {
        switch expression.form {
        case .keyPath(nil, let path):
            guard let index = path.names.firstIndex(where: { $0.utf8.first == UInt8(ascii: "@") }) else {
                if let view { return view.value(of: object, path: path) }
                return KeyValueAccess.value(of: object, path: path)
            }
            let name = path.names[index]
            if name == "@count", index == 1, let relationship = object.shape.relationship(path.names[0]),
                relationship.isToMany
            {
                return view?.count(relationship, of: object) ?? object.toManyCount(relationship)
            }
            let leaves = leaves(withoutOperators(path), object, view).compactMap { $0 }
            guard let elements = AnyElements(leaves) else { return nil }
            return CollectionOperator.apply(name, to: elements, rest: ["self"])
        case .function(nil, let name, let arguments):
            if arguments.count == 1, Aggregate.Function(rawValue: name) != nil,
                case .keyPath(nil, let path) = arguments[0].form
            {
                let leaves = leaves(path, object, view).compactMap { $0 }
                return PredicateFunction.call(name, [leaves])
            }
            return PredicateFunction.call(name, arguments.map { evaluate($0, object, view) })
        case .conditional(let predicate, let first, let second):
            return evaluate(predicate.evaluate(with: object) ? first : second, object, view)
        default: return expression.expressionValue(with: object, context: nil)
        }
    }

    private static func leaves(
        _ path: KeyPathComponents, _ object: NSManagedObject, _ view: DerivationView?
    ) -> [Any?] {
        if let view, !path.names.contains(where: { $0.utf8.first == UInt8(ascii: "@") }) {
            return view.leaves(of: object, path: path)
        }
        return KeyValueAccess.leaves(of: object, path: path)
    }
}

/// Whose derived attributes a change of an object touches.
struct DerivationDependency {
    /// The changed object's entity.
    let source: EntityShape
    /// What counts: the property of the source that the derivation reads. Nil for the object itself (`@count`).
    let property: String?
    /// From the source back to the objects with the derived attribute.
    let way: [RelationshipShape]

    /// What has to be watched for the derivations of a shape. A relationship without inverse leads nowhere back, so
    /// what lies beyond it is looked at only when the object itself is saved.
    static func of(_ shape: EntityShape) -> [DerivationDependency] {
        var all: [DerivationDependency] = []
        for path in shape.derivations.flatMap(\.paths) {
            var current = shape
            var way: [RelationshipShape] = []
            for (index, name) in path.names.enumerated() {
                guard let relationship = current.relationship(name), let inverse = relationship.inverse else { break }
                current = relationship.destination
                way.insert(inverse, at: 0)
                let next = index + 1 < path.names.count ? path.names[index + 1] : nil
                all.append(DerivationDependency(source: current, property: next, way: way))
            }
        }
        return all
    }

    /// Whether what the derivation reads of this object is among what has changed.
    func isTouched(by object: NSManagedObject) -> Bool {
        guard object.shape.isKind(of: source), !object.isMarkedDeleted else { return false }
        if object.isInserted { return true }
        guard let property else { return false }
        switch object.shape.property(property) {
        case .slot(let slot)?: return object.overlay?.isDirty(slot) ?? false
        case .toMany(let index)?: return object.existingState(object.shape.relationships[index])?.isChanged ?? false
        case .composite(let composite)?:
            var isDirty = false
            _ = composite.dictionary { slot in
                isDirty = isDirty || object.overlay?.isDirty(slot) == true
                return nil
            }
            return isDirty
        default: return false
        }
    }
}
