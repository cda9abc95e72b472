import StrataLog
import StrataSupport
import Synchronization

/// The properties of a class that the plugin `ManagedAccessors` generates accessors for, by their positions. Not API:
/// generated code makes one for each class and keeps it in a constant.
///
/// The declared type of a property may be another one than the model's: `Int` for Integer 16, an enumeration for its
/// raw value, `NSSet` for a relationship. The model says how the value is stored. A type that the model stores as it is
/// goes straight to its place, as with ``AttributeSlot``; numbers of other types are converted on the way, and all else
/// by way of key-value coding.
public struct ManagedSlots: @unchecked Sendable {
    // Unchecked: atomics, and names that are constant. Never freed, as the slots of accessors that are written by hand.

    /// Where each property was last found; of one that has to be converted, nowhere.
    @usableFromInline let tokens: UnsafeMutablePointer<Atomic<UInt64>>
    /// Where each number was last found that the model stores as one of another type.
    private let numbers: UnsafeMutablePointer<Atomic<UInt64>>
    private let names: UnsafeMutablePointer<String>
    /// Of relationships: whether some of the objects may be of another class than the accessor declares.
    private let narrow: UnsafeMutablePointer<Atomic<Bool>>

    /// Names the properties. The model is asked at the first use. Complexity: O(n).
    public init(_ names: String...) {
        tokens = .allocate(capacity: max(1, names.count))
        numbers = .allocate(capacity: max(1, names.count))
        self.names = .allocate(capacity: max(1, names.count))
        narrow = .allocate(capacity: max(1, names.count))
        for (position, name) in names.enumerated() {
            (tokens + position).initialize(to: Atomic(0))
            (numbers + position).initialize(to: Atomic(0))
            (self.names + position).initialize(to: name)
            (narrow + position).initialize(to: Atomic(false))
        }
    }

    func name(_ position: Int) -> String { names[position] }

    /// Whether each object of a relationship has to be looked at. Known once the relationship has been looked up.
    func isNarrow(_ position: Int) -> Bool { narrow[position].load(ordering: .relaxed) }

    /// Where a property was last found.
    @inlinable @inline(__always)
    func token(_ position: Int) -> SlotToken {
        SlotToken(rawValue: tokens[position].load(ordering: .relaxed))
    }

    /// Looks an attribute up; nil if values of the type do not lie in its place as they are.
    func resolve<Value: AttributeValue>(_ position: Int, _ shape: EntityShape, as type: Value.Type) -> SlotToken? {
        guard case .slot(let slot)? = shape.property(names[position]), Value._fits(shape.slots[slot].kind.rawValue)
        else {
            return nil
        }
        return keep(SlotToken(shape: shape, index: slot, offset: shape.slots[slot].offset), position)
    }

    /// Where a number was last found that the model stores as one of another type.
    func number(_ position: Int) -> SlotToken { SlotToken(rawValue: numbers[position].load(ordering: .relaxed)) }

    /// Looks up an attribute of numbers, or of dates for seconds; nil if the type is no number, or the attribute not.
    func resolveNumber<Value: AttributeValue>(
        _ position: Int, _ shape: EntityShape, as type: Value.Type
    ) -> SlotToken? {
        // Asked first: values of other types come by here each time.
        guard Value._ofInteger(0) != nil, case .slot(let slot)? = shape.property(names[position]) else { return nil }
        let kind = shape.slots[slot].kind
        guard kind == .date ? type == Double.self : kind.isNumber else { return nil }
        let token = SlotToken(shape: shape, index: slot, offset: shape.slots[slot].offset)
        numbers[position].store(token.rawValue, ordering: .relaxed)
        return token
    }

    /// A to-one relationship whose objects are of a class.
    ///
    /// - Precondition: the property is one.
    func toOne(_ position: Int, _ shape: EntityShape, _ target: NSManagedObject.Type) -> SlotToken {
        let found = token(position)
        if found.shapeID == shape.id { return found }
        let relationship = relationship(position, shape, target, isToMany: false)
        let token = SlotToken(
            shape: shape, index: relationship.slot, offset: Int(shape.codes[relationship.slot].offset))
        return keep(token, position)
    }

    /// A to-many relationship, for what gives no object. The place is not kept: an accessor that finds it takes the
    /// class of the objects for checked.
    ///
    /// - Precondition: the property is one.
    func toMany(_ position: Int, _ shape: EntityShape) -> RelationshipShape {
        let found = token(position)
        if found.shapeID == shape.id { return shape.relationships[found.index] }
        return relationship(position, shape, NSManagedObject.self, isToMany: true)
    }

    /// A to-many relationship whose objects are of a class.
    ///
    /// - Precondition: the property is one.
    func toMany(_ position: Int, _ shape: EntityShape, _ target: NSManagedObject.Type) -> RelationshipShape {
        let found = token(position)
        if found.shapeID == shape.id { return shape.relationships[found.index] }
        let relationship = relationship(position, shape, target, isToMany: true)
        _ = keep(SlotToken(shape: shape, index: relationship.index, offset: 0), position)
        return relationship
    }

    /// The fetched property at a position; nil if it is something else. Nothing is kept: its results take longer.
    func fetched(_ position: Int, _ shape: EntityShape) -> NSPropertyDescription? {
        guard token(position).shapeID != shape.id, case .fetched(let property)? = shape.property(names[position]) else {
            return nil
        }
        return property
    }

    private func keep(_ token: SlotToken, _ position: Int) -> SlotToken {
        tokens[position].store(token.rawValue, ordering: .relaxed)
        return token
    }

    private func relationship(
        _ position: Int, _ shape: EntityShape, _ target: NSManagedObject.Type, isToMany: Bool
    ) -> RelationshipShape {
        let name = names[position]
        let kind = isToMany ? "to-many" : "to-one"
        guard let relationship = shape.relationship(name), relationship.isToMany == isToMany else {
            if shape.fetched.contains(where: { $0.name == name }) {
                programmerError(
                    "\(shape.subject).\(name)",
                    "the accessor does not fit the model: it is a fetched property, whose value is an array that cannot"
                        + " be set",
                    "Declare it as [\(target)] or [\(target)]?, and change what its request finds")
            }
            programmerError(
                "\(shape.subject).\(name)",
                "the accessor does not fit the model: the entity \(shape.name) has no \(kind) relationship of this name"
                    + shape.suggestion(for: name),
                "Let accessor and model agree")
        }
        switch relationship.fit(target) {
        case .whole: break
        case .inPart: narrow[position].store(true, ordering: .relaxed)
        case .not(let problem):
            programmerError(
                "\(shape.subject).\(name)", "the accessor does not fit the model: \(problem)",
                "Let accessor and model agree")
        }
        return relationship
    }
}
