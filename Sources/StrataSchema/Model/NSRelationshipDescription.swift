import Foundation
import StrataModelFile
import StrataSupport

/// What happens to the objects at the other end when an object is deleted.
public enum NSDeleteRule: UInt, Sendable {
    /// Nothing: the other end may be left pointing at a deleted object.
    case noActionDeleteRule = 0
    /// The other end forgets the deleted object.
    case nullifyDeleteRule = 1
    /// The objects at the other end are deleted, too.
    case cascadeDeleteRule = 2
    /// The deletion fails while there are objects at the other end.
    case denyDeleteRule = 3
}

/// A reference from the objects of an entity to one or many objects of another.
///
/// Thread rule and `@unchecked Sendable`: as for ``NSPropertyDescription``.
///
/// ```swift
/// let books = NSRelationshipDescription()
/// books.name = "books"
/// books.destinationEntity = book
/// books.deleteRule = .cascadeDeleteRule
/// let writer = NSRelationshipDescription()
/// writer.name = "author"
/// writer.destinationEntity = author
/// writer.maxCount = 1
/// books.inverseRelationship = writer
/// writer.inverseRelationship = books
/// ```
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
    /// The entity that the relationship leads to. Not retained: the model owns its entities.
    open var destinationEntity: NSEntityDescription? {
        get { destinationReference?.target }
        set {
            assertMutable()
            destinationReference = newValue?.reference
        }
    }

    private final var destinationReference: BackReference<NSEntityDescription>?

    /// The relationship that leads back. Not retained.
    ///
    /// Setting it does not set the inverse's inverse; both have to be set, and a model in which they disagree is
    /// refused when it is used.
    open weak var inverseRelationship: NSRelationshipDescription? {
        willSet { assertMutable() }
    }

    /// The largest number of objects; 0 for no limit, 1 makes the relationship to-one. Default 0.
    open var maxCount: Int = 0 {
        willSet { assertMutable() }
    }

    /// The smallest number of objects; not enforced on an optional relationship that is empty. Default 0.
    open var minCount: Int = 0 {
        willSet { assertMutable() }
    }

    /// What deleting the source object means for the destination. Default ``NSDeleteRule/nullifyDeleteRule``.
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule {
        willSet { assertMutable() }
    }

    /// Whether the objects of a to-many relationship have an order. Default `false`.
    open var isOrdered: Bool = false {
        willSet { assertMutable() }
    }

    /// Whether the relationship leads to more than one object: ``maxCount`` is not 1.
    open var isToMany: Bool { maxCount != 1 }

    /// 32 bytes that change when the persistent shape of the relationship changes: what
    /// ``NSPropertyDescription/versionHash`` takes in, the names of the destination and the inverse, the counts, the
    /// delete rule and whether it is ordered.
    open override var versionHash: Data { super.versionHash }

    /// A text for logs and for debugging; not to be parsed.
    open override var description: String {
        super.description + ", destination entity \(destinationEntity?.name ?? "(null)"), "
            + "inverseRelationship \(inverseRelationship?.name ?? "(null)"), minCount \(minCount), "
            + "maxCount \(maxCount), isOrdered \(isOrdered ? 1 : 0), deleteRule \(deleteRule.rawValue)"
    }

    override func addVersionHash(to input: inout VersionHashInput) {
        input.add(byte: 2)
        super.addVersionHash(to: &input)
        input.add(optional: destinationEntity?.name)
        input.add(optional: inverseRelationship?.name)
        input.add(UInt(bitPattern: minCount))
        input.add(UInt(bitPattern: maxCount))
        input.add(deleteRule.rawValue)
        input.add(isOrdered)
    }

    override func copyState(from other: NSPropertyDescription) {
        super.copyState(from: other)
        guard let other = other as? NSRelationshipDescription else { return }
        destinationEntity = other.destinationEntity
        inverseRelationship = other.inverseRelationship
        maxCount = other.maxCount
        minCount = other.minCount
        deleteRule = other.deleteRule
        isOrdered = other.isOrdered
    }
}
