import Foundation
import Observation
import StrataIO
import StrataSupport

#if Combine
import OpenCombine
#endif

/// What is kept of objects that somebody observes, beside them, so that all others need no room for it.
///
/// An object is in the table as long as its flag `unobserved` is not set; its deinit takes it out. Safe from any
/// thread, as objects may be released on any.
enum ObservedObjects {
    /// What there is of one object.
    private struct Entry: @unchecked Sendable {
        // Unchecked: the pointer is only handed back to who gave it; publishers may be used from any thread.
        let registrar = ObservationRegistrar()
        var publisher: ObservableObjectPublisher?
        var observers: [any PropertyObserver] = []
        var info: UnsafeMutableRawPointer?
    }

    private static let entries = AdaptiveMutex<[ObjectIdentifier: Entry]>([:])

    /// Runs the body with the object's entry, which is made if need be.
    private static func withEntry<R: Sendable>(
        _ object: NSManagedObject, _ body: @Sendable (inout Entry) -> R
    ) -> R {
        object.flags.remove(.unobserved)
        let key = ObjectIdentifier(object)
        return entries.withLock { entries in
            var entry = entries[key] ?? Entry()
            defer { entries[key] = entry }
            return body(&entry)
        }
    }

    private static func entry(_ object: NSManagedObject) -> Entry? {
        let key = ObjectIdentifier(object)
        return entries.withLock { $0[key] }
    }

    static func remove(_ object: NSManagedObject) {
        let key = ObjectIdentifier(object)
        // Released outside of the lock: what observers hold may be anything.
        let entry = entries.withLock { $0.removeValue(forKey: key) }
        withExtendedLifetime(entry) {}
    }

    static func registrar(of object: NSManagedObject) -> ObservationRegistrar { withEntry(object) { $0.registrar } }

    static func publisher(of object: NSManagedObject) -> ObservableObjectPublisher {
        let box = withEntry(object) { entry in
            let publisher = entry.publisher ?? ObservableObjectPublisher()
            entry.publisher = publisher
            return UncheckedBox(publisher)
        }
        return box.value
    }

    static func setInfo(_ info: UnsafeMutableRawPointer?, of object: NSManagedObject) {
        let bits = UInt(bitPattern: info)
        withEntry(object) { $0.info = UnsafeMutableRawPointer(bitPattern: bits) }
    }

    static func info(of object: NSManagedObject) -> UnsafeMutableRawPointer? {
        object.flags.contains(.unobserved) ? nil : entry(object)?.info
    }

    static func add(_ observer: any PropertyObserver, to object: NSManagedObject) {
        withEntry(object) { $0.observers.append(observer) }
    }

    /// Takes an observer away from the object that had this identity when it came. Nothing happens if that has gone.
    static func remove(_ observer: any PropertyObserver, from object: ObjectIdentifier) {
        entries.withLock { entries in
            guard let index = entries[object]?.observers.firstIndex(where: { $0 === observer }) else { return }
            entries[object]?.observers.remove(at: index)
        }
    }

    /// Tells observers that a property is about to change. ``didChange(_:_:)`` has to follow.
    ///
    /// - Parameter change: asked for if somebody observes that property, since to find a member's place takes long.
    static func willChange(
        _ object: NSManagedObject, _ name: String, _ change: @autoclosure () -> OrderedChange = .setting
    ) {
        guard let entry = entry(object) else { return }
        entry.publisher?.send()
        entry.registrar.willSet(object, keyPath: \NSManagedObject.[observed: name])
        let observers = entry.observers.filter { $0.keys.contains(name) }
        if observers.isEmpty { return }
        let change = change()
        for observer in observers { observer.willChange(object, name, change) }
    }

    /// Tells those who observe a property what its next change is. ``didChangeMembers(_:_:)`` has to follow that.
    static func willChangeMembers(_ object: NSManagedObject, _ name: String, _ change: OrderedChange) {
        for observer in entry(object)?.observers ?? [] where observer.keys.contains(name) {
            observer.willChange(object, name, change)
        }
    }

    /// See ``willChangeMembers(_:_:_:)``.
    static func didChangeMembers(_ object: NSManagedObject, _ name: String) {
        for observer in entry(object)?.observers ?? [] where observer.keys.contains(name) {
            observer.didChange(object)
        }
    }

    /// Tells those who track reads, and those who observe a property, that every one is about to change.
    /// ``didRefresh(_:)`` has to follow.
    static func willRefresh(_ object: NSManagedObject, _ names: some Sequence<String>) {
        guard let entry = entry(object) else { return }
        for name in names { entry.registrar.willSet(object, keyPath: \NSManagedObject.[observed: name]) }
        for observer in entry.observers { observer.willRefresh(object) }
    }

    /// Has the object's publisher send, and tells those who observe a property: after a refresh or a merge, when the
    /// new values can be read.
    static func didRefresh(_ object: NSManagedObject) {
        guard let entry = entry(object) else { return }
        entry.publisher?.send()
        for observer in entry.observers { observer.didRefresh(object) }
    }

    /// An object is about to be read anew. ``didReadAnew(_:_:)`` has to follow.
    ///
    /// - Parameter isKnown: whether it will be known then which properties have changed.
    static func willReadAnew(_ object: NSManagedObject, isKnown: Bool) {
        guard isKnown else { return willRefresh(object, object.shape.properties.keys) }
        guard let entry = entry(object) else { return }
        for observer in entry.observers { observer.willReadAnew(object) }
    }

    /// Tells those who observe properties that have changed, now that the new values can be read.
    ///
    /// - Parameter keys: the properties; nil if that is not known.
    static func didReadAnew(_ object: NSManagedObject, _ keys: Set<String>?) {
        guard let keys else { return didRefresh(object) }
        guard let entry = entry(object) else { return }
        if !keys.isEmpty { entry.publisher?.send() }
        for key in keys {
            entry.registrar.willSet(object, keyPath: \NSManagedObject.[observed: key])
            entry.registrar.didSet(object, keyPath: \NSManagedObject.[observed: key])
        }
        for observer in entry.observers {
            observer.didReadAnew(object, hasChanged: !observer.keys.isDisjoint(with: keys))
        }
    }

    /// Tells observers that a property has changed.
    static func didChange(_ object: NSManagedObject, _ name: String) {
        guard let entry = entry(object) else { return }
        entry.registrar.didSet(object, keyPath: \NSManagedObject.[observed: name])
        for observer in entry.observers where observer.keys.contains(name) { observer.didChange(object) }
    }
}
