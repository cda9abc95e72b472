import BenchSupport
import DataSet
import Foundation
import Synchronization

/// Runs clients that each ask, wait for the answer and ask again, on threads or as tasks.
public final class LoadRunner: Sendable {
    private struct Sums {
        var latencies = Latencies()
        var besides = Latencies()
        var failure: (any Error)?
        var lastEnd = 0.0
    }

    private let store: any ServiceStore
    private let newest: Atomic<Int>
    private let inserted = Atomic<Int>(0)
    private let sums = Mutex(Sums())

    public init(_ store: any ServiceStore) throws {
        self.store = store
        newest = Atomic(try store.orderCount())
    }

    /// Orders that were inserted by this runner, each acknowledged.
    public var insertedCount: Int { inserted.load(ordering: .relaxed) }

    /// What the clients of a line need.
    public func makeClients(for line: LoadLine) throws -> [any ServiceClient] {
        try (0..<line.clients + line.readersBeside).map { _ in try store.makeClient() }
    }

    /// Clients that each have a thread.
    public func runOnThreads(
        _ clients: [any ServiceClient], _ line: LoadLine, seconds: Double
    ) throws -> LoadResult {
        sums.withLock { $0 = Sums() }
        let start = now()
        let group = DispatchGroup()
        for (number, client) in clients.enumerated() {
            group.enter()
            nonisolated(unsafe) let client = client
            let thread = Thread { [self] in
                defer { group.leave() }
                serve(number, line, until: start + seconds, client)
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
        let threads = watch(until: start + seconds)
        group.wait()
        return try result(from: start, threads: threads)
    }

    private func serve(_ number: Int, _ line: LoadLine, until end: Double, _ client: any ServiceClient) {
        let mix = number < line.clients ? line.mix : .reads
        var random = SplitMix64(UInt64(number + 1) &* 7_919)
        var latencies = Latencies()
        do {
            var last = now()
            while last < end {
                let kind = mix.kind(&random)
                let request = ServiceRequest(kind, random: &random, newNumber: nextNumber)
                let began = now()
                _ = try client.answer(request)
                last = now()
                if kind == .insert { inserted.add(1, ordering: .relaxed) }
                latencies.record(kind, seconds: last - began)
            }
            finish(latencies, isBeside: number >= line.clients, at: last)
        } catch {
            sums.withLock { $0.failure = error }
        }
    }

    /// Clients that are tasks.
    public func runAsTasks(_ line: LoadLine, seconds: Double) async throws -> LoadResult {
        guard let store = store as? any AsyncServiceStore else { throw BenchFailure("no asynchronous way to ask") }
        sums.withLock { $0 = Sums() }
        let start = now()
        async let threads = watchOnThread(until: start + seconds)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<line.clients + line.readersBeside {
                group.addTask { await self.serve(number, line, until: start + seconds, store) }
            }
        }
        return try result(from: start, threads: await threads)
    }

    @concurrent
    private func serve(
        _ number: Int, _ line: LoadLine, until end: Double, _ store: any AsyncServiceStore
    ) async {
        let mix = number < line.clients ? line.mix : .reads
        var random = SplitMix64(UInt64(number + 1) &* 7_919)
        var latencies = Latencies()
        do {
            var last = now()
            while last < end {
                let kind = mix.kind(&random)
                let request = ServiceRequest(kind, random: &random, newNumber: nextNumber)
                let began = now()
                _ = try await store.answer(request)
                last = now()
                if kind == .insert { inserted.add(1, ordering: .relaxed) }
                latencies.record(kind, seconds: last - began)
            }
            finish(latencies, isBeside: number >= line.clients, at: last)
        } catch {
            sums.withLock { $0.failure = error }
        }
    }

    private func nextNumber() -> Int {
        newest.add(1, ordering: .relaxed).newValue
    }

    private func finish(_ latencies: Latencies, isBeside: Bool, at end: Double) {
        sums.withLock { sums in
            if isBeside { sums.besides.add(latencies) } else { sums.latencies.add(latencies) }
            sums.lastEnd = max(sums.lastEnd, end)
        }
    }

    /// Sleeps, and looks at the number of threads now and then.
    private func watch(until end: Double) -> Int {
        var most = 0
        while now() < end {
            Thread.sleep(forTimeInterval: max(0, min(0.1, end - now())))
            most = max(most, ThreadCount.now)
        }
        return most
    }

    /// On a thread of its own: the tasks' threads are busy.
    private func watchOnThread(until end: Double) async -> Int {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: self.watch(until: end)) }.start()
        }
    }

    /// A client whose last request takes long is waited for, and the time counts.
    private func result(from start: Double, threads: Int) throws -> LoadResult {
        try sums.withLock { sums in
            if let failure = sums.failure { throw failure }
            var result = LoadResult()
            result.seconds = sums.lastEnd - start
            result.latencies = sums.latencies
            result.besides = sums.besides
            result.threads = threads
            result.memory = MemoryUse()
            return result
        }
    }
}
