import Strata
import Synchronization

/// Who holds a context, or waits for one.
final class PoolHolder: Sendable {
    let purpose: String
    let access: StrataContextPool.Access
    /// Whether its task has been cancelled. Changed under the pool's lock.
    let isCancelled = Atomic(false)

    init(purpose: String, access: StrataContextPool.Access) {
        self.purpose = purpose
        self.access = access
    }
}

/// Contexts that are free, those who hold one, and those who wait.
struct PoolState {
    enum Phase { case opening, open, closed }

    struct Waiter {
        let holder: PoolHolder
        let continuation: CheckedContinuation<NSManagedObjectContext, any Error>
    }

    /// The contexts of one kind of access.
    struct Side {
        let maximum: Int
        var made = 0
        /// The one that was used last comes first: its caches are warm.
        var idle: [NSManagedObjectContext] = []
        var waiting: [Waiter] = []
        var publishing = Publishing.nobody
    }

    /// Who tells the metrics the counts.
    enum Publishing {
        case nobody
        case somebody
        /// Somebody who has yet to hear of a change.
        case somebodyLate
    }

    var phase: Phase
    private var reading: Side
    private var writing: Side
    private var held: [ObjectIdentifier: (holder: PoolHolder, since: ContinuousClock.Instant)] = [:]
    private var drained: [CheckedContinuation<Void, Never>] = []

    init(reading: Int, writing: Int, phase: Phase) {
        self.reading = Side(maximum: reading)
        self.writing = Side(maximum: writing)
        self.phase = phase
    }

    subscript(_ access: StrataContextPool.Access) -> Side {
        get { access == .reading ? reading : writing }
        _modify {
            if access == .reading { yield &reading } else { yield &writing }
        }
    }

    var isUnused: Bool { held.isEmpty && reading.waiting.isEmpty && writing.waiting.isEmpty }

    /// How many contexts of one kind are held and free, and how many wait for one.
    struct Counts: Sendable {
        var used: Int
        var idle: Int
        var waiting: Int
    }

    /// The counts, for the caller to publish; nil where somebody does who then does so once more. So the last counts
    /// that are published are the last ones there are, whichever thread comes to it last.
    mutating func countsToPublish(_ access: StrataContextPool.Access) -> Counts? {
        guard self[access].publishing == .nobody else {
            self[access].publishing = .somebodyLate
            return nil
        }
        self[access].publishing = .somebody
        return counts(access)
    }

    /// What a caller that has published counts is to publish then; nil if nothing has changed meanwhile.
    mutating func countsToPublishNext(_ access: StrataContextPool.Access) -> Counts? {
        guard self[access].publishing == .somebodyLate else {
            self[access].publishing = .nobody
            return nil
        }
        self[access].publishing = .somebody
        return counts(access)
    }

    private func counts(_ access: StrataContextPool.Access) -> Counts {
        let (made, idle, waiting) = (self[access].made, self[access].idle.count, self[access].waiting.count)
        return Counts(used: made - idle, idle: idle, waiting: waiting)
    }

    func holders(at now: ContinuousClock.Instant) -> [StrataContextPool.Holder] {
        held.values.map { entry in
            StrataContextPool.Holder(
                purpose: entry.holder.purpose, access: entry.holder.access, held: now - entry.since)
        }.sorted { $0.held > $1.held }
    }

    /// A context for a holder, if one is free and nobody else waits for it.
    mutating func take(
        _ holder: PoolHolder, make: () -> NSManagedObjectContext
    ) -> NSManagedObjectContext? {
        guard phase != .opening, self[holder.access].waiting.isEmpty else { return nil }
        guard let context = free(holder.access, make) else { return nil }
        hold(holder)
        return context
    }

    private mutating func free(
        _ access: StrataContextPool.Access, _ make: () -> NSManagedObjectContext
    ) -> NSManagedObjectContext? {
        if let context = self[access].idle.popLast() { return context }
        guard self[access].made < self[access].maximum else { return nil }
        self[access].made += 1
        return make()
    }

    private mutating func hold(_ holder: PoolHolder) { held[ObjectIdentifier(holder)] = (holder, .now) }

    /// Gives a context back: to the next one who waits, or to those that are free.
    ///
    /// - Returns: who gets it.
    mutating func give(
        back context: NSManagedObjectContext, from holder: PoolHolder
    ) -> CheckedContinuation<NSManagedObjectContext, any Error>? {
        held[ObjectIdentifier(holder)] = nil
        guard !self[holder.access].waiting.isEmpty else {
            self[holder.access].idle.append(context)
            return nil
        }
        let next = self[holder.access].waiting.removeFirst()
        hold(next.holder)
        return next.continuation
    }

    /// Lets those in who have waited for the stores.
    mutating func admitAll(
        make: () -> NSManagedObjectContext
    ) -> [(CheckedContinuation<NSManagedObjectContext, any Error>, NSManagedObjectContext)] {
        var admitted: [(CheckedContinuation<NSManagedObjectContext, any Error>, NSManagedObjectContext)] = []
        for access in StrataContextPool.Access.allCases {
            while !self[access].waiting.isEmpty, let context = free(access, make) {
                let next = self[access].waiting.removeFirst()
                hold(next.holder)
                admitted.append((next.continuation, context))
            }
        }
        return admitted
    }

    /// Takes somebody out of the line; nil if nobody of the kind waits any more.
    mutating func withdraw(_ holder: PoolHolder) -> CheckedContinuation<NSManagedObjectContext, any Error>? {
        guard let index = self[holder.access].waiting.firstIndex(where: { $0.holder === holder }) else { return nil }
        return self[holder.access].waiting.remove(at: index).continuation
    }

    mutating func whenUnused(_ continuation: CheckedContinuation<Void, Never>) { drained.append(continuation) }

    /// Those who wait for the pool to be unused, if it is.
    mutating func takeDrained() -> [CheckedContinuation<Void, Never>] {
        guard isUnused else { return [] }
        defer { drained = [] }
        return drained
    }
}
