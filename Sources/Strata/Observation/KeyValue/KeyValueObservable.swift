public import Foundation
import StrataSupport

/// Lets `observe(_:options:changeHandler:)` know the class that it is called on. Managed objects and contexts conform;
/// other classes have no key-value observing on Linux.
public protocol KeyValueObservable: NSObject {}

extension NSManagedObject: KeyValueObservable {}
extension NSManagedObjectContext: KeyValueObservable {}

extension KeyValueObservable where Self: NSManagedObject {
    /// Calls a handler whenever a property changes: after each setter, by an accessor, key-value coding or the other
    /// end of a relationship; after undo; after a refresh, a merge or a rollback, if the value is another one, or the
    /// object is a fault now. Changes of what the class's `keyPathsForValuesAffectingValue(forKey:)` names count, too.
    ///
    /// The handler is called where the change is made, on the context's queue.
    ///
    /// - Parameters:
    ///   - keyPath: a property of the model. Its name is found as for sort descriptors; see
    ///     ``NSManagedObject/propertyNames``.
    ///   - options: which values the handler gets, and when else it is called.
    ///   - changeHandler: gets the object and what has changed.
    /// - Returns: what ends the observation when it is invalidated or released. It does not keep the object.
    /// - Precondition: the class names the key path, its accessor reads exactly one property, or the plugin
    ///   ManagedAccessors has found it among those that the class computes.
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        guard let name = observedName(of: keyPath) else {
            programmerError(
                "\(Self.self).observe(_:options:changeHandler:)",
                "the key path to a \(Value.self) is not known to be one property of the entity \(shape.name)",
                "Name it in the class's propertyNames, or observe each property by itself")
        }
        let affecting = Self.keyPathsForValuesAffectingValue(forKey: name)
        let observer = KeyPathObserver(keyPath, name, affecting: affecting, options, changeHandler)
        ObservedObjects.add(observer, to: self)
        observer.begin(self)
        let identity = ObjectIdentifier(self)
        return NSKeyValueObservation { ObservedObjects.remove(observer, from: identity) }
    }

    /// The key of a property of the model, or of one that the class computes.
    private func observedName<Value>(of keyPath: KeyPath<Self, Value>) -> String? {
        if let name = PropertyNames.name(of: keyPath), shape.property(name) != nil || Self.propertyNames[keyPath] != nil
        {
            return name
        }
        return GeneratedAccessors.record(of: Self.self).summary.accessorNames[keyPath]
    }
}

extension KeyValueObservable where Self: NSManagedObjectContext {
    /// Calls a handler whenever `hasChanges`, `insertedObjects`, `updatedObjects` or `deletedObjects` is another than
    /// before: when an object is first changed, inserted or deleted, and after saving, merging, undoing and giving up.
    ///
    /// The handler is called on the context's queue.
    ///
    /// - Parameters:
    ///   - keyPath: one of the four.
    ///   - options: which values the handler gets. ``NSKeyValueObservingOptions/prior`` is refused: a context does not
    ///     know beforehand.
    ///   - changeHandler: gets the context and what has changed.
    /// - Returns: what ends the observation when it is invalidated or released. It does not keep the context.
    /// - Precondition: the caller is on the context's queue, and the key path is one of the four.
    /// - Complexity: of sets, O(n) in the changed objects for each change; of `hasChanges`, O(1).
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let known: [PartialKeyPath<Self>] = [
            \Self.hasChanges, \Self.insertedObjects, \Self.updatedObjects, \Self.deletedObjects,
        ]
        guard known.contains(keyPath), !options.contains(.prior) else {
            programmerError(
                "\(Self.self).observe(_:options:changeHandler:)",
                "a context can be observed for hasChanges, insertedObjects, updatedObjects and deletedObjects, after"
                    + " the change",
                "Listen to the context's notifications instead")
        }
        let observer = ContextObserver(self, keyPath, options, changeHandler)
        stateObservers.append(observer)
        if options.contains(.initial) {
            let value = options.contains(.new) ? self[keyPath: keyPath] : nil
            changeHandler(self, NSKeyValueObservedChange(newValue: value, oldValue: nil))
        }
        return NSKeyValueObservation { [reference] in
            guard let context = reference.context else { return }
            context.queue.async(for: context) { context.stateObservers.removeAll { $0 === observer } }
            observer.end()
        }
    }
}
