import Foundation
import StrataLog
import StrataSupport

/// How a relationship's values are kept.
@usableFromInline
package enum RelationshipStorage {
    /// A reference in a slot of the row.
    case slot(Int)
    /// The objects whose slot (the inverse's) refers to this one: postings.
    case inverse(slot: Int)
    /// Rows of a hidden entity with two references; `side` is the one that refers to the owner.
    case link(LinkShape, side: Int)
}

/// One relationship of one shape, compiled. A relationship has the same index in every subentity.
@usableFromInline
package final class RelationshipShape {
    package let index: Int
    package let name: String
    package let description: NSRelationshipDescription
    package let isToMany: Bool
    package let isOrdered: Bool
    package let deleteRule: NSDeleteRule
    /// The entity that declares the relationship, whose name the stored numbers go by.
    let declaringName: String
    /// The slot that holds a to-one relationship; -1 for a to-many.
    package let slot: Int

    /// What needs the other shapes of the model.
    @frozen
    @usableFromInline
    struct Links {
        @usableFromInline var storage: RelationshipStorage
        @usableFromInline unowned(unsafe) var destination: EntityShape!
        @usableFromInline var inverse: RelationshipShape?
        @usableFromInline var positionSlot: Int?
        @usableFromInline var isSymmetric = false
        @usableFromInline var setInverseIndex = -1
        @usableFromInline var destinationID: UInt32 = 0

        init(_ storage: RelationshipStorage) { self.storage = storage }
    }
    // Other modules do not see the attribute, and would check each access: they read what follows.
    @exclusivity(unchecked) @usableFromInline private(set) var links: Links

    @inlinable package var storage: RelationshipStorage { links.storage }
    @inlinable package var destination: EntityShape! { links.destination }
    /// The relationship at the other end, as the destination entity has it.
    @inlinable package var inverse: RelationshipShape? { links.inverse }
    /// For an ordered to-many with a to-one inverse: the hidden slot of the destination's row that keeps the position.
    @inlinable package var positionSlot: Int? { links.positionSlot }
    /// The relationship is its own inverse.
    @inlinable package var isSymmetric: Bool { links.isSymmetric }
    /// The index of an inverse that is an unordered to-many, -1 if the inverse is none; and the shape that the
    /// destination's objects mostly have. Known without references.
    @inlinable package var setInverseIndex: Int { links.setInverseIndex }
    @inlinable package var destinationID: UInt32 { links.destinationID }

    init(
        index: Int, description: NSRelationshipDescription, declaringName: String, storage: RelationshipStorage
    ) {
        self.index = index
        self.description = description
        self.declaringName = declaringName
        links = Links(storage)
        if case .slot(let slot) = storage, !description.isToMany {
            self.slot = slot
        } else {
            slot = -1
        }
        name = description.name
        isToMany = description.isToMany
        isOrdered = description.isOrdered
        deleteRule = description.deleteRule
    }

    package func link(in model: ModelShapes, owner: EntityShape) {
        guard let destinationName = description.destinationEntity?.name, let shape = model.byName[destinationName]
        else {
            programmerError(
                "\(owner.name).\(name)", "the relationship has no destination entity in the model",
                "Set its destinationEntity before a coordinator uses the model")
        }
        links.destination = shape
        links.destinationID = shape.id
        if let other = description.inverseRelationship {
            links.inverse = shape.relationship(other.name)
            links.isSymmetric = inverse?.declaringName == declaringName && inverse?.name == name
            if let inverse, inverse.isToMany, !inverse.isOrdered { links.setInverseIndex = inverse.index }
        }
        guard isToMany else { return }
        if let inverse, !inverse.isToMany {
            links.storage = .inverse(slot: inverse.slot)
            links.positionSlot =
                isOrdered ? shape.slots.firstIndex { $0.name == ShapeLayout.positionName(inverse.name) } : nil
        } else {
            links.storage = model.linkStorage(for: self)
        }
    }

    /// References to some relationships, in memory that is never freed, as they are not.
    package static func keep(_ relationships: [RelationshipShape]) -> UnsafePointer<Unmanaged<RelationshipShape>> {
        let references = UnsafeMutablePointer<Unmanaged<RelationshipShape>>.allocate(
            capacity: max(1, relationships.count))
        for (index, relationship) in relationships.enumerated() {
            (references + index).initialize(to: .passRetained(relationship))
        }
        return UnsafePointer(references)
    }
}
