import Foundation
import StrataBrowsing
import StrataSupport
import Synchronization

/// Runs a workload with threads that each do one call after the other.
final class BenchClients: Sendable {
    /// What a thread does over and over.
    ///
    /// - Returns: how many objects it was about; nil when there was nothing left to do.
    typealias Call = () throws -> Int?

    struct Result {
        var latencies = LatencyHistogram()
        var objects = 0
        var elapsed = Duration.zero
    }

    private struct State {
        var result = Result()
        var failure: (any Error)?
        var running = 0
    }

    private let state = AdaptiveMutex(State())
    private let mustStop = Atomic<Bool>(false)
    private let ended = DispatchSemaphore(value: 0)

    private init() {}

    /// - Parameters:
    ///   - makeCall: makes what a thread does, on that thread.
    ///   - watch: asked 20 times a second, with the time that has passed; work ends early when it says false.
    /// - Throws: what a call threw first.
    static func run(
        _ count: Int, for time: Duration, _ makeCall: @escaping @Sendable (_ client: Int) throws -> Call,
        watch: (Duration) -> Bool
    ) throws -> Result {
        let clients = BenchClients()
        let began = ContinuousClock.now
        clients.state.withLock { $0.running = count }
        for client in 0..<count {
            let isStarted = PoolThread.start("strata-bench") {
                clients.work(until: began + time) { try makeCall(client) }
            }
            if !isStarted { clients.finish(with: CommandError("the system has no thread for client \(client + 1)")) }
        }
        while clients.ended.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
            if !watch(.now - began) { clients.mustStop.store(true, ordering: .relaxed) }
        }
        var (result, failure) = clients.state.withLock { ($0.result, $0.failure) }
        if let failure { throw failure }
        result.elapsed = .now - began
        return result
    }

    private func work(until end: ContinuousClock.Instant, _ makeCall: () throws -> Call) {
        var own = Result()
        var failure: (any Error)?
        do {
            let call = try makeCall()
            var now = ContinuousClock.now
            // One call at least, however late the thread has begun.
            repeat {
                guard let objects = try call() else { break }
                own.objects += objects
                let after = ContinuousClock.now
                own.latencies.add(after - now)
                now = after
            } while now < end && !mustStop.load(ordering: .relaxed)
        } catch {
            failure = error
        }
        finish(own, with: failure)
    }

    /// A client is done.
    private func finish(_ own: Result = Result(), with failure: (any Error)?) {
        if failure != nil { mustStop.store(true, ordering: .relaxed) }
        let isLast = state.withLock { [own] state in
            state.result.latencies.add(own.latencies)
            state.result.objects += own.objects
            if state.failure == nil { state.failure = failure }
            state.running -= 1
            return state.running == 0
        }
        if isLast { ended.signal() }
    }
}
