import Dispatch
import Foundation
import StrataSupport

/// Looks after a pool's threads while work waits for one: a thread of its own, which ends when it has not been needed
/// for a while.
final class PoolMonitor: Sendable {
    private let pool: ContextPool
    private let semaphore = DispatchSemaphore(value: 0)
    /// How long nothing must have been begun.
    private static let milliseconds = 5
    /// The same, when that has been so for some times: many blocks wait for each other.
    private static let hurriedMilliseconds = 1
    private static let hurriedRounds = 3

    init(_ pool: ContextPool) {
        self.pool = pool
    }

    func start() -> Bool { PoolThread.start("strata.monitor") { self.run() } }

    /// There is work that waits.
    func wake() { semaphore.signal() }

    private func run() {
        while true {
            guard pool.progress != nil else {
                let result = semaphore.wait(timeout: .now() + .milliseconds(ContextPool.idleMilliseconds))
                if result == .timedOut, pool.releaseMonitor() { return }
                continue
            }
            watch()
        }
    }

    /// Watches until no work waits.
    private func watch() {
        var rounds = 0
        var began = ContinuousClock.now
        while let before = pool.progress {
            usleep(UInt32(rounds > Self.hurriedRounds ? Self.hurriedMilliseconds : Self.milliseconds) * 1_000)
            guard let after = pool.progress else { return }
            if after != before {
                rounds = 0
                began = .now
                continue
            }
            rounds += 1
            let isLong = ContinuousClock.now - began >= .milliseconds(ContextPool.patienceMilliseconds)
            pool.relieve(afterLong: isLong)
            if isLong { began = .now }
        }
    }
}
