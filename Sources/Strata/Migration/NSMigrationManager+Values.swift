import Foundation

extension NSMigrationManager {
    /// Sets properties of an object of the destination to what their mappings' expressions give.
    final func setValues(
        _ mappings: [NSPropertyMapping]?, of destination: NSManagedObject, from source: NSManagedObject?,
        _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy
    ) throws {
        guard let mappings, !mappings.isEmpty else { return }
        var bindings: [String: Any]?
        for property in mappings {
            guard let name = property.name, let expression = property.valueExpression else { continue }
            if let source, let key = Self.sourceKey(expression) {
                if Self.copy(key, of: source, to: name, of: destination) { continue }
                set(source.value(forKey: key), name, destination)
                continue
            }
            var known = bindings ?? run?.bindings(mapping, source, destination, policy) ?? [:]
            known[NSMigrationPropertyMappingKey] = property
            bindings = known
            let path = "\(mapping.name ?? "").\(name)"
            set(try run?.evaluate(expression, of: source, known, in: path), name, destination)
        }
    }

    /// The key of an expression such as `$source.name`, which most are.
    static func sourceKey(_ expression: NSExpression) -> String? {
        guard case .keyPath(let operand?, let path) = expression.form, path.names.count == 1,
            case .variable(NSMigrationSourceObjectKey) = operand.form
        else { return nil }
        return path.names[0]
    }

    /// Copies an attribute from slot to slot.
    ///
    /// - Returns: false when one of both is no attribute.
    private static func copy(
        _ key: String, of source: NSManagedObject, to name: String, of destination: NSManagedObject
    ) -> Bool {
        guard case .slot(let from)? = source.shape.property(key),
            case .slot(let to)? = destination.shape.property(name),
            source.shape.slots[from].relationshipIndex < 0, destination.shape.slots[to].relationshipIndex < 0
        else { return false }
        destination.setBoxedValue(source.boxedValue(from), slot: to)
        return true
    }

    private func set(_ value: Any?, _ name: String, _ object: NSManagedObject) {
        let value = value is NSNull ? nil : value
        guard let relationship = object.entity.relationshipsByName[name] else {
            if name.contains(".") {
                object.setValue(value, forKeyPath: name)
            } else {
                object.setValue(value, forKey: name)
            }
            return
        }
        let targets = Self.targets(value)
        if !relationship.isToMany {
            object.setValue(targets.first, forKey: name)
        } else if relationship.isOrdered {
            object.setValue(NSOrderedSet(array: targets), forKey: name)
        } else {
            object.setValue(NSSet(array: targets), forKey: name)
        }
    }

    private static func targets(_ value: Any?) -> [NSManagedObject] {
        if let object = value as? NSManagedObject { return [object] }
        guard let value, let members = AnyElements(value) else { return [] }
        return members.elements.compactMap { $0 as? NSManagedObject }
    }
}
