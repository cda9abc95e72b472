import Foundation

/// Is told of the changes of one property of a managed object, on the queue that changes it.
protocol PropertyObserver: AnyObject, Sendable {
    /// The property, and those whose changes count as changes of it.
    var keys: Set<String> { get }

    /// One of ``keys`` is about to change.
    func willChange(_ object: NSManagedObject, _ key: String, _ change: OrderedChange)
    func didChange(_ object: NSManagedObject)
    /// The object is about to be read anew.
    func willRefresh(_ object: NSManagedObject)
    func didRefresh(_ object: NSManagedObject)
    /// The object, which is no fault, is about to be read anew, and is none afterwards.
    func willReadAnew(_ object: NSManagedObject)
    func didReadAnew(_ object: NSManagedObject, hasChanged: Bool)
}

/// Calls the handler of one observation.
final class KeyPathObserver<Object: NSManagedObject, Value>: PropertyObserver, @unchecked Sendable {
    // Unchecked: only used on the queue of the object's context, or by whoever changes an object without one.
    typealias Handler = (Object, NSKeyValueObservedChange<Value>) -> Void

    let keys: Set<String>
    private let name: String
    private let keyPath: KeyPath<Object, Value>
    private let options: NSKeyValueObservingOptions
    private let handler: Handler
    /// How many announced changes are under way: an accessor's and the one within count as one.
    private var depth = 0
    private var old: Value?
    /// What the announced change is.
    private var change = OrderedChange.setting

    /// - Parameters:
    ///   - name: the property that the key path leads to.
    ///   - affecting: properties whose changes are changes of this one.
    init(
        _ keyPath: KeyPath<Object, Value>, _ name: String, affecting: Set<String>,
        _ options: NSKeyValueObservingOptions, _ handler: @escaping Handler
    ) {
        self.keyPath = keyPath
        self.name = name
        keys = affecting.union([name])
        self.options = options
        self.handler = handler
    }

    func begin(_ object: Object) {
        guard options.contains(.initial) else { return }
        handler(object, NSKeyValueObservedChange(newValue: newValue(object), oldValue: nil))
    }

    func willChange(_ object: NSManagedObject, _ key: String, _ change: OrderedChange) {
        depth += 1
        guard depth == 1, let object = object as? Object else { return }
        self.change = key == name ? change : .setting
        old = options.contains(.old) ? object[keyPath: keyPath] : nil
        tellBefore(object)
    }

    func didChange(_ object: NSManagedObject) {
        guard depth > 0 else { return }
        depth -= 1
        guard depth == 0, let object = object as? Object else { return }
        tell(object, newValue(object))
    }

    func willRefresh(_ object: NSManagedObject) {
        guard depth == 0, let object = object as? Object else { return }
        // A fault has no value that could be compared, and is not to be read for its old one.
        old = object.isUnread ? nil : object[keyPath: keyPath]
        tellBefore(object)
    }

    func didRefresh(_ object: NSManagedObject) {
        guard depth == 0, let object = object as? Object else { return }
        guard !object.isUnread || options.contains(.new) else { return tell(object, nil) }
        let new = object[keyPath: keyPath]
        if let old = ExactText.comparable(old), let new = ExactText.comparable(new), old == new {
            self.old = nil
            return
        }
        tell(object, options.contains(.new) ? new : nil)
    }

    func willReadAnew(_ object: NSManagedObject) {
        guard depth == 0, let object = object as? Object else { return }
        old = object[keyPath: keyPath]
    }

    func didReadAnew(_ object: NSManagedObject, hasChanged: Bool) {
        guard depth == 0, let object = object as? Object else { return }
        if !hasChanged {
            old = nil
            return
        }
        tellBefore(object)
        didRefresh(object)
    }

    private func newValue(_ object: Object) -> Value? { options.contains(.new) ? object[keyPath: keyPath] : nil }

    private func tellBefore(_ object: Object) {
        guard options.contains(.prior) else { return }
        handler(
            object,
            NSKeyValueObservedChange(
                newValue: nil, oldValue: options.contains(.old) ? old : nil, isPrior: true, change))
    }

    private func tell(_ object: Object, _ new: Value?) {
        let old = options.contains(.old) ? old : nil
        let change = change
        (self.old, self.change) = (nil, .setting)
        handler(object, NSKeyValueObservedChange(newValue: new, oldValue: old, change))
    }
}
