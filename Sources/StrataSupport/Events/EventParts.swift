internal import CStrataSupport

/// What was part of something, to be told with that: whoever listens looks once for where its metrics, logs and spans
/// go. Lies with whoever gathers it, on the thread that does so.
package struct EventParts {
    /// In the order in which they ended.
    package private(set) var faults: [FaultEvent] = []
    /// The first one; others are told by themselves. It is told without the locks that a flush is made under.
    package private(set) var flush: FlushEvent?
    /// With so many, faults are told by themselves: a long fetch must not fill the memory.
    private static let faultsMaximum = 256

    package init() {}

    /// Runs a body. The look-ups for faults and the flush that it makes on this thread are parts.
    package mutating func gather<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = strata_events_gatherer()
        defer { strata_events_set_gatherer(outer) }
        // It stays where it is until this call is over, which takes it out again. Only ``take(_:)`` reaches it until
        // then, on this thread.
        return try withUnsafeMutablePointer(to: &self) { parts in
            strata_events_set_gatherer(parts)
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

    /// Whether a flush became a part of what the thread does.
    static func take(_ flush: FlushEvent) -> Bool {
        guard let parts = strata_events_gatherer()?.assumingMemoryBound(to: EventParts.self),
            parts.pointee.flush == nil
        else { return false }
        parts.pointee.flush = flush
        return true
    }

    /// Whether an event became a part of what the thread does.
    static func take(_ event: StrataEvent) -> Bool {
        switch event {
        case .fault(let fault):
            guard let parts = strata_events_gatherer()?.assumingMemoryBound(to: EventParts.self) else { return false }
            parts.pointee.add(fault)
            return true
        case .flush(let flush): return take(flush)
        default: return false
        }
    }

    private mutating func add(_ fault: FaultEvent) {
        if faults.count >= Self.faultsMaximum {
            let told = faults
            faults = []
            for fault in told { EventHub.tellNow(.fault(fault)) }
        }
        // As many as a request with one prefetched relationship has.
        if faults.isEmpty { faults.reserveCapacity(4) }
        faults.append(fault)
    }

    /// Each part of some kinds as an event of its own: the look-ups, then the flush.
    func forEach(_ kinds: EventKinds, _ body: (StrataEvent) -> Void) {
        if kinds.contains(.fault) { for fault in faults { body(.fault(fault)) } }
        if kinds.contains(.flush), let flush { body(.flush(flush)) }
    }
}
