internal import CStrataSupport

/// What was part of something, to be told with that: whoever listens looks once for where its metrics, logs and spans
/// go. Lies with whoever gathers it, on the thread that does so.
package struct EventGathering {
    /// In the order in which it ended.
    private(set) var parts: [FaultEvent] = []
    /// With so many, these are told by themselves: a long fetch must not fill the memory.
    private static let partsMaximum = 256

    package init() {}

    /// Runs a body. The look-ups for faults that it makes on this thread are parts.
    package mutating func gather<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = strata_events_gatherer()
        defer { strata_events_set_gatherer(outer) }
        // It stays where it is until this call is over, which takes it out again. Only ``take(_:)`` reaches it until
        // then, on this thread.
        return try withUnsafeMutablePointer(to: &self) { gathering in
            strata_events_set_gatherer(gathering)
            return try body()
        }
    }

    /// Runs a body of somebody else's, who waits for it.
    package static func apart(_ body: () -> Void) {
        let outer = strata_events_gatherer()
        strata_events_set_gatherer(nil)
        body()
        strata_events_set_gatherer(outer)
    }

    /// Whether an event became a part of what the thread does.
    static func take(_ event: StrataEvent) -> Bool {
        guard case .fault(let fault) = event, let gatherer = strata_events_gatherer() else { return false }
        let gathering = gatherer.assumingMemoryBound(to: EventGathering.self)
        if gathering.pointee.parts.count >= partsMaximum {
            let told = gathering.pointee.parts
            gathering.pointee.parts = []
            EventHub.tell(oneByOne: told)
        }
        // As many as a request with one prefetched relationship has.
        if gathering.pointee.parts.isEmpty { gathering.pointee.parts.reserveCapacity(4) }
        gathering.pointee.parts.append(fault)
        return true
    }
}
