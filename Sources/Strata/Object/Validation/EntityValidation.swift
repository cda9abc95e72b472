import Foundation
import StrataLog
import StrataSupport
import Synchronization

/// What the values of an entity's objects must satisfy, found out at the first validation of one. Never changes then.
final class EntityValidation: @unchecked Sendable {
    // Unchecked: all state is constant; predicates and validators are used on the objects' queues.

    /// One property and what it must satisfy.
    struct Key {
        let name: String
        let reference: PropertyReference
        let isMandatory: Bool
        let isToMany: Bool
        let minimum: Int
        let maximum: Int
        let predicates: [(predicate: NSPredicate, code: CocoaError.Code, message: String?)]
        /// What some of the predicates ask; nil if none is a limit.
        let limits: ValueLimits?
        /// Those that are none.
        let others: [(predicate: NSPredicate, code: CocoaError.Code, message: String?)]
    }

    /// All properties that can be validated, by name.
    let allKeys: [Key]
    /// Those of which more is asked than a value where one is mandatory.
    let keys: [Key]
    /// Whether the class has a say about each property.
    let asksForEachKey: Bool
    /// Whether nothing is asked but values where they are mandatory.
    let isPlain: Bool
    private let validators: [String: KeyValidator]
    private let positions: [String: Int]

    init(_ shape: EntityShape) {
        var all: [Key] = []
        for (name, reference) in shape.properties.sorted(by: { $0.key < $1.key }) {
            if let key = Self.key(name, reference, shape) { all.append(key) }
        }
        allKeys = all
        keys = all.filter {
            !$0.predicates.isEmpty || ($0.isToMany && ($0.minimum > 0 || $0.maximum > 0))
        }
        positions = Dictionary(all.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        validators = KeyValidator.all(of: shape.objectClass)
        asksForEachKey = !validators.isEmpty || MethodOverrides.of(shape.objectClass).contains(.validateValue)
        isPlain = !asksForEachKey && keys.isEmpty
    }

    private static func key(_ name: String, _ reference: PropertyReference, _ shape: EntityShape) -> Key? {
        let property: NSPropertyDescription
        var minimum = 0
        var maximum = 0
        var isToMany = false
        switch reference {
        case .slot(let slot):
            let info = shape.slots[slot]
            if info.relationshipIndex >= 0 {
                property = shape.relationships[info.relationshipIndex].description
            } else {
                guard let attribute = info.attribute else { return nil }
                // A subentity may ask more of a value that it inherits.
                property = shape.entity.attributesByName[name] ?? attribute
            }
        case .toMany(let index):
            let description = shape.relationships[index].description
            (property, isToMany) = (description, true)
            (minimum, maximum) = (description.minCount, description.maxCount)
        case .composite(let composite):
            // Their elements are checked by their own names, composites in composites by the outermost one's.
            if composite.name.contains(".") { return nil }
            property = composite.description
        case .fetched: return nil
        }
        let predicates = property.validationPredicates.enumerated().map { index, predicate in
            let warning = index < property.validationWarnings.count ? property.validationWarnings[index] : nil
            // A model's own limits come with the code of the error in place of a message.
            let code = (warning as? NSNumber)?.intValue ?? NSManagedObjectValidationError
            return (predicate, CocoaError.Code(rawValue: code), warning as? String)
        }
        let isMandatory = !property.isOptional && !(property.isTransient && property is NSAttributeDescription)
        var limits: ValueLimits?
        if case .slot(let slot) = reference { limits = ValueLimits(property.validationPredicates, shape, slot) }
        return Key(
            name: name, reference: reference, isMandatory: isMandatory, isToMany: isToMany, minimum: minimum,
            maximum: maximum, predicates: predicates, limits: limits,
            others: limits.map { $0.others.map { predicates[$0] } } ?? predicates)
    }

    /// The property of this name; nil when there is none that could be validated.
    func key(_ name: String) -> Key? { positions[name].map { allKeys[$0] } }

    func validator(_ name: String) -> KeyValidator? { validators.isEmpty ? nil : validators[name] }

    /// Checks one value against the model.
    ///
    /// - Parameters:
    ///   - mandatory: whether nil is looked at, too.
    ///   - isWithinLimits: whether the key's limits have been tested.
    func check(
        _ value: Any?, _ key: Key, _ object: NSManagedObject, mandatory: Bool = true, isWithinLimits: Bool = false
    ) throws {
        if key.isToMany {
            try checkCount(value, key, object)
        } else if value == nil {
            if key.isMandatory, mandatory {
                throw ValidationErrors.error(.validationMissingMandatoryProperty, object, key.name)
            }
            return
        }
        let predicates = isWithinLimits ? key.others : key.predicates
        guard let value, !predicates.isEmpty else { return }
        var errors: [any Error] = []
        for (predicate, code, message) in predicates where !predicate.evaluate(with: value) {
            errors.append(
                ValidationErrors.error(
                    code, object, key.name, value: value, predicate: predicate, message: message))
        }
        if let error = ValidationErrors.combined(errors) { throw error }
    }

    private func checkCount(_ value: Any?, _ key: Key, _ object: NSManagedObject) throws {
        let count: Int
        switch value {
        case let value as ValidatedCount: count = value.count
        case let value?: count = AnyElements(value)?.elements.count ?? 0
        case nil: count = 0
        }
        let code: CocoaError.Code
        var bound = key.minimum
        if count == 0 {
            // As in Core Data, a mandatory to-many relationship may be empty unless it has a minimum.
            guard key.isMandatory, key.minimum > 0 else { return }
            code = .validationRelationshipLacksMinimumCount
        } else if count < key.minimum {
            code = .validationRelationshipLacksMinimumCount
        } else if key.maximum > 0, count > key.maximum {
            code = .validationRelationshipExceedsMaximumCount
            bound = key.maximum
        } else {
            return
        }
        throw ValidationErrors.error(
            code, object, key.name, value: value is ValidatedCount ? object.value(forKey: key.name) : value,
            bound: bound)
    }

    /// Checks that a value is of a type that an attribute or a relationship takes.
    func checkType(_ value: Any, _ key: Key, _ object: NSManagedObject) throws {
        guard case .slot(let slot) = key.reference else { return }
        let kind = object.shape.slots[slot].kind
        if let number = ValueConversion.misfit(value, kind) {
            throw ValidationErrors.outOfRange(number, kind, object, key.name)
        }
        if ValueConversion.accepts(value, kind) { return }
        let code: Int
        switch kind {
        case .date: code = NSValidationInvalidDateError
        case .uri: code = NSValidationInvalidURIError
        default: code = NSManagedObjectValidationError
        }
        throw ValidationErrors.error(CocoaError.Code(rawValue: code), object, key.name, value: value)
    }
}

extension EntityShape {
    /// What the objects must satisfy.
    var validation: EntityValidation {
        // Nothing else is kept there.
        if let known = compiledValidation.load() { return unsafeDowncast(known, to: EntityValidation.self) }
        let validation = unsafeDowncast(
            compiledValidation.storeIfNil(EntityValidation(self)), to: EntityValidation.self)
        summary.pointee.plainValidation.pointee.store(validation.isPlain ? 1 : 2, ordering: .relaxed)
        return validation
    }

    /// Whether there is anything that an object could violate.
    var hasRules: Bool { !validation.isPlain || (0..<groupCount).contains { masks.mandatory[$0] != 0 } }
}
