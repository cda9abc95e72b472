internal import Dispatch
internal import StrataLog

/// A place for calls that wait for a disk, away from the threads that tasks share. One at a time.
struct BlockingCalls: Sendable {
    private let queue: DispatchQueue

    init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Runs a body there.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Result
    ) async throws(ShipError) -> Result {
        let result: Swift.Result<Result, StoreError> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(StoreError) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        do throws(StoreError) {
            return try result.get()
        } catch {
            throw ShipError(error)
        }
    }
}
