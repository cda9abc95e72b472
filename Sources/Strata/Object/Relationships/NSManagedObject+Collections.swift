import Foundation
import StrataSupport

extension NSManagedObject {
    final func liveSet(_ key: String) -> NSMutableSet {
        guard let relationship = shape.relationship(key), relationship.isToMany, !relationship.isOrdered else {
            programmerError(
                "\(shape.name).\(key)",
                "NSManagedObjects of entity '\(shape.name)' do not support -mutableSetValueForKey: for the"
                    + " property '\(key)'\(shape.suggestion(for: key))",
                "Name an unordered to-many relationship")
        }
        if flags.contains(.observable) { reportAccess(key) }
        return ManagedSet(self, relationship)
    }

    final func liveOrderedSet(_ key: String) -> NSMutableOrderedSet {
        guard let relationship = shape.relationship(key), relationship.isToMany, relationship.isOrdered else {
            programmerError(
                "\(shape.name).\(key)",
                "NSManagedObjects of entity '\(shape.name)' do not support -mutableOrderedSetValueForKey: for the"
                    + " property '\(key)'\(shape.suggestion(for: key))",
                "Name an ordered to-many relationship")
        }
        if flags.contains(.observable) { reportAccess(key) }
        if let proxy = loadedState(relationship).proxy { return proxy }
        return ManagedOrderedSet(self, relationship)
    }

    /// As ``mutableSetValue(forKey:)``, for the object that the path leads to.
    ///
    /// - Precondition: the objects on the way are there.
    public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
        let (owner, key) = owner(ofKeyPath: keyPath)
        return owner.mutableSetValue(forKey: key)
    }

    /// As ``mutableOrderedSetValue(forKey:)``, for the object that the path leads to.
    ///
    /// - Precondition: the objects on the way are there.
    public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
        let (owner, key) = owner(ofKeyPath: keyPath)
        return owner.mutableOrderedSetValue(forKey: key)
    }

    private func owner(ofKeyPath keyPath: String) -> (NSManagedObject, String) {
        guard let dot = keyPath.lastIndex(of: ".") else { return (self, keyPath) }
        guard let owner = value(forKeyPath: String(keyPath[..<dot])) as? NSManagedObject else {
            programmerError(
                shape.name, "the key path \"\(keyPath)\" leads to no object", "Set what lies on the way first")
        }
        return (owner, String(keyPath[keyPath.index(after: dot)...]))
    }
}
