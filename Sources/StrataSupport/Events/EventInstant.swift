internal import CStrataSupport

/// A moment, for what is timed at every event.
///
/// `ContinuousClock.Instant` would do, but the compiler does not know its size: what holds one costs several times as
/// much to make and to hand on.
package struct EventInstant: Comparable, Sendable {
    /// Of a clock that goes on while the machine sleeps.
    private let nanoseconds: Int64

    /// clock_gettime(2).
    package static var now: EventInstant { EventInstant(nanoseconds: strata_events_now()) }

    package static func < (one: EventInstant, other: EventInstant) -> Bool { one.nanoseconds < other.nanoseconds }

    /// From an earlier moment until this one.
    package func nanoseconds(since earlier: EventInstant) -> Int64 { nanoseconds - earlier.nanoseconds }
}
