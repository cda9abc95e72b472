import Foundation
import StrataLog

/// Runs a compiled predicate over all rows of an entity and its subentities, in row groups, on all cores.
package struct CompiledScan {
    package let handle: StoreHandle
    package let snapshot: Snapshot
    package private(set) var predicate: CompiledPredicate
    /// The only objects to be looked at, by key, where an index gave them: ``predicate`` is what they have to satisfy.
    package private(set) var candidates: [ObjectRef]?
    /// The row groups' columns, put together from their blocks; nil when blocks are asked themselves.
    private(set) var rowGroups: RowGroupSource?
    private let root: UInt16
    private let columns: [RowExpression]
    package let entities: EntityNumbers

    /// How many row groups are worked on one after the other, and how many together.
    package enum Pace {
        /// Few results may be enough.
        case careful
        /// What the first rows give helps with the others.
        case steady
        /// Every row is wanted.
        case whole

        private var serialRowGroups: Int {
            switch self {
            case .careful: 3
            case .steady: 1
            case .whole: 0
            }
        }

        /// How many row groups are worked on together, the newest of which is this one.
        ///
        /// - Parameters:
        ///   - number: counted from 1.
        ///   - weight: what a row costs, where 1 is a comparison of columns.
        fileprivate func rowGroupsOfWave(at number: Int, weight: Int) -> Int {
            if number <= serialRowGroups { return 1 }
            let cores = ScanPool.shared.cores
            if weight > 1 { return cores }
            return self == .whole ? cores * 32 : cores * 2
        }
    }

    /// - Parameters:
    ///   - shape: whose slots they are; nil for rows of a link.
    ///   - columns: what is read or computed besides the columns of the predicate.
    package init(
        _ handle: StoreHandle, _ snapshot: Snapshot, _ predicate: CompiledPredicate, root: UInt16,
        _ shape: EntityShape?, entities: EntityNumbers, reading columns: [RowExpression] = []
    ) {
        self.handle = handle
        self.snapshot = snapshot
        self.predicate = predicate
        self.columns = columns
        let all = predicate.program.slots.union(columns.flatMap(\.slots)).sorted()
        rowGroups = RowGroupSource(handle, root: root, shape, slots: all)
        self.root = root
        self.entities = entities
    }

    /// The same scan over some objects only.
    package func over(_ candidates: [ObjectRef], _ residual: CompiledPredicate) -> CompiledScan {
        var scan = self
        scan.candidates = candidates
        scan.predicate = residual
        scan.rowGroups = nil
        return scan
    }

    /// The same with what only the interpreter can answer asked in the scan, row group by row group; nil where that has
    /// to be asked on the request's own thread.
    func interpretingRest() -> CompiledScan? {
        guard let rest = predicate.rest else { return self }
        // Transformers are the program's own, and called by one thread at a time.
        let names = handle.shapes.transformableNames
        if !names.isEmpty {
            let text = rest.formatString
            guard !names.contains(where: { text.contains($0) }) else { return nil }
        }
        var scan = self
        scan.predicate = predicate.whole
        return scan
    }

    /// The row groups of all rows, or of the candidates.
    private func forEachPiece(_ body: (RowGroupCutter.Piece) -> Bool) throws(StoreError) {
        guard let candidates else {
            guard let index = snapshot.objectIndex(root: root) else { return }
            var walk = RowGroupWalk(index, root: root, handle.columnChunks)
            return try walk.forEach(body)
        }
        var cutter = RowGroupCutter()
        var goesOn = true
        try Self.forEachRun(candidates, snapshot) { run throws(StoreError) in
            if cutter.add(run) { goesOn = cutter.takeEnded().allSatisfy(body) }
            return goesOn
        }
        cutter.finish()
        if goesOn { _ = cutter.takeEnded().allSatisfy(body) }
    }

    private static func forEachRun(
        _ candidates: [ObjectRef], _ snapshot: Snapshot, _ body: (RowRun) throws(StoreError) -> Bool
    ) throws(StoreError) {
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

    /// So few rows, where 1 is a comparison of columns, are worked on in the time in which another thread wakes up.
    private static let rowsOfOneThread = 4_096

    /// What a row costs at most, roughly in nanoseconds, as long as it counts as one.
    private static let costOfComparisons = 256

    /// Tests all rows, makes a part of each row group, and takes the parts in the order of the rows.
    ///
    /// - Parameters:
    ///   - make: called on any thread, for several row groups at a time; must not change anything they share.
    ///   - take: called on this thread; false stops.
    package func run<Part>(
        _ pace: Pace = .careful, _ turn: ScanTurn?, make: (ScannedRowGroup) throws -> Part,
        take: (Part) throws -> Bool
    ) throws {
        let tables = tables(turn?.control)
        var wave: [[RowRun]] = []
        var waveRows = 0
        let weight = max(1, predicate.program.cost / Self.costOfComparisons)
        var goesOn = true
        var failure: (any Error)?
        func finishWave() -> Bool {
            do {
                try turn?.willLook(at: waveRows * weight)
                let isShort = waveRows * weight <= Self.rowsOfOneThread
                goesOn = try work(wave, isShort: isShort, turn?.control, tables, make, take)
                wave.removeAll(keepingCapacity: true)
                waveRows = 0
            } catch {
                failure = error
                goesOn = false
            }
            return goesOn
        }
        do {
            try forEachPiece { piece in
                wave.append(piece.runs)
                waveRows += piece.rowCount
                if let control = turn?.control, control.isStopped {
                    failure = control.error
                    goesOn = false
                    return false
                }
                return wave.count < pace.rowGroupsOfWave(at: piece.number, weight: weight) || finishWave()
            }
        } catch {
            throw RowScope(handle, snapshot, turn?.control).failure(error)
        }
        if goesOn, !wave.isEmpty { _ = finishWave() }
        if failure != nil, let reason = tables?.failure { throw reason }
        if let failure = failure as? StoreError {
            throw RowScope(handle, snapshot, turn?.control).failure(failure)
        }
        if let failure { throw failure }
    }

    /// What lies behind the relationships that are followed; nil when none is.
    /// Of what lies behind relationships; nil where nothing is asked of it.
    package func tables(_ control: RequestControl?) -> PathTables? {
        PathTables(predicate.program.computed + columns, handle, snapshot, control)
    }

    /// Works on some row groups. False when no more are wanted.
    ///
    /// - Parameter isShort: whether this thread does it alone.
    private func work<Part>(
        _ wave: [[RowRun]], isShort: Bool, _ control: RequestControl?, _ tables: PathTables?,
        _ make: (ScannedRowGroup) throws -> Part, _ take: (Part) throws -> Bool
    ) throws -> Bool {
        func rowGroup(_ runs: [RowRun]) throws -> ScannedRowGroup {
            let evaluator = ColumnEvaluator(handle, snapshot, control, tables)
            do {
                return try ScannedRowGroup(runs, self, evaluator)
            } catch {
                throw evaluator.failure ?? error
            }
        }
        guard wave.count > 1, !isShort, ScanPool.shared.cores > 1 else {
            let budget = EvaluationWork.current?.stepsLeft
            for runs in wave {
                if try !take(EvaluationWork.part(control, budget: budget) { try make(rowGroup(runs)) }) { return false }
            }
            return true
        }
        // Each thread has a row group and an evaluator of its own; the rest is constant meanwhile.
        for result in ScanPool.shared.map(wave.count, control, { try make(rowGroup(wave[$0])) }) {
            if try !take(result.get()) { return false }
        }
        return true
    }
}
