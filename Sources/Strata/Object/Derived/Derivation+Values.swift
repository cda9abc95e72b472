import Foundation

extension Derivation {
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

extension DerivationDependency {
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
