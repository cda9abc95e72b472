import BenchSupport
import DataSet
import Foundation
import Histogram
import Synchronization

/// What a line found.
public struct YCSBResult: Sendable {
    public fileprivate(set) var seconds = 0.0
    public fileprivate(set) var operations = 0
    fileprivate var reads = YCSBResult.noTimes
    fileprivate var writes = YCSBResult.noTimes

    public var operationsPerSecond: Double { Double(operations) / seconds }

    /// Microseconds that so many percent of the reads and scans took at most.
    public func readMicroseconds(_ percent: Double) -> Double { Double(reads.valueAtPercentile(percent)) / 10 }
    public func writeMicroseconds(_ percent: Double) -> Double { Double(writes.valueAtPercentile(percent)) / 10 }

    /// Tenths of a microsecond, with an error of a hundredth at most.
    fileprivate static var noTimes: Histogram<UInt32> {
        Histogram(highestTrackableValue: longest, numberOfSignificantValueDigits: .two)
    }

    private static let longest: UInt64 = 600 * 10_000_000

    fileprivate mutating func record(_ kind: YCSBKind, seconds: Double) {
        let time = min(UInt64(seconds * 1e7), Self.longest)
        if kind.writes { writes.record(time) } else { reads.record(time) }
        operations += 1
    }

    fileprivate mutating func add(_ other: YCSBResult) {
        operations += other.operations
        reads.add(other.reads)
        writes.add(other.writes)
    }
}

/// Runs clients on threads of their own: each asks, waits for the answer and asks again.
public final class YCSBRunner: Sendable {
    private struct Sums {
        var result = YCSBResult()
        var failure: (any Error)?
        var lastEnd = 0.0
    }

    private let store: any YCSBStore
    private let zipfian: Zipfian
    private let count: Int
    /// The records that were begun to be inserted, and those that are there.
    private let begun: Atomic<Int>
    private let done: Atomic<Int>
    private let sums = Mutex(Sums())

    public init(_ store: any YCSBStore) throws {
        self.store = store
        count = try store.recordCount()
        guard count > 1 else { throw BenchFailure("the store holds no records") }
        zipfian = Zipfian(count)
        begun = Atomic(count)
        done = Atomic(count)
    }

    /// How many records the store must hold.
    public var expectedCount: Int { done.load(ordering: .relaxed) }

    public func run(_ workload: YCSBWorkload, threads: Int, seconds: Double) throws -> YCSBResult {
        sums.withLock { $0 = Sums() }
        let clients = try (0..<threads).map { _ in try store.makeClient() }
        let start = now()
        let group = DispatchGroup()
        for (number, client) in clients.enumerated() {
            group.enter()
            nonisolated(unsafe) let client = client
            Thread { [self] in
                defer { group.leave() }
                serve(number, workload, until: start + seconds, client)
            }.start()
        }
        group.wait()
        return try sums.withLock { sums in
            if let failure = sums.failure { throw failure }
            var result = sums.result
            result.seconds = sums.lastEnd - start
            return result
        }
    }

    private func serve(_ number: Int, _ workload: YCSBWorkload, until end: Double, _ client: any YCSBClient) {
        var random = SplitMix64(UInt64(number + 1) &* 104_729 &+ UInt64(begun.load(ordering: .relaxed)))
        var result = YCSBResult()
        do {
            var last = now()
            while last < end {
                let kind = workload.kind(&random)
                let operation = operation(kind, workload, &random, client)
                let began = now()
                try operation()
                last = now()
                result.record(kind, seconds: last - began)
                if kind == .insert { done.add(1, ordering: .relaxed) }
            }
            sums.withLock { sums in
                sums.result.add(result)
                sums.lastEnd = max(sums.lastEnd, last)
            }
        } catch {
            sums.withLock { $0.failure = error }
        }
    }

    /// What is asked next; its arguments are made before the clock starts.
    private func operation(
        _ kind: YCSBKind, _ workload: YCSBWorkload, _ random: inout SplitMix64, _ client: any YCSBClient
    ) -> () throws -> Void {
        if kind == .insert {
            let new = begun.add(1, ordering: .relaxed).oldValue
            let (key, values) = (YCSB.key(new), YCSB.values(new))
            return { try client.insert(key, values) }
        }
        let number = record(workload, &random)
        let key = YCSB.key(number)
        let (field, draw) = (Int(random.next() % UInt64(YCSB.fieldCount)), random.next())
        switch kind {
        case .scan:
            let count = Int(draw % UInt64(YCSB.longestScan)) + 1
            return { _ = try client.scan(from: key, count: count) }
        case .update:
            let value = YCSB.value(draw)
            return { try client.update(key, field: field, to: value) }
        case .readModifyWrite:
            let value = YCSB.value(draw)
            return { _ = try client.readModifyWrite(key, field: field, to: value) }
        default:
            let isOld = number < count
            return {
                // The newest ones may still be on their way.
                if try client.read(key) == nil, isOld { throw BenchFailure("record \(key) is missing") }
            }
        }
    }

    private func record(_ workload: YCSBWorkload, _ random: inout SplitMix64) -> Int {
        let rank = zipfian.rank(&random)
        if workload.isOfLatest { return max(0, done.load(ordering: .relaxed) - 1 - rank) }
        return Int(YCSB.mix(rank) % UInt64(count))
    }
}

/// What every contestant must have read alike in a store that was just filled.
public enum YCSBAgreement {
    public static func digest(_ client: any YCSBClient, recordCount: Int) throws -> UInt64 {
        var random = SplitMix64(5)
        var sum: UInt64 = 0
        for number in 1...200 {
            let key = YCSB.key(Int(random.next() % UInt64(recordCount)))
            guard let read = try client.read(key) else { throw BenchFailure("record \(key) is missing") }
            sum &+= read &* UInt64(number)
            if number % 10 == 0 { sum &+= try client.scan(from: key, count: number / 2) &* UInt64(number) }
        }
        return sum
    }
}
