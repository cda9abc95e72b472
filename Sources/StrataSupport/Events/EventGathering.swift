internal import CStrataSupport

/// Something that is told when it is over, together with what was part of it: whoever listens looks once for where its
/// metrics, logs and spans go. Belongs to one thread while it runs.
package final class EventGathering {
    /// What was part of it, in the order in which it ended.
    @exclusivity(unchecked) private var parts: [FaultEvent] = []
    /// With so many, these are told by themselves: a long fetch must not fill the memory.
    private static let partsMaximum = 256

    package init() {}

    /// Runs a body. The look-ups for faults that it makes on this thread are parts.
    package func gather<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = strata_events_gatherer()
        // It lives as long as this call, which takes it out again.
        strata_events_set_gatherer(Unmanaged.passUnretained(self).toOpaque())
        defer { strata_events_set_gatherer(outer) }
        defer { withExtendedLifetime(self) {} }
        return try body()
    }

    /// Runs a body of somebody else's, who waits for it.
    package static func apart(_ body: () -> Void) {
        let outer = strata_events_gatherer()
        strata_events_set_gatherer(nil)
        body()
        strata_events_set_gatherer(outer)
    }

    /// What was part of it, which is told once.
    func takeParts() -> [FaultEvent] {
        defer { parts = [] }
        return parts
    }

    /// Whether an event became a part of what the thread does.
    static func take(_ event: StrataEvent) -> Bool {
        guard case .fault(let fault) = event, let gatherer = strata_events_gatherer() else { return false }
        let gathering = Unmanaged<EventGathering>.fromOpaque(gatherer).takeUnretainedValue()
        if gathering.parts.count >= partsMaximum { EventHub.tell(oneByOne: gathering.takeParts()) }
        // As many as a request with one prefetched relationship has.
        if gathering.parts.isEmpty { gathering.parts.reserveCapacity(4) }
        gathering.parts.append(fault)
        return true
    }
}
