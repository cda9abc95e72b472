import CoreData
import CoreMetrics
import Foundation
import Logging
import Metrics
import MetricsTestKit
import StrataService
import Synchronization
import Testing
import Tracing

/// What the server packages bind for a task is what the blocks see that it gives to contexts, and nothing else is.
@Suite struct TaskScopeTests {
    private enum RequestKey: InstrumentationContextKey {
        typealias Value = Int
    }

    /// What is bound, as far as a test knows it.
    private struct Seen: Equatable, Sendable {
        var label: String
        var request: Int?
        var hasOwnFactory: Bool

        init(label: String, request: Int?, hasOwnFactory: Bool) {
            self.label = label
            self.request = request
            self.hasOwnFactory = hasOwnFactory
        }

        /// What the caller sees.
        init(_ factory: TestMetrics) {
            label = Logger.current.label
            request = InstrumentationContext.current?[RequestKey.self]
            hasOwnFactory = MetricsSystem.factory as? TestMetrics === factory
        }
    }

    /// What other tests do in the process does not go to their loggers, too.
    private static func telemetry() -> StrataTelemetry {
        var options = StrataTelemetry.Options()
        options.logger = Logger(label: "scope") { _ in SwiftLogNoOpLogHandler() }
        return StrataTelemetry.start(options)
    }

    private func binding(
        _ label: String?, _ request: Int?, _ factory: TestMetrics?, _ body: () async throws -> Seen
    ) async rethrows -> Seen {
        if let label {
            return try await withLogger(Logger(label: label)) { _ in
                try await binding(nil, request, factory, body)
            }
        }
        if let request {
            var context = InstrumentationContext.topLevel
            context[RequestKey.self] = request
            return try await InstrumentationContext.withValue(context) {
                try await binding(nil, nil, factory, body)
            }
        }
        if let factory { return try await withMetricsFactory(factory) { try await body() } }
        return try await body()
    }

    @Test(arguments: [true, false])
    func aBlockSeesWhatItsTaskHasBoundAndNothingElse(_ isAwaited: Bool) async throws {
        let fixture = try ServiceFixture()
        let telemetry = Self.telemetry()
        defer { telemetry.stop() }
        let unbound = await fixture.container.performBackgroundTask { _ in Logger.current.label }
        await withTaskGroup(of: (Seen, Seen).self) { group in
            for number in 0..<160 {
                group.addTask {
                    let factory = TestMetrics()
                    let label = number & 1 == 0 ? nil : "r\(number)"
                    let request = number & 2 == 0 ? nil : number
                    let hasOwnFactory = number & 4 != 0
                    let seen = await binding(label, request, hasOwnFactory ? factory : nil) {
                        if isAwaited { return await fixture.container.performBackgroundTask { _ in Seen(factory) } }
                        return await withCheckedContinuation { done in
                            fixture.container.performBackgroundTask { _ in done.resume(returning: Seen(factory)) }
                        }
                    }
                    return (seen, Seen(label: label ?? unbound, request: request, hasOwnFactory: hasOwnFactory))
                }
            }
            for await (seen, wanted) in group { #expect(seen == wanted) }
        }
    }

    /// Two threads that wait for each other's queue: one runs the other's block, within what it has bound itself.
    @Test func aBlockThatAnotherThreadRunsSeesWhatItsOwnHasBound() throws {
        let fixture = try ServiceFixture()
        let telemetry = Self.telemetry()
        defer { telemetry.stop() }
        let contexts = [fixture.container.newBackgroundContext(), fixture.container.newBackgroundContext()]
        let labels: [String?] = ["bound", nil]
        for _ in 0..<20 {
            let holds = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
            let results = Mutex<[(seen: String, wanted: String)]>([])
            let isDone = DispatchSemaphore(value: 0)
            for number in 0..<2 {
                @Sendable func run() {
                    let wanted = Logger.current.label
                    let seen = contexts[number].performAndWait { () -> String in
                        holds[number].signal()
                        holds[1 - number].wait()
                        return contexts[1 - number].performAndWait { Logger.current.label }
                    }
                    results.withLock { $0.append((seen, wanted)) }
                    isDone.signal()
                }
                Thread {
                    if let label = labels[number] { withLogger(Logger(label: label)) { _ in run() } } else { run() }
                }.start()
            }
            for _ in 0..<2 { isDone.wait() }
            let all = results.withLock { $0 }
            #expect(all.map(\.seen) == all.map(\.wanted))
            #expect(Set(all.map(\.wanted)).count == 2)
        }
    }
}
