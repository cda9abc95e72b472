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
        let continuation: CheckedContinuation<Result<Void, ShipError>, Never>
    }

    private struct Shared {
        var status = ShipStatus()
        var oldestUnshippedTime: Int64?
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
                try await round(isLast: false)
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
                return .success(try await round(isLast: true))
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
            defer { shared.waiters = [:] }
            return Array(shared.waiters.values)
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
        try await round(isLast: withCheckpoint)
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
        shared.withLock { $0.isRunning = false }
    }

    private func round(isLast: Bool) async throws(ShipError) {
        do throws(ShipError) {
            try await worker.round(isLast: isLast) { [self] progress in note(progress) }
            shared.withLock { $0.status.isFailing = false }
        } catch {
            let isNew = shared.withLock { shared in
                shared.status.lastProblem = error.description
                shared.status.isFailing = true
                if error.mayPass || error.code == .cancelled { return false }
                defer { shared.failure = error }
                return shared.failure == nil
            }
            if isNew {
                if error.code == .fenced, await worker.isReplaced { onFenced(error) }
                let waiters = shared.withLock { shared in
                    defer { shared.waiters = [:] }
                    return Array(shared.waiters.values)
                }
                for waiter in waiters { waiter.continuation.resume(returning: .failure(error)) }
            }
            throw error
        }
    }

    private func note(_ progress: ShipWorker.Progress) {
        let done = shared.withLock { shared in
            shared.status.sequence = progress.sequence
            shared.status.unshippedBytes = progress.unshippedBytes
            shared.status.epoch = progress.epoch
            shared.status.pieces = progress.pieces
            shared.status.pieceBytes = progress.pieceBytes
            shared.status.gaps = progress.gaps
            if let problem = progress.problem { shared.status.lastProblem = problem }
            shared.oldestUnshippedTime = progress.oldestUnshippedTime
            if progress.oldestUnshippedTime == nil { shared.status.unshippedSeconds = 0 }
            let done = shared.waiters.filter { $0.value.sequence <= progress.sequence }
            for key in done.keys { shared.waiters[key] = nil }
            return done.values.map(\.continuation)
        }
        for continuation in done { continuation.resume(returning: .success(())) }
    }

    // MARK: Waiting

    /// Returns when a transaction is in the bucket, durable there. A shipper that runs ships it at once; one request
    /// serves all who wait.
    ///
    /// - Parameter sequence: Of a transaction that was committed, as ``CommitReceipt/sequence`` says.
    /// - Throws: ``ShipError``: why the shipper has ended; `.cancelled` if it was stopped, or this task cancelled.
    public func shipped(through sequence: UInt64) async throws(ShipError) {
        let number = shared.withLock { shared -> UInt64? in
            if shared.status.epoch > 0, shared.status.sequence >= sequence { return nil }
            shared.nextWaiter += 1
            return shared.nextWaiter
        }
        guard let number else { return }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Void, ShipError>, Never>) in
                let early = shared.withLock { shared -> Result<Void, ShipError>? in
                    if shared.status.epoch > 0, shared.status.sequence >= sequence { return .success(()) }
                    if let failure = shared.failure ?? shared.ending { return .failure(failure) }
                    if Task.isCancelled { return .failure(ShipError(ObjectStoreError.cancelled)) }
                    shared.waiters[number] = Waiter(sequence: sequence, continuation: continuation)
                    return nil
                }
                if let early { return continuation.resume(returning: early) }
                wake()
            }
        } onCancel: {
            let waiter = shared.withLock { $0.waiters.removeValue(forKey: number) }
            waiter?.continuation.resume(returning: .failure(ShipError(ObjectStoreError.cancelled)))
        }
        try result.get()
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
