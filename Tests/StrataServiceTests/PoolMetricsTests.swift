import CoreMetrics
import Foundation
import StrataService
import Synchronization
import Testing

/// What the gauges of a pool say.
@Suite struct PoolMetricsTests {
    /// Gauges of the contexts for reading that are held. The first that is set to 0 again waits before it takes the
    /// value.
    private final class Gauges: MetricsFactory {
        private final class Used: RecorderHandler {
            let value = Mutex(0)
            private let hasBeenUsed = Atomic(false)
            private let hasWaited = Atomic(false)
            let isSetBack = DispatchSemaphore(value: 0)
            let goesOn = DispatchSemaphore(value: 0)

            func record(_ value: Int64) {
                if value > 0 { hasBeenUsed.store(true, ordering: .sequentiallyConsistent) }
                if value == 0, hasBeenUsed.load(ordering: .sequentiallyConsistent),
                    !hasWaited.exchange(true, ordering: .sequentiallyConsistent)
                {
                    isSetBack.signal()
                    goesOn.wait()
                }
                self.value.withLock { $0 = Int(value) }
            }

            func record(_ value: Double) { record(Int64(value)) }
        }

        private let used = Used()

        var value: Int { used.value.withLock { $0 } }

        /// Returns once somebody is about to set the gauge to 0.
        func waitUntilSetBack() async {
            await withCheckedContinuation { done in
                Thread { [used] in
                    used.isSetBack.wait()
                    done.resume()
                }.start()
            }
        }

        func goOn() { used.goesOn.signal() }

        func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
            let texts = dimensions.map(\.1)
            return texts.contains("used") && texts.contains("strata.reading") ? used : NOOPMetricsHandler.instance
        }

        func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
            NOOPMetricsHandler.instance
        }

        func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
            NOOPMetricsHandler.instance
        }

        func makeFloatingPointCounter(
            label: String, dimensions: [(String, String)]
        ) -> any FloatingPointCounterHandler {
            NOOPMetricsHandler.instance
        }

        func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
            NOOPMetricsHandler.instance
        }

        func destroyCounter(_ handler: any CounterHandler) {}
        func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
        func destroyMeter(_ handler: any MeterHandler) {}
        func destroyRecorder(_ handler: any RecorderHandler) {}
        func destroyTimer(_ handler: any TimerHandler) {}
    }

    /// Runs tasks on a thread of its own, which they may block.
    private final class OwnThread: TaskExecutor {
        private let queue = DispatchQueue(label: "own")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// A request ended, and was kept from saying so until the next one had said that it began. The gauge said for as
    /// long as that one ran that no context was held.
    @Test func theGaugesAreThoseOfThePoolWhateverThreadSetsThemLast() async throws {
        let (fixture, gauges) = (try ServiceFixture(), Gauges())
        var options = StrataContextPool.Options()
        (options.metrics, options.timeLimit) = (gauges, ServiceFixture.patience)
        let pool = StrataContextPool(fixture.container, options)
        let thread = OwnThread()
        defer { withExtendedLifetime(thread) {} }
        let first = Task.detached(executorPreference: thread) { try await pool.withContext(.reading) { _ in } }
        await gauges.waitUntilSetBack()
        try await pool.withContext(.reading) { _ in
            gauges.goOn()
            let isOver = DispatchSemaphore(value: 0)
            Task.detached {
                _ = await first.result
                isOver.signal()
            }
            isOver.wait()
            #expect(gauges.value == 1)
        }
        #expect(gauges.value == 0)
        #expect(pool.holders.isEmpty)
    }
}
