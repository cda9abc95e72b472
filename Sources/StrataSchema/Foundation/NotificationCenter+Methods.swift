import Foundation

/// Observers whose method is called. On Apple's platforms a selector says which; here it is the method itself, of the
/// class: `addObserver(self, selector: Stack.changed(_:), name: .NSManagedObjectContextDidSave, object: context)`.
///
/// As there, the center keeps neither the observer nor the object whose notifications it observes, and the observation
/// ends with the observer.
extension NotificationCenter {
    /// Has a method called for each notification of a name, on the thread that posts it.
    ///
    /// - Parameters:
    ///   - observer: whose method is called. It is not kept.
    ///   - method: a method of its class, `Stack.changed(_:)`.
    ///   - name: nil for every name.
    ///   - object: whose notifications; nil for everyone's. It is not kept.
    /// - Complexity: O(1), and for each notification of the name, of whatever object, a comparison.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, selector method: @escaping (Observer) -> (Notification) -> Void,
        name: NSNotification.Name?, object: Any?
    ) {
        MethodObservers.shared.add(MethodObserver(observer, method, name, object, self))
    }

    /// The same for a method that does not ask what happened.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, selector method: @escaping (Observer) -> () -> Void, name: NSNotification.Name?,
        object: Any?
    ) {
        addObserver(
            observer, selector: { observer in { (_: Notification) in method(observer)() } }, name: name, object: object)
    }

    /// The same for a method that takes the notification as an object.
    @_disfavoredOverload
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer, selector method: @escaping (Observer) -> (NSNotification) -> Void,
        name: NSNotification.Name?, object: Any?
    ) {
        addObserver(
            observer,
            selector: { observer in
                { (notification: Notification) in
                    method(observer)(
                        NSNotification(
                            name: notification.name, object: notification.object, userInfo: notification.userInfo))
                }
            }, name: name, object: object)
    }

    /// Ends what was begun for an observer, or what a token is for. An observer that goes needs no call.
    public func removeObserver(_ observer: AnyObject) {
        removeObserver(observer, name: nil, object: nil)
    }

    /// Ends what was begun for an observer, or what a token is for, as far as it is about a name and an object; nil
    /// means every one.
    public func removeObserver(_ observer: AnyObject, name: NSNotification.Name?, object: Any?) {
        MethodObservers.shared.remove(observer, name, object, from: self)
        // Foundation's own, which knows tokens only.
        removeObserver(observer as Any, name: name, object: object)
    }
}
