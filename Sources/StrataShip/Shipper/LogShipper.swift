internal import Dispatch
public import StrataIO
public import StrataLog
public import StrataObjectStore
internal import Synchronization
public import SystemPackage

/// Ships a store's log into a bucket while the store is written: beside the writer, in its process or in another one.
///
/// What is shipped has been acknowledged, or is about to be, and is durable on this machine. Nothing of it is in the
/// way of a save. One shipper at a time writes a bucket: each that starts takes over from the one before, which then
/// stops.
///
/// ```swift
/// let shipper = try LogShipper(storeAt: "/data/library", to: DirectoryObjectStore("/backup/library"))
/// async let shipping: Void = shipper.run()
/// ```
///
/// ``run()`` has the form that service groups ask for. Safe to use from any thread.
public final class LogShipper: Sendable {
    private struct Waiter {
        let sequence: UInt64
        /// How often it has to be looked at the bucket before this one is told.
        let looks: Int
        /// False: it has to be asked again.
        let continuation: CheckedContinuation<Result<Bool, ShipError>, Never>
    }

    private struct Shared {
        var status = ShipStatus()
        var oldestUnshippedTime: Int64?
        var looks = 0
        var lookTime: Int64 = 0
        var waiters: [UInt64: Waiter] = [:]
        var nextWaiter: UInt64 = 0
        var failure: ShipError?
        /// What whoever waits is told since ``LogShipper/run()`` has ended.
        var ending: ShipError?
        var isStopping = false
        var isRunning = false
        var sleeper: CheckedContinuation<Void, Never>?
        var sleep: UInt64 = 0
        var isWoken = false

        func isShipped(_ sequence: UInt64) -> Bool { status.epoch > 0 && status.sequence >= sequence }

        /// Whether so much time has passed that nobody knows what has become of the bucket. A shipper that has ended
        /// looks no more.
        func isLookOwed(_ now: Int64) -> Bool {
            status.epoch > 0 && ending == nil
                && (now - lookTime).magnitude >= ShipWorker.lookNanoseconds.magnitude
        }

        /// What is known of a transaction at once; nil if that has to be waited for.
        func answer(_ sequence: UInt64, _ now: Int64) -> Result<Bool, ShipError>? {
            if let failure { return .failure(failure) }
            if isShipped(sequence) {
                guard isLookOwed(now) else { return .success(true) }
                return isRunning ? nil : .success(false)
            }
            return ending.map { .failure($0) }
        }

        /// Takes out those who wait and satisfy something.
        mutating func take(_ isTaken: (Waiter) -> Bool) -> [Waiter] {
            let taken = waiters.filter { isTaken($0.value) }
            for key in taken.keys { waiters[key] = nil }
            return Array(taken.values)
        }
    }

    private let options: ShipOptions
    private let worker: ShipWorker
    private let shared = Mutex(Shared())
    private let onFenced: @Sendable (ShipError) -> Void

    /// A shipper of the store at a path, which has to exist when ``run()`` or ``shipOnce()`` begins.
    ///
    /// When another machine has taken this one's place, whoever has the store open for writing refuses further commits
    /// until it opens it again, in whichever process of this machine it is.
    ///
    /// - Parameters:
    ///   - onFenced: Called once, when another machine has taken this one's place. A second shipper of the same store
    ///     stops this one, too, but replaces nothing.
    public init(
        storeAt path: FilePath, in fileSystem: any FileSystem = PosixFileSystem(), to objects: any ObjectStore,
        options: ShipOptions = ShipOptions(), onFenced: @escaping @Sendable (ShipError) -> Void = { _ in }
    ) {
        var options = options
        options.pieceMaximumBytes = min(max(options.pieceMaximumBytes, 1), 32 << 20)
        self.options = options
        self.onFenced = onFenced
        worker = ShipWorker(path, fileSystem, objects, options)
    }

    /// A shipper in the process that writes the store. When another machine takes over, the store refuses further
    /// saves, and says why.
    public convenience init(
        _ log: LogStore, in fileSystem: any FileSystem = PosixFileSystem(), to objects: any ObjectStore,
        options: ShipOptions = ShipOptions()
    ) {
        self.init(storeAt: log.directory, in: fileSystem, to: objects, options: options) { [weak log] error in
            log?.refuseWrites(error.description)
        }
    }

    /// How far the log has been shipped; with how much is waiting, as of now.
    public var status: ShipStatus {
        let now = options.clock()
        return shared.withLock { shared in
            var status = shared.status
            // What waits is never taken for nothing, however the clocks go.
            if let oldest = shared.oldestUnshippedTime {
                status.unshippedSeconds = max(0.001, Double(now - oldest) / 1e9)
            }
            return status
        }
    }

    // MARK: Running

    /// Ships until the task is cancelled or ``stop()`` is called; then what is left, with a checkpoint, for at most
    /// ``ShipOptions/stopMaximum``. Errors that may pass are waited out, ever longer up to a minute, and shown by
    /// ``status``.
    ///
    /// - Throws: ``ShipError`` `.fenced` when another shipper has taken over; `.conflict`, `.unsafeStore`, `.missing`
    ///   and others that waiting does not help; at the end, why something is left that is not in the bucket.
    public func run() async throws {
        try begin()
        defer { end() }
        shared.withLock { $0.ending = nil }
        do throws(ShipError) {
            try await shipUntilStopped()
            try await shipLast()
            await worker.release()
        } catch {
            finish(error)
            throw error
        }
        finish(ShipError(.cancelled, "the shipper was stopped"))
    }

    private func shipUntilStopped() async throws(ShipError) {
        var pause = Duration.milliseconds(250)
        while !shared.withLock({ $0.isStopping }), !Task.isCancelled {
            do throws(ShipError) {
                try await round(.usual)
                pause = .milliseconds(250)
                await sleep(options.interval)
            } catch {
                if error.code == .cancelled { return }
                guard error.mayPass else { throw error }
                // With jitter, so that shippers that were stopped by one failure do not come back at once.
                await sleep(pause * Double.random(in: 0.5...1))
                pause = min(pause * 2, .seconds(60))
            }
        }
    }

    /// Ships what is left, in a task of its own: that of ``run()`` may be cancelled, and then no request is made in it.
    private func shipLast() async throws(ShipError) {
        let last = Task.detached { [self] () async -> Result<Void, ShipError> in
            do throws(ShipError) {
                return .success(try await round(.last))
            } catch {
                return .failure(error)
            }
        }
        let limit = options.stopMaximum
        let deadline = Task.detached {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            last.cancel()
        }
        defer { deadline.cancel() }
        do throws(ShipError) {
            try await last.value.get()
        } catch {
            guard error.code == .cancelled else { throw error }
            throw ShipError(
                .cancelled,
                "the shipper was stopped, and \(status.unshippedBytes) bytes of log were not in the bucket \(limit) later: the "
                    + "next one ships them, as long as this machine is there")
        }
    }

    /// Tells all who wait, and those who come later, that nothing more is shipped.
    private func finish(_ error: ShipError) {
        let waiters = shared.withLock { shared in
            shared.ending = error
            return shared.take { _ in true }
        }
        for waiter in waiters { waiter.continuation.resume(returning: .failure(error)) }
    }

    /// Ships what is there now and returns; for tests, cron, and programs with a loop of their own.
    ///
    /// - Parameter withCheckpoint: whether the newest checkpoint is shipped, too, however near the last one is.
    /// - Throws: ``ShipError``. After one that ``ShipError/mayPass`` it can be called again.
    public func shipOnce(withCheckpoint: Bool = false) async throws(ShipError) {
        try begin()
        defer { end() }
        try await round(withCheckpoint ? .last : .usual)
    }

    /// Lets the next shipper of this store go on in this one's epoch; for programs that use
    /// ``shipOnce(withCheckpoint:)`` and end. Without it, and after a crash, the next one adds an epoch to the bucket's
    /// head, which followers read. ``run()`` does it at its end. Does nothing while ``run()`` is running; shipping
    /// again begins anew.
    public func handOver() async {
        guard (try? begin()) != nil else { return }
        defer { end() }
        await worker.release()
    }

    /// Lets ``run()`` ship what is there and return.
    public func stop() {
        shared.withLock { $0.isStopping = true }
        wake()
    }

    private func begin() throws(ShipError) {
        let isFree = shared.withLock { shared in
            defer { shared.isRunning = true }
            return !shared.isRunning
        }
        guard isFree else { throw ShipError(.invalid, "the shipper is running already") }
    }

    private func end() {
        // Whoever waits for a look has to see to that alone now.
        let waiters = shared.withLock { shared in
            shared.isRunning = false
            let looks = shared.looks
            return shared.take { $0.looks > looks }
        }
        for waiter in waiters { waiter.continuation.resume(returning: .success(false)) }
    }

    private func round(_ round: ShipWorker.Round) async throws(ShipError) {
        let isAsked = shared.withLock { shared in shared.waiters.values.contains { $0.looks > shared.looks } }
        do throws(ShipError) {
            try await worker.round(round, isAsked: isAsked) { [self] progress in note(progress) }
            shared.withLock { $0.status.isFailing = false }
        } catch {
            // Whoever asked has given up.
            if round == .look, error.code == .cancelled { throw error }
            let isNew = shared.withLock { shared in
                shared.status.lastProblem = error.description
                shared.status.isFailing = true
                if error.mayPass || error.code == .cancelled { return false }
                defer { shared.failure = error }
                return shared.failure == nil
            }
            if isNew {
                if error.code == .fenced, await worker.isReplaced { onFenced(error) }
                let waiters = shared.withLock { shared in shared.take { _ in true } }
                for waiter in waiters { waiter.continuation.resume(returning: .failure(error)) }
            }
            throw error
        }
    }

    private func note(_ progress: ShipWorker.Progress) {
        let done = shared.withLock { shared in
            shared.status.sequence = progress.sequence
            shared.looks = progress.looks
            shared.lookTime = progress.lookTime
            shared.status.epoch = progress.epoch
            shared.status.pieces = progress.pieces
            shared.status.pieceBytes = progress.pieceBytes
            shared.status.gaps = progress.gaps
            if let problem = progress.problem { shared.status.lastProblem = problem }
            if let unshipped = progress.unshipped {
                shared.status.unshippedBytes = unshipped.bytes
                shared.oldestUnshippedTime = unshipped.oldestTime
                if unshipped.oldestTime == nil { shared.status.unshippedSeconds = 0 }
            }
            return shared.take { $0.sequence <= progress.sequence && $0.looks <= progress.looks }
        }
        for waiter in done { waiter.continuation.resume(returning: .success(true)) }
    }

    // MARK: Waiting

    /// Returns when a transaction is in the bucket, durable there. A shipper that runs ships it at once; one request
    /// serves all who wait. A minute after the bucket was last seen to have this shipper's head, it is looked at again
    /// before the answer. A shipper that has ended looks no more, and answers by what it knew then.
    ///
    /// - Parameter sequence: Of a transaction that was committed, as ``CommitReceipt/sequence`` says.
    /// - Throws: ``ShipError``: why the shipper has failed, even if the transaction was shipped before; `.cancelled` if
    ///   it was stopped before that, or this task cancelled.
    public func shipped(through sequence: UInt64) async throws(ShipError) {
        while try await !isKnownAsShipped(sequence) {}
    }

    /// Waits until it is known that a transaction is in the bucket; false if that has to be asked again.
    private func isKnownAsShipped(_ sequence: UInt64) async throws(ShipError) -> Bool {
        let now = options.clock()
        if case .success(false) = shared.withLock({ $0.answer(sequence, now) }) {
            // Nobody else looks.
            try await round(.look)
            return shared.withLock { $0.isShipped(sequence) }
        }
        let number = shared.withLock { shared in
            shared.nextWaiter += 1
            return shared.nextWaiter
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Bool, ShipError>, Never>) in
                let early = shared.withLock { shared -> Result<Bool, ShipError>? in
                    if let answer = shared.answer(sequence, now) { return answer }
                    if Task.isCancelled { return .failure(ShipError(ObjectStoreError.cancelled)) }
                    shared.waiters[number] = Waiter(
                        sequence: sequence, looks: shared.isLookOwed(now) ? shared.looks + 1 : 0,
                        continuation: continuation)
                    return nil
                }
                if let early { return continuation.resume(returning: early) }
                wake()
            }
        } onCancel: {
            let waiter = shared.withLock { $0.waiters.removeValue(forKey: number) }
            waiter?.continuation.resume(returning: .failure(ShipError(ObjectStoreError.cancelled)))
        }
        return try result.get()
    }

    /// Lets a sleeping run look at once.
    private func wake() {
        let sleeper = shared.withLock { shared in
            shared.isWoken = true
            defer { shared.sleeper = nil }
            return shared.sleeper
        }
        sleeper?.resume()
    }

    private func sleep(_ duration: Duration) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let number = shared.withLock { shared -> UInt64? in
                    if shared.isWoken || Task.isCancelled {
                        shared.isWoken = false
                        return nil
                    }
                    shared.sleeper = continuation
                    shared.sleep += 1
                    return shared.sleep
                }
                guard let number else { return continuation.resume() }
                let nanoseconds = Int(min(duration / .nanoseconds(1), 1e15))
                DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in
                    let sleeper = self?.shared.withLock { shared -> CheckedContinuation<Void, Never>? in
                        guard shared.sleep == number else { return nil }
                        defer { shared.sleeper = nil }
                        return shared.sleeper
                    }
                    sleeper?.resume()
                }
            }
        } onCancel: {
            wake()
        }
        shared.withLock { $0.isWoken = false }
    }
}
