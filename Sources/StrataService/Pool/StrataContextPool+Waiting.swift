import Strata
import StrataSupport
import Synchronization

extension StrataContextPool {
    /// - Throws: ``StrataPoolError``, `CancellationError`.
    func acquire(_ access: Access, _ holder: PoolHolder, _ timeLimit: Duration) async throws -> NSManagedObjectContext {
        try Task.checkCancellation()
        let (taken, counts) = try state.withLock { state throws -> (NSManagedObjectContext?, PoolState.Counts?) in
            if state.phase == .closed { throw StrataPoolError(.closed, holder, options.name) }
            let taken = state.take(holder) { self.makeContext() }
            return (taken, taken == nil ? nil : state.countsToPublish(access))
        }
        if let taken {
            publish(counts, of: access)
            return taken
        }
        defer { publishCounts(of: access) }
        let began = ContinuousClock.now
        defer { metrics.waited(access, .now - began) }
        // Only who waits pays for it.
        let timer = Task { [self] in
            try await Task.sleep(for: timeLimit)
            expire(holder, began)
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait(holder, $0) }
        } onCancel: {
            cancel(holder)
        }
    }

    /// Gets a context at once, or into the line.
    private func wait(_ holder: PoolHolder, _ continuation: CheckedContinuation<NSManagedObjectContext, any Error>) {
        let outcome = state.withLock { state -> Result<NSManagedObjectContext, any Error>? in
            if holder.isCancelled.load(ordering: .relaxed) { return .failure(CancellationError()) }
            if state.phase == .closed { return .failure(StrataPoolError(.closed, holder, options.name)) }
            if let context = state.take(holder, make: { self.makeContext() }) { return .success(context) }
            state[holder.access].waiting.append(PoolState.Waiter(holder: holder, continuation: continuation))
            return nil
        }
        if let outcome { continuation.resume(with: outcome) } else { publishCounts(of: holder.access) }
    }

    private func cancel(_ holder: PoolHolder) {
        let continuation = state.withLock { state in
            // It may not wait yet.
            holder.isCancelled.store(true, ordering: .relaxed)
            return state.withdraw(holder)
        }
        continuation?.resume(throwing: CancellationError())
        resumeDrained()
    }

    private func expire(_ holder: PoolHolder, _ began: ContinuousClock.Instant) {
        let now = ContinuousClock.now
        let expired = state.withLock { state in
            state.withdraw(holder).map { ($0, state.phase, state.holders(at: now)) }
        }
        guard let (continuation, phase, holders) = expired else { return }
        metrics.timedOut(holder.access)
        let code: StrataPoolError.Code = phase == .opening ? .notOpen : .timedOut
        let others = holders.filter { $0.access == holder.access }
        continuation.resume(
            throwing: StrataPoolError(code, holder, options.name, waited: now - began, holders: others))
        resumeDrained()
    }

    func release(_ context: NSManagedObjectContext, _ holder: PoolHolder) {
        let (next, counts, drained) = state.withLock { state in
            let next = state.give(back: context, from: holder)
            return (next, state.countsToPublish(holder.access), state.takeDrained())
        }
        next?.resume(returning: context)
        publish(counts, of: holder.access)
        for continuation in drained { continuation.resume() }
    }

    /// Under the lock: it is prepared when it is first used.
    private func makeContext() -> NSManagedObjectContext { container.newBackgroundContext() }

    // MARK: Opening and closing

    /// The stores are there: whoever waits for that gets a context.
    func open() {
        let admitted = state.withLock { state in
            state.phase = .open
            return state.admitAll { self.makeContext() }
        }
        for (continuation, context) in admitted { continuation.resume(returning: context) }
        for access in Access.allCases { publishCounts(of: access) }
    }

    /// Refuses whoever comes from now on, and returns when those who have come are done.
    public func close() async {
        state.withLock { $0.phase = .closed }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            state.withLock { $0.whenUnused(continuation) }
            resumeDrained()
        }
    }

    /// Refuses those who wait, too.
    func refuseWaiting() {
        let refused = state.withLock { state in
            state.phase = .closed
            return Access.allCases.flatMap { access in
                defer { state[access].waiting = [] }
                return state[access].waiting
            }
        }
        for waiter in refused {
            waiter.continuation.resume(throwing: StrataPoolError(.closed, waiter.holder, options.name))
        }
        resumeDrained()
    }

    private func resumeDrained() {
        for continuation in state.withLock({ $0.takeDrained() }) { continuation.resume() }
    }

    private func publishCounts(of access: Access) {
        publish(state.withLock { $0.countsToPublish(access) }, of: access)
    }

    /// - Parameter counts: nil where somebody else publishes.
    private func publish(_ counts: PoolState.Counts?, of access: Access) {
        var counts = counts
        while let current = counts {
            metrics.publish(access, current)
            counts = state.withLock { $0.countsToPublishNext(access) }
        }
    }
}
