import Foundation

/// A typed accessor's name of an attribute.
///
/// Keep one for each property in a static constant of the subclass (slots are never freed):
///
///     final class Person: NSManagedObject {
///         private static let ageSlot = AttributeSlot<Int16>("age")
///         var age: Int16 {
///             get { self[Self.ageSlot] }
///             set { self[Self.ageSlot] = newValue }
///         }
///     }
///
/// `Value` may be optional; an accessor that is not reads null as zero, false, "" and so on. A slot whose type does
/// not fit the model stops the program at its first use.
public struct AttributeSlot<Value>: Sendable {
    /// Not API.
    public let _cache: _SlotCache
    /// The attribute's name.
    public var name: String { _cache.name }
}

extension AttributeSlot where Value: AttributeValue {
    /// Names an attribute. The model is asked at the first use. Complexity: O(1).
    public init(_ name: String) {
        _cache = _SlotCache(name) { shape, reference in attributeFit(shape, reference) { Value._fits($0) } }
    }
}

extension AttributeSlot {
    /// Names an attribute whose null is read as nil. The model is asked at the first use. Complexity: O(1).
    public init<Wrapped: AttributeValue>(_ name: String) where Value == Wrapped? {
        _cache = _SlotCache(name) { shape, reference in attributeFit(shape, reference) { Wrapped._fits($0) } }
    }
}

/// A typed accessor's name of an attribute whose values go through key-value coding: transformable ones, and any
/// attribute in the guise of a Foundation class (`NSNumber`, `NSDecimalNumber`, `NSDate`, ...).
public struct ObjectAttributeSlot<Value>: Sendable {
    /// Not API.
    public let _cache: _SlotCache
    /// The attribute's name.
    public var name: String { _cache.name }

    /// Names an attribute. The model is asked at the first use. Complexity: O(1).
    public init(_ name: String) {
        _cache = _SlotCache(name) { shape, reference in attributeFit(shape, reference) { _ in true } }
    }
}

/// A typed accessor's name of a to-one relationship.
public struct ToOneSlot<Target: NSManagedObject>: Sendable {
    /// Not API.
    public let _cache: _SlotCache
    /// The relationship's name.
    public var name: String { _cache.name }

    /// Names a relationship. The model is asked at the first use. Complexity: O(1).
    public init(_ name: String) {
        _cache = _SlotCache(name) { shape, reference in
            guard let relationship = shape.relationship(name), !relationship.isToMany else {
                return .not("it is not a to-one relationship")
            }
            return relationship.fit(Target.self)
        }
    }
}

/// A typed accessor's name of a to-many relationship, ordered or not.
public struct ToManySlot<Target: NSManagedObject>: Sendable {
    /// Not API.
    public let _cache: _SlotCache
    /// The relationship's name.
    public var name: String { _cache.name }

    /// Names a relationship. The model is asked at the first use. Complexity: O(1).
    public init(_ name: String) {
        _cache = _SlotCache(name) { shape, reference in
            guard let relationship = shape.relationship(name), relationship.isToMany else {
                return .not("it is not a to-many relationship")
            }
            return relationship.fit(Target.self)
        }
    }
}

private func attributeFit(_ shape: EntityShape, _ reference: PropertyReference, fits: (UInt8) -> Bool) -> AccessorFit {
    guard case .slot(let slot) = reference, shape.slots[slot].kind != .toOne else {
        return .not("it is not an attribute")
    }
    return fits(shape.slots[slot].kind.rawValue) ? .whole : .not("its values are of type \(shape.slots[slot].kind)")
}
