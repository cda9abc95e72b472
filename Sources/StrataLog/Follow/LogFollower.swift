internal import StrataSupport
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Keeps a store that is open read-only up to date, see ``LogStore/follow(_:)``. Safe to use from any thread.
public final class LogFollower: Sendable {
    private let work: Work

    init(
        _ store: LogStore, _ tail: LogTail, _ notify: @escaping @Sendable (Result<Snapshot, StoreError>) -> Void
    ) {
        work = Work(store, tail, notify)
        let work = work
        // It sleeps most of its time, which dispatch's threads are not for.
        let isStarted = PoolThread.start("strata-follow") { work.run() }
        precondition(isStarted, "no thread can be started")
    }

    deinit {
        stop()
    }

    /// Stops following. A call of the block that has begun goes on; another may still come within a moment.
    public func stop() {
        work.stop()
    }

    /// What the thread needs: neither the follower nor the store, so that both can go.
    private final class Work: Sendable {
        /// After so long without a signal the writer's page is looked for again.
        private static let patienceMilliseconds: Int32 = 500
        /// Where nobody signals, the log is looked at this often.
        private static let pollMilliseconds: Int32 = 10
        private static let pauseMilliseconds: Int32 = 100

        private weak let store: LogStore?
        private let tail: LogTail
        private let notify: @Sendable (Result<Snapshot, StoreError>) -> Void
        private let isStopped = Atomic<Bool>(false)

        init(
            _ store: LogStore, _ tail: LogTail, _ notify: @escaping @Sendable (Result<Snapshot, StoreError>) -> Void
        ) {
            self.store = store
            self.tail = tail
            self.notify = notify
        }

        func stop() {
            isStopped.store(true, ordering: .releasing)
            // Should it come just before the thread falls asleep, the thread sleeps no longer than its patience.
            tail.page?.wakeAll()
        }

        func run() {
            var lastError: String?
            while !isStopped.load(ordering: .acquiring) {
                let page = tail.page
                // Taken before looking: what comes later is a reason not to sleep.
                let count = page?.signalCount ?? 0
                guard let result = look() else { return }
                switch result {
                case .success(let snapshot):
                    lastError = nil
                    if let snapshot { notify(.success(snapshot)) }
                case .failure(let error):
                    if lastError != error.description { notify(.failure(error)) }
                    lastError = error.description
                    pause(milliseconds: Self.pauseMilliseconds)
                }
                guard let page, page.announcement != nil else {
                    pause(milliseconds: Self.pollMilliseconds)
                    tail.reattach()
                    continue
                }
                page.wait(while: count, milliseconds: Self.patienceMilliseconds)
                if page.signalCount == count { tail.reattach() }
            }
        }

        /// The newest snapshot if it is new; nil in place of a result when the store is gone.
        private func look() -> Result<Snapshot?, StoreError>? {
            guard let store, !store.isClosed else { return nil }
            do throws(StoreError) {
                // A writer whose store has gone says nothing more.
                try store.checkIsInPlace()
                return .success(try store.refresh() ? store.snapshot : nil)
            } catch {
                return .failure(error)
            }
        }
    }
}

/// nanosleep(2).
func pause(milliseconds: Int32) {
    var time = timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
    nanosleep(&time, nil)
}
