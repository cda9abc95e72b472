/// What the library can tell of. Who listens names what it wants: nothing else is measured.
@frozen @usableFromInline
package struct EventKinds: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt32

    @inlinable
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Fetches and counts.
    @inlinable package static var fetch: EventKinds { EventKinds(rawValue: 1 << 0) }
    @inlinable package static var save: EventKinds { EventKinds(rawValue: 1 << 1) }
    @inlinable package static var batch: EventKinds { EventKinds(rawValue: 1 << 2) }
    @inlinable package static var conflict: EventKinds { EventKinds(rawValue: 1 << 3) }
    @inlinable package static var flush: EventKinds { EventKinds(rawValue: 1 << 4) }
    /// Rows looked up for many faults together.
    @inlinable package static var fault: EventKinds { EventKinds(rawValue: 1 << 5) }
    /// Waits for a turn.
    @inlinable package static var wait: EventKinds { EventKinds(rawValue: 1 << 6) }
    @inlinable package static var compaction: EventKinds { EventKinds(rawValue: 1 << 7) }
    @inlinable package static var checkpoint: EventKinds { EventKinds(rawValue: 1 << 8) }
    @inlinable package static var migration: EventKinds { EventKinds(rawValue: 1 << 9) }
    @inlinable package static var opening: EventKinds { EventKinds(rawValue: 1 << 10) }
    @inlinable package static var following: EventKinds { EventKinds(rawValue: 1 << 11) }
    @inlinable package static var damage: EventKinds { EventKinds(rawValue: 1 << 12) }
    /// Requests to a bucket that a log is shipped to.
    @inlinable package static var shipping: EventKinds { EventKinds(rawValue: 1 << 15) }
    /// No event: blocks given to a context run with the task-local values of who has given them.
    @inlinable package static var taskLocals: EventKinds { EventKinds(rawValue: 1 << 13) }
    /// No event: fetches come with all that ``FetchEvent/explanation`` says, some of which is counted for it alone.
    @inlinable package static var explanations: EventKinds { EventKinds(rawValue: 1 << 14) }
    /// No event: fetches come with their results, so that some can be named.
    @inlinable package static var results: EventKinds { EventKinds(rawValue: 1 << 16) }
}
