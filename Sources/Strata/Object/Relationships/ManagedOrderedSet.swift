import Foundation
import StrataSupport

/// What `mutableOrderedSetValue(forKey:)` hands out: an ordered to-many relationship seen as a mutable ordered set.
///
/// Several of NSOrderedSet's methods cannot be overridden and read its own storage, so this one has a copy of the
/// members: the relationship's state knows of it and mirrors every change here, and every change here is carried over
/// to the relationship, with the inverse. It keeps its object alive.
final class ManagedOrderedSet: NSMutableOrderedSet {
    private let owner: NSManagedObject?
    private let relationship: RelationshipShape?
    /// In a change made here; more than one when Foundation calls one overridden method from another.
    private var depth = 0

    init(_ owner: NSManagedObject, _ relationship: RelationshipShape) {
        self.owner = owner
        self.relationship = relationship
        super.init(capacity: 0)
        let state = owner.loadedState(relationship)
        state.proxy = self
        mirror(state.order)
    }

    /// A set without relationship, which Foundation requires: it stays by itself.
    override init(capacity numItems: Int) {
        owner = nil
        relationship = nil
        super.init(capacity: numItems)
    }

    /// As ``init(capacity:)``.
    override init(objects: UnsafePointer<AnyObject>!, count cnt: Int) {
        owner = nil
        relationship = nil
        super.init(objects: objects, count: cnt)
    }

    /// As ``init(capacity:)``.
    required init(arrayLiteral elements: Any...) {
        owner = nil
        relationship = nil
        super.init(capacity: elements.count)
        for element in elements { super.add(element) }
    }

    /// Proxies are not archived; there is nothing to be restored.
    required init?(coder aDecoder: NSCoder) { nil }

    // MARK: From the relationship

    /// The relationship's members are these now.
    func mirror(_ objects: [NSManagedObject]) {
        guard depth == 0 else { return }
        depth += 1
        defer { depth -= 1 }
        super.removeAllObjects()
        for object in objects { super.add(object) }
    }

    func mirrorInsert(_ object: NSManagedObject, at index: Int) {
        guard depth == 0 else { return }
        depth += 1
        defer { depth -= 1 }
        if index == super.count { super.add(object) } else { super.insert(object, at: index) }
    }

    func mirrorRemove(at index: Int) {
        guard depth == 0 else { return }
        depth += 1
        defer { depth -= 1 }
        super.removeObject(at: index)
    }

    /// Makes sure that the members are those of the relationship, which may have been refreshed meanwhile.
    private func catchUp() {
        guard depth == 0, let owner, let relationship else { return }
        let state = owner.loadedState(relationship)
        if state.proxy === self { return }
        // Another proxy may have been made while this one was cut off; both stay right as long as they are asked.
        if state.proxy == nil { state.proxy = self }
        mirror(state.order)
    }

    // MARK: To the relationship

    /// Runs a change of the own storage and makes it one of the relationship.
    private func change(_ body: () -> Void) {
        catchUp()
        depth += 1
        body()
        depth -= 1
        guard depth == 0, let owner, let relationship else { return }
        let objects = array.map(checked)
        depth += 1
        owner.arrange(relationship, objects)
        depth -= 1
    }

    private func checked(_ element: Any) -> NSManagedObject {
        guard let object = element as? NSManagedObject else {
            programmerError(
                relationship.map { "\(owner?.shape.name ?? "").\($0.name)" } ?? "NSMutableOrderedSet",
                "the relationship takes managed objects, and was given a \(type(of: element))",
                "Add an object of the relationship's destination")
        }
        return object
    }

    override var count: Int {
        catchUp()
        return super.count
    }

    override func object(at idx: Int) -> Any {
        catchUp()
        return super.object(at: idx)
    }

    override func index(of object: Any) -> Int {
        catchUp()
        return super.index(of: object)
    }

    override func contains(_ object: Any) -> Bool {
        catchUp()
        return super.contains(object)
    }

    override func isEqual(to other: NSOrderedSet) -> Bool {
        catchUp()
        return super.isEqual(to: other)
    }

    override func copy(with zone: NSZone? = nil) -> Any {
        catchUp()
        return NSOrderedSet(array: array)
    }

    override func mutableCopy(with zone: NSZone? = nil) -> Any {
        catchUp()
        return NSMutableOrderedSet(array: array)
    }

    override func insert(_ object: Any, at idx: Int) {
        guard depth == 0, let owner, let relationship else { return change { super.insert(object, at: idx) } }
        catchUp()
        owner.insertIntoMany(relationship, checked(object), at: idx)
    }

    override func removeObject(at idx: Int) {
        guard depth == 0, let owner, let relationship else { return change { super.removeObject(at: idx) } }
        catchUp()
        owner.removeFromMany(relationship, at: idx)
    }

    override func replaceObject(at idx: Int, with obj: Any) { change { super.replaceObject(at: idx, with: obj) } }

    override func setObject(_ obj: Any, at idx: Int) { change { super.setObject(obj, at: idx) } }

    /// - Complexity: O(1), unlike a change that the whole relationship has to follow.
    override func add(_ object: Any) {
        guard depth == 0, let owner, let relationship else { return change { super.add(object) } }
        catchUp()
        owner.addToMany(relationship, checked(object))
    }

    override func add(_ objects: UnsafePointer<AnyObject>!, count: Int) {
        change { super.add(objects, count: count) }
    }

    override func addObjects(from array: [Any]) { change { super.addObjects(from: array) } }

    override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
        change { super.exchangeObject(at: idx1, withObjectAt: idx2) }
    }

    override func moveObjects(at indexes: IndexSet, to idx: Int) { change { super.moveObjects(at: indexes, to: idx) } }

    override func insert(_ objects: [Any], at indexes: IndexSet) { change { super.insert(objects, at: indexes) } }

    override func replaceObjects(in range: NSRange, with objects: UnsafePointer<AnyObject>!, count: Int) {
        change { super.replaceObjects(in: range, with: objects, count: count) }
    }

    override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
        change { super.replaceObjects(at: indexes, with: objects) }
    }

    override func removeObjects(in range: NSRange) { change { super.removeObjects(in: range) } }

    override func removeObjects(at indexes: IndexSet) { change { super.removeObjects(at: indexes) } }

    override func removeAllObjects() { change { super.removeAllObjects() } }

    override func remove(_ object: Any) {
        guard depth == 0, let owner, let relationship else { return change { super.remove(object) } }
        catchUp()
        if let object = object as? NSManagedObject { owner.removeFromMany(relationship, object) }
    }

    override func removeObjects(in array: [Any]) { change { super.removeObjects(in: array) } }

    override func intersect(_ other: NSOrderedSet) { change { super.intersect(other) } }

    override func minus(_ other: NSOrderedSet) { change { super.minus(other) } }

    override func union(_ other: NSOrderedSet) { change { super.union(other) } }

    override func intersectSet(_ other: Set<AnyHashable>) { change { super.intersectSet(other) } }

    override func minusSet(_ other: Set<AnyHashable>) { change { super.minusSet(other) } }

    override func unionSet(_ other: Set<AnyHashable>) { change { super.unionSet(other) } }

    override func sort(comparator cmptr: (Any, Any) -> ComparisonResult) { change { super.sort(comparator: cmptr) } }

    override func sort(options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult) {
        change { super.sort(options: opts, usingComparator: cmptr) }
    }

    override func sortRange(
        _ range: NSRange, options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult
    ) {
        change { super.sortRange(range, options: opts, usingComparator: cmptr) }
    }
}
