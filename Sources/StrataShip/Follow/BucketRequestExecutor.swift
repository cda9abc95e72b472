internal import Dispatch
internal import Synchronization

/// Threads for requests that a blocked caller waits for: the tasks that others share may all be among the callers.
final class BucketRequestExecutor: TaskExecutor {
    static let shared = BucketRequestExecutor()

    private let queue = DispatchQueue(label: "strata-bucket-requests", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs a body in a task and waits for it, blocking the thread.
    static func wait<Result: Sendable>(
        _ body: @escaping @Sendable () async -> Result
    ) -> Result {
        let done = DispatchSemaphore(value: 0)
        let box = Box<Result>()
        Task.detached(executorPreference: shared) {
            let result = await body()
            box.value.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = box.value.withLock({ $0 }) else { preconditionFailure("a task ended without a result") }
        return result
    }

    private final class Box<Result: Sendable>: Sendable {
        let value = Mutex<Result?>(nil)
    }
}
