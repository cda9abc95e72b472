#if Combine
public import Foundation
public import OpenCombine

extension KeyValueObservable where Self: NSManagedObject {
    /// The values of a property, as `observe(_:options:changeHandler:)` tells them.
    public func publisher<Value>(
        for keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [.initial, .new]
    ) -> KeyValueObservingPublisher<Self, Value> {
        KeyValueObservingPublisher(self, keyPath) { [self] in
            observe(keyPath, options: options, changeHandler: $0)
        }
    }
}

extension KeyValueObservable where Self: NSManagedObjectContext {
    /// The values of what a context says of itself, as `observe(_:options:changeHandler:)` tells them.
    public func publisher<Value>(
        for keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [.initial, .new]
    ) -> KeyValueObservingPublisher<Self, Value> {
        KeyValueObservingPublisher(self, keyPath) { [self] in
            observe(keyPath, options: options, changeHandler: $0)
        }
    }
}

/// Publishes the values of a property. A subscriber that has asked for none gets the last one when it asks; it is
/// called where the change is made.
public struct KeyValueObservingPublisher<Subject: NSObject, Value>: Publisher {
    public typealias Output = Value
    public typealias Failure = Never
    typealias Handler = (Subject, NSKeyValueObservedChange<Value>) -> Void

    /// The observed object.
    public let object: Subject
    /// The observed property.
    public let keyPath: KeyPath<Subject, Value>
    private let observe: (@escaping Handler) -> NSKeyValueObservation

    init(
        _ object: Subject, _ keyPath: KeyPath<Subject, Value>,
        _ observe: @escaping (@escaping Handler) -> NSKeyValueObservation
    ) {
        self.object = object
        self.keyPath = keyPath
        self.observe = observe
    }

    public func receive<Downstream: Subscriber>(
        subscriber: Downstream
    ) where Downstream.Input == Value, Downstream.Failure == Never {
        let subscription = KeyValueSubscription(subscriber)
        subscriber.receive(subscription: subscription)
        let keyPath = keyPath
        subscription.begin(observe { object, _ in subscription.offer(object[keyPath: keyPath]) })
    }
}

private final class KeyValueSubscription<Downstream: Subscriber>: Subscription where Downstream.Failure == Never {
    private struct State {
        var downstream: Downstream?
        var demand = Subscribers.Demand.none
        var last: Downstream.Input?
        var observation: NSKeyValueObservation?
    }

    private let lock = NSLock()
    private var state: State

    init(_ downstream: Downstream) { state = State(downstream: downstream) }

    func begin(_ observation: NSKeyValueObservation) {
        let isOver = lock.withLock {
            state.observation = observation
            return state.downstream == nil
        }
        if isOver { observation.invalidate() }
    }

    func offer(_ value: Downstream.Input) {
        let downstream: Downstream? = lock.withLock {
            state.last = value
            return take()
        }
        deliver(value, to: downstream)
    }

    func request(_ demand: Subscribers.Demand) {
        let pending: (Downstream, Downstream.Input)? = lock.withLock {
            state.demand += demand
            guard let value = state.last, let downstream = take() else { return nil }
            return (downstream, value)
        }
        if let pending { deliver(pending.1, to: pending.0) }
    }

    func cancel() {
        let observation = lock.withLock {
            defer { state = State(downstream: nil) }
            return state.observation
        }
        observation?.invalidate()
    }

    /// The subscriber, if it wants a value, which it is given.
    private func take() -> Downstream? {
        guard state.demand > .none, let downstream = state.downstream else { return nil }
        state.demand -= 1
        state.last = nil
        return downstream
    }

    private func deliver(_ value: Downstream.Input, to downstream: Downstream?) {
        guard let downstream else { return }
        let more = downstream.receive(value)
        lock.withLock { state.demand += more }
    }
}
#endif
