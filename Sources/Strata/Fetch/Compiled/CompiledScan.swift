import Dispatch
import Foundation
import StrataLog

/// Runs a compiled predicate over all rows of an entity and its subentities, in chunks, on all cores.
struct CompiledScan {
    let handle: StoreHandle
    let snapshot: Snapshot
    private(set) var predicate: CompiledPredicate
    /// The only objects to be looked at, by key, where an index gave them: ``predicate`` is what they have to satisfy.
    private(set) var candidates: [ObjectRef]?
    private let root: UInt16
    /// By entity number.
    private let wanted: [Bool]

    /// Rows of a chunk. The first ones are smaller, for those who want few results. Where chunks end does not depend
    /// on the number of cores, so that sums of floating-point numbers do not, either.
    private static let rowsOfFirstChunk = 4_096
    private static let rowsOfChunk = 65_536
    /// Runs of a chunk, however short: what lies scattered takes more time.
    private static let runsOfChunk = 32_768
    /// From this chunk on several are worked on at a time.
    private static let serialChunks = 3

    init(_ handle: StoreHandle, _ snapshot: Snapshot, _ predicate: CompiledPredicate, root: UInt16, wanted: [Bool]) {
        self.handle = handle
        self.snapshot = snapshot
        self.predicate = predicate
        self.root = root
        self.wanted = wanted
    }

    /// The same scan over some objects only.
    func over(_ candidates: [ObjectRef], _ residual: CompiledPredicate) -> CompiledScan {
        var scan = self
        scan.candidates = candidates
        scan.predicate = residual
        return scan
    }

    /// The rows of all objects, or of the candidates.
    private func forEachRun(_ body: (RowRun) throws(StoreError) -> Bool) throws(StoreError) {
        guard let candidates else { return try snapshot.forEachRun(root: root, body) }
        var run: RowRun?
        for ref in candidates {
            let location = try snapshot.locate(ref)
            if let last = run {
                if last.firstKey + UInt64(last.count) == ref.key, last.location.block == location.block,
                    last.location.row + last.count == location.row
                {
                    run?.count += 1
                    continue
                }
                if try !body(last) { return }
            }
            run = RowRun(firstKey: ref.key, count: 1, location: location)
        }
        if let run { _ = try body(run) }
    }

    func wants(_ entity: UInt16) -> Bool { Int(entity) < wanted.count && wanted[Int(entity)] }

    /// Tests all rows, makes a part of each chunk, and takes the parts in the order of the rows.
    ///
    /// - Parameters:
    ///   - make: called on any thread, for several chunks at a time; must not change anything they share.
    ///   - take: called on this thread; false stops.
    func run<Part>(
        checkCancellation: (() throws -> Void)?, make: (ScannedChunk) throws -> Part, take: (Part) throws -> Bool
    ) throws {
        var wave: [[RowRun]] = []
        var runs: [RowRun] = []
        var (rows, chunks) = (0, 0)
        var wants = true
        var failure: (any Error)?
        let cores = max(1, ProcessInfo.processInfo.activeProcessorCount)
        func finishWave() -> Bool {
            do {
                try checkCancellation?()
                wants = try work(wave, cores, make, take)
                wave.removeAll(keepingCapacity: true)
                return wants
            } catch {
                failure = error
                return false
            }
        }
        func finishChunk() -> Bool {
            wave.append(runs)
            runs = []
            rows = 0
            chunks += 1
            return wave.count < (chunks <= Self.serialChunks ? 1 : cores * 2) || finishWave()
        }
        do {
            try forEachRun { run throws(StoreError) in
                runs.append(run)
                rows += run.count
                let rowsWanted = chunks == 0 ? Self.rowsOfFirstChunk : Self.rowsOfChunk
                return rows < rowsWanted && runs.count < Self.runsOfChunk || finishChunk()
            }
        } catch {
            throw StoreFailure.cocoaError(error, reading: handle)
        }
        if failure == nil, wants {
            if !runs.isEmpty { wave.append(runs) }
            if !wave.isEmpty { _ = finishWave() }
        }
        if let failure = failure as? StoreError { throw StoreFailure.cocoaError(failure, reading: handle) }
        if let failure { throw failure }
    }

    /// Works on some chunks. False when no more are wanted.
    private func work<Part>(
        _ wave: [[RowRun]], _ cores: Int, _ make: (ScannedChunk) throws -> Part, _ take: (Part) throws -> Bool
    ) throws -> Bool {
        guard wave.count > 1, cores > 1 else {
            for runs in wave {
                if try !take(make(ScannedChunk(runs, self, ColumnEvaluator(handle.log, snapshot)))) { return false }
            }
            return true
        }
        let results = UnsafeMutablePointer<Result<Part, any Error>?>.allocate(capacity: wave.count)
        results.initialize(repeating: nil, count: wave.count)
        defer {
            results.deinitialize(count: wave.count)
            results.deallocate()
        }
        withoutActuallyEscaping(make) { make in
            // SAFETY: each thread has a chunk, an evaluator and a result of its own; the rest is constant meanwhile.
            let job = UncheckedBox { (index: Int) in
                results[index] = Result {
                    try make(ScannedChunk(wave[index], self, ColumnEvaluator(handle.log, snapshot)))
                }
            }
            DispatchQueue.concurrentPerform(iterations: wave.count) { job.value($0) }
        }
        for index in 0..<wave.count {
            if let result = results[index], try !take(result.get()) { return false }
        }
        return true
    }
}
