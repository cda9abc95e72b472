/// Whoever listens to what the library does.
package struct EventListener: Sendable {
    /// Runs a body with what was bound where the scope was taken.
    package typealias Scope = @Sendable (_ body: () -> Void) -> Void

    /// What it wants to hear of.
    package var kinds: EventKinds
    /// Hears of an event, and of those that were part of it and came before, whether it wants these or not, on the
    /// thread that did it, which may hold locks: it returns soon, and uses no store.
    package var happened: @Sendable (_ event: StrataEvent, _ parts: EventParts) -> Void
    /// Whether it calls what may be another's code only by way of ``EventHub/callingOut(_:)``. Otherwise all of it is
    /// called that way, which costs as much as counting an event.
    package var guardsCalls: Bool
    /// The calling task's values that belong to the listener, for work that another thread does for the task; nil if
    /// there is nothing to bind. Asked with ``EventKinds/taskLocals``.
    package var capture: @Sendable () -> Scope?

    package init(
        kinds: EventKinds, guardsCalls: Bool,
        happened: @escaping @Sendable (_ event: StrataEvent, _ parts: EventParts) -> Void
    ) {
        self.kinds = kinds
        self.guardsCalls = guardsCalls
        self.happened = happened
        capture = { nil }
    }

    /// One that hears of events one by one.
    package init(
        kinds: EventKinds, happened: @escaping @Sendable (StrataEvent) -> Void,
        capture: @escaping @Sendable () -> Scope? = { nil }
    ) {
        self.kinds = kinds
        guardsCalls = false
        self.happened = { event, parts in
            parts.forEach(kinds, happened)
            happened(event)
        }
        self.capture = capture
    }
}
