import Dispatch
import StrataLog
import Synchronization

/// The newest snapshot that a follower brought, for the thread that looks at it.
final class Arrivals: Sendable {
    private let newest = Mutex<Result<Snapshot, StoreError>?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    func put(_ result: Result<Snapshot, StoreError>) {
        newest.withLock { $0 = result }
        semaphore.signal()
    }

    /// Waits for the next.
    func take() throws -> Snapshot {
        while true {
            semaphore.wait()
            let result = newest.withLock { newest in
                defer { newest = nil }
                return newest
            }
            if let result { return try result.get() }
        }
    }
}
