import Foundation
import StrataSupport

// What accessors of the types that Xcode generates are made of: NSSet and NSOrderedSet.

extension ToManyMembers {
    /// The members as Foundation's set, a copy. It can be cast to `Set<Target>`. Complexity: O(n).
    public var foundationSet: NSSet { NSSet(array: array) }

    /// The members as Foundation's ordered set, a copy. Complexity: O(n).
    public var foundationOrderedSet: NSOrderedSet { NSOrderedSet(array: array) }

    /// Makes the relationship lead to these objects and no others; nil stands for none.
    ///
    /// - Precondition: they are of the relationship's class.
    public func set(_ objects: NSSet?) { set(typed(objects?.allObjects)) }

    /// Makes the relationship lead to these objects in this order and to no others; nil stands for none.
    ///
    /// - Precondition: they are of the relationship's class.
    public func set(_ objects: NSOrderedSet?) { set(typed(objects?.array)) }

    /// Adds objects, those that are not there yet.
    ///
    /// - Precondition: they are of the relationship's class.
    public func add(contentsOf objects: NSSet) { add(contentsOf: typed(objects.allObjects)) }

    /// Adds objects at the end, those that are not there yet.
    ///
    /// - Precondition: they are of the relationship's class.
    public func add(contentsOf objects: NSOrderedSet) { add(contentsOf: typed(objects.array)) }

    /// Takes objects away.
    ///
    /// - Precondition: they are of the relationship's class.
    public func remove(contentsOf objects: NSSet) { remove(contentsOf: typed(objects.allObjects)) }

    /// Takes objects away.
    ///
    /// - Precondition: they are of the relationship's class.
    public func remove(contentsOf objects: NSOrderedSet) { remove(contentsOf: typed(objects.array)) }

    private func typed(_ objects: [Any]?) -> [Target] {
        (objects ?? []).map { object in
            guard let target = object as? Target else {
                programmerError(
                    label, "a \(type(of: object)) can't be in this relationship", "Give it objects of \(Target.self)")
            }
            return target
        }
    }
}
