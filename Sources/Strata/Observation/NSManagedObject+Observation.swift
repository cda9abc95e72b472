import Foundation
public import Observation
import StrataRuntime

#if Combine
public import OpenCombine
#endif

/// Managed objects can be observed with the Observation module: `withObservationTracking` sees what typed accessors,
/// key-value coding and `willAccessValue(forKey:)` read, property by property, and calls back before the first change
/// of one of them, be it by an accessor, by the other end of a relationship or because the object becomes a fault. A
/// merge, and a refresh that keeps changes, call back for properties whose values they have changed, afterwards: what
/// has changed is not known before.
///
/// Reads are seen in contexts with ``NSManagedObjectContext/isObservationEnabled``, which those of the main queue have
/// from the start.
extension NSManagedObject: Observable {
    /// What key paths of observed properties lead to; the value does not matter.
    final subscript(observed name: String) -> Void { () }

    /// Somebody reads a property.
    @usableFromInline @inline(never)
    final func reportAccess(_ slot: Int) {
        if flags.contains(.sampled) { recordSample(slot) }
        if flags.contains(.observable) { reportAccess(shape.slots[slot].name) }
    }

    /// The object is one to learn from which slots a program reads.
    @inline(never)
    final func recordSample(_ slot: Int) {
        // SAFETY: whoever reads an object on its context's queue has the context.
        let context = registryReference?.withBorrowed { $0.contextReference }
        let isKnown = context?.withBorrowed { $0.faults.learn(slot) }
        if isKnown ?? true { flags.remove(.sampled) }
    }

    /// Somebody reads a property.
    @inline(never)
    final func reportAccess(_ name: String) {
        guard let registry else { return KeyPathNames.record(name, self) }
        if flags.contains(.confined) {
            registry.context?.checkQueue("a read", self)
            if !flags.contains(.tracked) { return }
        }
        if flags.contains(.unobserved), !registry.probe.isTracking { return }
        ObservedObjects.registrar(of: self).access(self, keyPath: \NSManagedObject.[observed: name])
    }

    /// A property is about to change; ``observedDidChange(_:)`` follows.
    @inline(never)
    final func observedWillChange(_ name: String) { ObservedObjects.willChange(self, name) }

    /// A property has changed.
    @inline(never)
    final func observedDidChange(_ name: String) { ObservedObjects.didChange(self, name) }

    /// A relationship is about to change. Returns whether somebody may be observing the object, who then has to be told
    /// when it has changed.
    ///
    /// - Parameter change: how it changes, if it is ordered; asked for only if somebody observes it.
    @inline(__always)
    final func observedWillChange(
        _ relationship: RelationshipShape, _ change: @autoclosure () -> OrderedChange = .setting
    ) -> Bool {
        if flags.contains(.unobserved) { return false }
        ObservedObjects.willChange(self, relationship.name, relationship.isOrdered ? change() : .setting)
        return true
    }

    /// An ordered relationship gets a new member.
    final func coming(to state: ToManyState) -> OrderedChange {
        let count = state.members.count
        return OrderedChange(.insertion, [state.nextPlace.map { min($0, count) } ?? count])
    }

    /// An ordered relationship loses a member.
    final func leaving(_ object: NSManagedObject, _ relationship: RelationshipShape) -> OrderedChange {
        guard let index = loadedState(relationship).order.firstIndex(where: { $0 === object }) else { return .setting }
        return OrderedChange(.removal, [index])
    }

    /// Any property may be about to change, by a refresh, a merge or a rollback; ``observedEverythingDidChange()``
    /// follows when the new values can be read.
    @inline(never)
    final func observedEverythingWillChange() { ObservedObjects.willRefresh(self, shape.properties.keys) }

    /// See ``observedEverythingWillChange()``.
    @inline(never)
    final func observedEverythingDidChange() { ObservedObjects.didRefresh(self) }
}

extension NSManagedObject: ObservableObject {
    /// Sends before each change that a setter makes, and after a refresh, a merge or a rollback, when the new values
    /// can be read. Complexity: O(1); takes a lock.
    public final var objectWillChange: ObservableObjectPublisher { ObservedObjects.publisher(of: self) }
}

extension NSManagedObjectContext {
    /// See ``isObservationEnabled``.
    final func setObservation(_ isEnabled: Bool) {
        if isEnabled {
            registry.registrationFlags.formUnion(.tracking)
            for object in registry.all { object.flags.formUnion(.tracking) }
        } else {
            // Reads that are confined to the queue go on being told.
            let flags: ObjectFlags = registry.registrationFlags.contains(.confined) ? .tracked : .tracking
            registry.registrationFlags.subtract(flags)
            for object in registry.all { object.flags.subtract(flags) }
        }
    }
}
