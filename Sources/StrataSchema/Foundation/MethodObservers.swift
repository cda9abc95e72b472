import Foundation
import StrataSupport
import Synchronization

/// An object whose method is called for notifications.
final class MethodObserver: @unchecked Sendable {
    // Unchecked: only the token changes, under the lock of `MethodObservers`. On which thread a method may be called is
    // up to those who observe and post, as on Apple's platforms.
    fileprivate let observerID: ObjectIdentifier
    fileprivate var token: (any NSObjectProtocol)?
    private weak let observer: AnyObject?
    private weak let object: AnyObject?
    private weak let center: NotificationCenter?
    private let name: Notification.Name?
    private let objectID: ObjectIdentifier?
    private let centerID: ObjectIdentifier
    private let isOver = Atomic(false)
    private let call: (AnyObject, Notification) -> Void

    init<Observer: AnyObject>(
        _ observer: Observer, _ method: @escaping (Observer) -> (Notification) -> Void, _ name: Notification.Name?,
        _ object: Any?, _ center: NotificationCenter
    ) {
        let object = object.map { $0 as AnyObject }
        observerID = ObjectIdentifier(observer)
        self.observer = observer
        self.object = object
        self.center = center
        self.name = name
        objectID = object.map { ObjectIdentifier($0) }
        centerID = ObjectIdentifier(center)
        call = { observer, notification in
            if let observer = observer as? Observer { method(observer)(notification) }
        }
    }

    /// Foundation is not told the object, since it would keep it.
    fileprivate func begin() -> (any NSObjectProtocol)? {
        center?.addObserver(forName: name, object: nil, queue: nil) { [self] in receive($0) }
    }

    private func receive(_ notification: Notification) {
        // Foundation still calls who was there when the posting began.
        guard !isOver.load(ordering: .acquiring) else { return }
        if objectID != nil {
            guard let object, object === notification.object.map({ $0 as AnyObject }) else { return }
        }
        if let observer { call(observer, notification) }
    }

    /// Not to be asked under a lock: what is asked may be let go of by everyone else meanwhile.
    fileprivate var isGone: Bool { observer == nil || center == nil }

    /// By addresses. If something else is at one of them now, this observer is never called again anyway.
    fileprivate func isAbout(_ name: Notification.Name?, _ object: AnyObject?, of center: NotificationCenter) -> Bool {
        centerID == ObjectIdentifier(center) && (name == nil || name == self.name)
            && (object == nil || object.map { ObjectIdentifier($0) } == objectID)
    }

    fileprivate func end() {
        isOver.store(true, ordering: .releasing)
        if let token { center?.removeObserver(token as Any) }
    }
}

/// Who observes by a method. Safe from any thread.
final class MethodObservers: Sendable {
    static let shared = MethodObservers()

    private struct State {
        var observers: [ObjectIdentifier: [MethodObserver]] = [:]
        var count = 0
        /// At how many those that are gone are looked for.
        var limit = MethodObservers.countMinimum

        /// Takes some of an object's out, and returns them: nothing may be freed under the lock.
        mutating func take(of id: ObjectIdentifier, where isTaken: (MethodObserver) -> Bool) -> [MethodObserver] {
            let all = observers[id] ?? []
            let taken = all.filter(isTaken)
            let rest = all.filter { observer in !taken.contains { $0 === observer } }
            observers[id] = rest.isEmpty ? nil : rest
            count -= taken.count
            return taken
        }
    }

    private static let countMinimum = 64
    private let state = AdaptiveMutex(State())

    /// How many there are, with those that are gone and have not been looked for.
    var count: Int { state.withLock { $0.count } }

    func add(_ new: MethodObserver) {
        let token = new.begin()
        let isDue = state.withLock { state in
            new.token = token
            state.observers[new.observerID, default: []].append(new)
            state.count += 1
            return state.count >= state.limit
        }
        if isDue { removeThoseGone() }
    }

    /// - Parameter observer: it may be about to be freed, when weak references to it are nil already.
    func remove(_ observer: AnyObject, _ name: Notification.Name?, _ object: Any?, from center: NotificationCenter) {
        let object = object.map { $0 as AnyObject }
        let found = state.withLock { state in
            state.take(of: ObjectIdentifier(observer)) { $0.isAbout(name, object, of: center) }
        }
        for observer in found { observer.end() }
    }

    private func removeThoseGone() {
        let all = state.withLock { state in state.observers.values.flatMap { $0 } }
        let gone = all.filter(\.isGone)
        let found = state.withLock { state in
            let found = gone.flatMap { gone in state.take(of: gone.observerID) { $0 === gone } }
            state.limit = max(Self.countMinimum, 2 * state.count)
            return found
        }
        for observer in found { observer.end() }
    }
}
