internal import StrataSupport

/// Slots whose values no two objects of some entities may share.
///
/// A row in which one of the slots is null is like no other, so it breaks nothing.
public struct UniqueConstraint: Hashable, Sendable {
    /// Where the entities' keys are counted.
    public var root: UInt16
    /// The entity that declares the constraint, and those that inherit from it.
    public var entities: [UInt16]
    /// The same in all of the entities.
    public var slots: [Int]

    /// A constraint over the slots of these entities.
    ///
    /// - Precondition: there is at least one slot.
    public init(root: UInt16, entities: [UInt16], slots: [Int]) {
        guard !slots.isEmpty else { programmerError("UniqueConstraint", "it has no slots", "Name at least one") }
        self.root = root
        self.entities = entities
        self.slots = slots
    }
}

/// A row that a transaction may not have, since another one has the same values.
public struct UniqueConflict: Hashable, Sendable {
    /// Which of the store's constraints.
    public var constraint: Int
    /// The object of the transaction.
    public var ref: ObjectRef
    /// The object that has the values already: in the store, or in the same transaction.
    public var holder: ObjectRef
    /// Whether the holder's values are in the store already, and not only in the same transaction.
    public var isHolderStored: Bool
}

/// The constraints of a store, by the entities they bind.
final class UniqueRules: Sendable {
    let constraints: [UniqueConstraint]
    private let byEntity: [UInt16: [Int]]

    init(_ constraints: [UniqueConstraint]) {
        self.constraints = constraints
        var byEntity: [UInt16: [Int]] = [:]
        for (index, constraint) in constraints.enumerated() {
            for entity in constraint.entities { byEntity[entity, default: []].append(index) }
        }
        self.byEntity = byEntity
    }

    func constraints(of entity: UInt16) -> [Int] { byEntity[entity] ?? [] }
}
