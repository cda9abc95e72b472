import Foundation
import StrataSupport

/// What `mutableSetValue(forKey:)` hands out: an unordered to-many relationship seen as a mutable set.
///
/// It has no members of its own: everything that is asked of it is asked of the relationship, and everything that is
/// done to it is done there, with the inverse. It keeps its object alive.
final class ManagedSet: NSMutableSet {
    private let owner: NSManagedObject?
    private let relationship: RelationshipShape?

    init(_ owner: NSManagedObject, _ relationship: RelationshipShape) {
        self.owner = owner
        self.relationship = relationship
        super.init(capacity: 0)
    }

    /// An empty set without relationship, which cannot be changed: Foundation requires this initialiser.
    required init(capacity numItems: Int) {
        owner = nil
        relationship = nil
        super.init(capacity: numItems)
    }

    /// Proxies are not archived; there is nothing to be restored.
    required convenience init?(coder aDecoder: NSCoder) { nil }

    private var target: (NSManagedObject, RelationshipShape) {
        guard let owner, let relationship else {
            programmerError(
                "NSMutableSet", "the set of a relationship was copied or coded, and has no relationship any more",
                "Ask the object for its set with mutableSetValue(forKey:)")
        }
        return (owner, relationship)
    }

    private func checked(_ object: Any, _ verb: String) -> NSManagedObject {
        guard let object = object as? NSManagedObject else {
            programmerError(
                relationship.map { "\(owner?.shape.name ?? "").\($0.name)" } ?? "NSMutableSet",
                "a \(type(of: object)) cannot be \(verb) the relationship",
                "Use managed objects of the relationship's destination")
        }
        return object
    }

    override var count: Int {
        let (owner, relationship) = target
        return owner.toManyCount(relationship)
    }

    override func member(_ object: Any) -> Any? {
        let (owner, relationship) = target
        guard let object = object as? NSManagedObject, owner.toManyContains(relationship, object) else { return nil }
        return object
    }

    override func objectEnumerator() -> NSEnumerator {
        let (owner, relationship) = target
        return NSArray(array: Array(owner.toManyMembers(relationship))).objectEnumerator()
    }

    override func add(_ object: Any) {
        let (owner, relationship) = target
        owner.addToMany(relationship, checked(object, "added to"))
    }

    override func remove(_ object: Any) {
        let (owner, relationship) = target
        if let object = object as? NSManagedObject { owner.removeFromMany(relationship, object) }
    }

    override func removeAllObjects() {
        let (owner, relationship) = target
        owner.setToMany(relationship, to: [])
    }

    override func setSet(_ otherSet: Set<AnyHashable>) {
        let (owner, relationship) = target
        owner.setToMany(relationship, to: otherSet.map { checked($0.base, "put into") })
    }

    override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: allObjects) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: allObjects) }

    override var description: String { "{(\n    \(allObjects.map { "\($0)" }.joined(separator: ",\n    "))\n)}" }
}
