import Foundation
import StrataSupport
import Synchronization

/// The streams that listen to a context, and the one observer of its notifications that feeds them. The context has it;
/// when the context goes, the streams end.
final class ChangeStreams: Sendable {
    /// Sees a notification; returns whether it is done.
    typealias Listener = @Sendable (Notification) -> Bool

    private struct Stream {
        var listener: Listener
        var finish: @Sendable () -> Void
    }

    private struct State {
        var next = 0
        var streams: [Int: Stream] = [:]
    }

    private let state = Mutex<State>(State())
    private let tokens: UncheckedBox<[any NSObjectProtocol]>

    init(_ context: NSManagedObjectContext) {
        let target = UncheckedBox(WeakStreams())
        tokens = UncheckedBox(
            [.NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave].map { name in
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { notification in
                    target.value.streams?.deliver(notification)
                }
            })
        target.value.streams = self
    }

    /// Set once, before the first notification.
    private final class WeakStreams {
        weak var streams: ChangeStreams?
    }

    deinit {
        for token in tokens.value { NotificationCenter.default.removeObserver(token) }
        for stream in state.withLock({ $0.streams.values.map { $0 } }) { stream.finish() }
    }

    private func deliver(_ notification: Notification) {
        let streams = state.withLock { $0.streams }
        // In the order in which they came, so that what two of them see can be compared.
        for (id, stream) in streams.sorted(by: { $0.key < $1.key }) where stream.listener(notification) {
            remove(id)
            stream.finish()
        }
    }

    private func remove(_ id: Int) {
        let removed = state.withLock { $0.streams.removeValue(forKey: id) }
        withExtendedLifetime(removed) {}
    }

    /// A new stream of what `read` makes of notifications; nil is passed over.
    func add<Element: Sendable>(
        bufferingPolicy: AsyncStream<Element>.Continuation.BufferingPolicy,
        _ read: @escaping @Sendable (Notification) -> (element: Element?, isLast: Bool)
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: bufferingPolicy)
        let listener: Listener = { notification in
            let (element, isLast) = read(notification)
            if let element { continuation.yield(element) }
            return isLast
        }
        let id = state.withLock { state in
            state.next += 1
            state.streams[state.next] = Stream(listener: listener, finish: { continuation.finish() })
            return state.next
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }
}

extension NSManagedObjectContext {
    /// What happens to the context's objects from now on, as an asynchronous sequence. It ends when the context goes or
    /// the iterating task is cancelled; it does not keep the context alive.
    ///
    /// Elements are IDs, so that they may be used on any thread. To be called on the context's queue.
    /// - Parameter bufferingPolicy: what to do with changes that nobody has waited for; by default all are kept.
    public final func changes(
        bufferingPolicy: AsyncStream<ContextChange>.Continuation.BufferingPolicy = .unbounded
    ) -> AsyncStream<ContextChange> {
        ensuredStreams.add(bufferingPolicy: bufferingPolicy) { (ContextChange($0), false) }
    }

    fileprivate final var ensuredStreams: ChangeStreams {
        if let changeStreams { return changeStreams }
        let streams = ChangeStreams(self)
        changeStreams = streams
        return streams
    }
}

extension NSManagedObject {
    /// What happens to this object from now on, as an asynchronous sequence: one element for each objects-did-change
    /// notification of its context that it is in. It ends when the object's deletion has been saved, when the context
    /// is reset or goes, and when the iterating task is cancelled; it keeps neither alive.
    ///
    /// To be called on the context's queue. Ends at once for an object without context.
    /// - Parameter bufferingPolicy: what to do with changes that nobody has waited for; by default all are kept.
    public final func changes(
        bufferingPolicy: AsyncStream<ManagedObjectChange>.Continuation.BufferingPolicy = .unbounded
    ) -> AsyncStream<ManagedObjectChange> {
        guard let context = registry?.context else { return AsyncStream { $0.finish() } }
        let target = UncheckedBox(WeakObject(object: self))
        return context.ensuredStreams.add(bufferingPolicy: bufferingPolicy) { notification in
            guard let object = target.value.object else { return (nil, true) }
            return object.change(in: notification)
        }
    }

    /// A weak reference that is only followed on the context's queue.
    private struct WeakObject {
        weak var object: NSManagedObject?
    }

    private final func change(in notification: Notification) -> (element: ManagedObjectChange?, isLast: Bool) {
        let info = notification.userInfo ?? [:]
        func contains(_ key: String) -> Bool {
            (info[key] as? Set<NSManagedObject>)?.contains(self) == true
        }
        if notification.name == .NSManagedObjectContextDidSave { return (nil, contains(NSDeletedObjectsKey)) }
        if info[NSInvalidatedAllObjectsKey] != nil { return (ManagedObjectChange(kind: .invalidated), true) }
        if contains(NSDeletedObjectsKey) {
            // A deletion that was merged in has been saved elsewhere.
            return (ManagedObjectChange(kind: .deleted), flags.contains(.gone))
        }
        if contains(NSInsertedObjectsKey) { return (ManagedObjectChange(kind: .inserted, keys: eventKeys), false) }
        if contains(NSUpdatedObjectsKey) { return (ManagedObjectChange(kind: .updated, keys: eventKeys), false) }
        if contains(NSRefreshedObjectsKey) {
            return (ManagedObjectChange(kind: .refreshed, keys: refreshedKeys), false)
        }
        return (nil, false)
    }

    /// The properties that have other values since the object was read anew, all of them if that cannot be known.
    private final var refreshedKeys: Set<String> {
        let base = registry?.context?.pipeline.refreshBases[ObjectIdentifier(self)]
        return base?.changedKeys(of: self) ?? Set(shape.properties.keys)
    }

    /// The properties that were set since pending changes were last processed; of to-many relationships, since the last
    /// save.
    private final var eventKeys: Set<String> {
        var keys: Set<String> = []
        if let overlay {
            for (slot, info) in shape.slots.enumerated() where !info.isHidden && overlay.isChangedInEvent(slot) {
                keys.insert(info.name)
            }
        }
        for relationship in shape.relationships where relationship.isToMany {
            if existingState(relationship)?.isChanged == true { keys.insert(relationship.name) }
        }
        return keys
    }
}

extension ContextChange {
    fileprivate init(_ notification: Notification) {
        let info = notification.userInfo ?? [:]
        func ids(_ key: String) -> Set<NSManagedObjectID> {
            Set((info[key] as? Set<NSManagedObject> ?? []).map(\.objectID))
        }
        if notification.name == .NSManagedObjectContextDidSave {
            kind = .saved
        } else {
            kind = info[NSInvalidatedAllObjectsKey] == nil ? .changed : .invalidated
        }
        inserted = ids(NSInsertedObjectsKey)
        updated = ids(NSUpdatedObjectsKey)
        deleted = ids(NSDeletedObjectsKey)
        refreshed = ids(NSRefreshedObjectsKey)
    }
}
