import Foundation
import StrataSupport

/// A to-many relationship of one object, to look at and to change: what the accessors that Xcode generates
/// (`addToTasks(_:)`, `insertIntoTasks(_:at:)` and so on) are made of, in one line each.
///
///     func addToTasks(_ task: Task) { members(Self.tasksSlot).add(task) }
///     func removeFromTasks(_ tasks: Set<Task>) { members(Self.tasksSlot).remove(contentsOf: tasks) }
///     func insertIntoTasks(_ task: Task, at index: Int) { members(Self.tasksSlot).insert(task, at: index) }
///
/// It is live: it has no members of its own. Every change keeps the inverse and marks both sides as changed. It belongs
/// to the object's context's queue. What takes an index is for ordered relationships and stops the program for others
/// and for indexes out of range.
public struct ToManyMembers<Target: NSManagedObject>: Sequence {
    private let owner: NSManagedObject
    private let relationship: RelationshipShape
    private let isNarrow: Bool

    /// - Parameter isNarrow: whether members may be of another class than `Target`.
    init(_ owner: NSManagedObject, _ relationship: RelationshipShape, isNarrow: Bool) {
        self.owner = owner
        self.relationship = relationship
        self.isNarrow = isNarrow
    }

    /// What messages call the relationship.
    var label: String { "\(owner.shape.name).\(relationship.name)" }

    // MARK: Looking

    /// How many there are. Reads no rows.
    public var count: Int { owner.toManyCount(relationship) }

    /// Whether there are none. Reads no rows.
    public var isEmpty: Bool { count == 0 }

    /// The members: in order if the relationship is ordered. Complexity: O(n).
    public var array: [Target] { owner.toManyOrder(relationship).map(typed) }

    /// Whether an object is a member. Reads that object's row only, unless the inverse is to-many or missing.
    public func contains(_ object: Target) -> Bool { owner.toManyContains(relationship, object) }

    /// The member at a place of an ordered relationship.
    public subscript(_ index: Int) -> Target { typed(order[index]) }

    /// The place of a member of an ordered relationship. Complexity: O(n).
    public func firstIndex(of object: Target) -> Int? { order.firstIndex { $0 === object } }

    /// The first member of an ordered relationship.
    public var first: Target? { order.first.map(typed) }

    /// The last member of an ordered relationship.
    public var last: Target? { order.last.map(typed) }

    /// Goes over the members as they are now; changes meanwhile do not matter.
    public func makeIterator() -> IndexingIterator<[Target]> { array.makeIterator() }

    /// A lower bound for a copy; counting would read the store.
    public var underestimatedCount: Int { 0 }

    private var order: [NSManagedObject] {
        checkOrdered()
        return owner.toManyOrder(relationship)
    }

    private func typed(_ object: NSManagedObject) -> Target {
        ForeignObjects.check(object, is: Target.self, isNarrow: isNarrow)
        // SAFETY: the slot has checked that the destination's classes are Target or subclasses of it; where they are
        // not, the object has been looked at.
        return unsafeDowncast(object, to: Target.self)
    }

    private func checkOrdered() {
        guard relationship.isOrdered else {
            programmerError(
                "\(owner.shape.name).\(relationship.name)", "the relationship is not ordered",
                "Set isOrdered in the model, or use members without positions")
        }
    }

    // MARK: Changing

    /// Adds an object, at the end of an ordered relationship; does nothing if it is a member already. The others are
    /// not read, unless the relationship is ordered or its inverse is to-many or missing.
    public func add(_ object: Target) { owner.addToMany(relationship, object) }

    /// Adds several objects, in their order.
    public func add(contentsOf objects: some Sequence<Target>) {
        for object in Array(objects) { owner.addToMany(relationship, object) }
    }

    /// Removes an object; does nothing if it is not a member.
    public func remove(_ object: Target) { owner.removeFromMany(relationship, object) }

    /// Removes several objects.
    public func remove(contentsOf objects: some Sequence<Target>) {
        for object in Array(objects) { owner.removeFromMany(relationship, object) }
    }

    /// Removes all.
    public func removeAll() { owner.setToMany(relationship, to: []) }

    /// Makes these the members, in their order.
    public func set(_ objects: some Sequence<Target>) { owner.setToMany(relationship, to: Array(objects)) }

    /// Inserts an object before the one at `index`; does nothing if it is a member already.
    public func insert(_ object: Target, at index: Int) {
        checkOrdered()
        owner.insertIntoMany(relationship, object, at: index)
    }

    /// Inserts several objects, in their order; those that are members already stay where they are.
    public func insert(contentsOf objects: some Sequence<Target>, at index: Int) {
        checkOrdered()
        var index = index
        for object in Array(objects) where !owner.toManyContains(relationship, object) {
            owner.insertIntoMany(relationship, object, at: index)
            index += 1
        }
    }

    /// Inserts several objects so that they come to lie at `indexes`, which ascend.
    public func insert(_ objects: some Sequence<Target>, at indexes: IndexSet) {
        checkOrdered()
        for (object, index) in zip(Array(objects), indexes) {
            owner.insertIntoMany(relationship, object, at: index)
        }
    }

    /// Removes the object at `index`.
    public func remove(at index: Int) {
        checkOrdered()
        owner.removeFromMany(relationship, at: index)
    }

    /// Removes the objects at `indexes`.
    public func remove(at indexes: IndexSet) {
        let order = order
        for index in indexes { owner.removeFromMany(relationship, order[index]) }
    }

    /// Puts an object in the place of another; does nothing if it is a member already.
    public func replace(at index: Int, with object: Target) {
        checkOrdered()
        owner.replaceInMany(relationship, at: index, with: object)
    }

    /// Puts objects in the places of others, one for one.
    public func replace(at indexes: IndexSet, with objects: some Sequence<Target>) {
        checkOrdered()
        for (index, object) in zip(indexes, Array(objects)) {
            owner.replaceInMany(relationship, at: index, with: object)
        }
    }

    /// Moves the object at `source` to `target`, which counts after it has been taken out.
    public func move(from source: Int, to target: Int) {
        checkOrdered()
        owner.moveInMany(relationship, from: source, to: target)
    }
}

extension NSManagedObject {
    /// A to-many relationship, to look at and to change.
    public final func members<Target: NSManagedObject>(_ slot: ToManySlot<Target>) -> ToManyMembers<Target> {
        if flags.contains(.observable) { reportAccess(slot.name) }
        let relationship = shape.relationships[slot._cache.token(for: self).index]
        return ToManyMembers(self, relationship, isNarrow: slot._cache.isNarrow)
    }
}
