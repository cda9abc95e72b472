import Foundation
import Observation
import StrataIO

/// What is kept of objects that somebody observes, beside them, so that all others need no room for it.
///
/// An object is in the table as long as its flag `unobserved` is not set; its deinit takes it out. Safe from any
/// thread, as objects may be released on any.
enum ObservedObjects {
    /// What there is of one object.
    private struct Entry: @unchecked Sendable {
        // Unchecked: the pointer is only handed back to who gave it.
        let registrar = ObservationRegistrar()
        var publisher: ObservableObjectPublisher?
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
        withEntry(object) { entry in
            let publisher = entry.publisher ?? ObservableObjectPublisher()
            entry.publisher = publisher
            return publisher
        }
    }

    static func setInfo(_ info: UnsafeMutableRawPointer?, of object: NSManagedObject) {
        let bits = UInt(bitPattern: info)
        withEntry(object) { $0.info = UnsafeMutableRawPointer(bitPattern: bits) }
    }

    static func info(of object: NSManagedObject) -> UnsafeMutableRawPointer? {
        object.flags.contains(.unobserved) ? nil : entry(object)?.info
    }

    /// Tells observers that a property is about to change.
    static func willChange(_ object: NSManagedObject, _ name: String) {
        guard let entry = entry(object) else { return }
        entry.publisher?.send()
        entry.registrar.willSet(object, keyPath: \NSManagedObject.[observed: name])
    }

    /// Tells those who track reads that every property is about to change. ``publish(_:)`` has to follow.
    static func willRefresh(_ object: NSManagedObject, _ names: some Sequence<String>) {
        guard let entry = entry(object) else { return }
        for name in names { entry.registrar.willSet(object, keyPath: \NSManagedObject.[observed: name]) }
    }

    /// Has the object's publisher send. After a refresh or a merge it does so when the new values can be read.
    static func publish(_ object: NSManagedObject) { entry(object)?.publisher?.send() }

    /// Tells observers that a property has changed.
    static func didChange(_ object: NSManagedObject, _ name: String) {
        entry(object)?.registrar.didSet(object, keyPath: \NSManagedObject.[observed: name])
    }
}
