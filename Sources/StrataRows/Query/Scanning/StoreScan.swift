import Foundation
import StrataLog

/// Goes through the rows of one store that satisfy a plan's predicate, in the order in which they were created.
///
/// What the predicate says of columns and constants is compiled and tested block by block; the rest is interpreted for
/// the rows that are left.
package struct StoreScan {
    package let plan: FetchPlan
    package let scope: RowScope
    /// Whether rows are wanted even if the predicate does not ask for one.
    private let needsRow: Bool
    package let entities: EntityNumbers
    /// Makes the objects that some predicates need; nil where rows answer.
    package let objects: ((ObjectRef) -> Any?)?
    /// Whether there is no other store, so that the plan's way is one in this store.
    let isOnlyStore: Bool
    /// Asked now and then whether to go on.
    package let turn: ScanTurn?
    package let report: ScanReport
    let search: RowSearch
    /// What the predicate was compiled to.
    private let memo = Memo()

    package init(
        _ plan: FetchPlan, _ store: SeenStore, needsRow: Bool, isOnlyStore: Bool,
        objects: ((ObjectRef) -> Any?)?, report: ScanReport, turn: ScanTurn? = nil
    ) {
        let handle = store.handle
        self.plan = plan
        scope = RowScope(handle, store.snapshot, turn?.control)
        self.needsRow = needsRow
        self.objects = objects
        self.isOnlyStore = isOnlyStore
        self.report = report
        self.turn = turn
        search = RowSearch(handle, store.snapshot, plan.shape, family: plan.family, report: report, turn: turn)
        entities = search.entities
    }

    /// Keeps what is computed once for a scan; used by one thread at a time.
    private final class Memo {
        var prepared: RowSearch.Prepared?
        var isDirectTried = false
    }

    // MARK: Choosing

    /// How the rows are found.
    private enum RowAccess {
        case refs([ObjectRef])
        /// These satisfy the predicate, and their rows are not needed.
        case matches([ObjectRef])
        case compiled(CompiledScan)
        case interpreted
    }

    private func rowAccess() throws -> RowAccess {
        do {
            switch try FetchCandidates.of(plan, scope) {
            case .refs(let refs):
                report.record(.references)
                return try compiledScan(over: refs).map { .compiled($0) } ?? .refs(refs)
            case .postings(let refs):
                report.record(.postings)
                return try compiledScan(over: refs).map { .compiled($0) } ?? .refs(refs)
            case .scan: break
            }
            if let scan = try compiledScan(),
                scan.predicate.isSelective || scan.candidates != nil
                    || plan.hasPredicate && scan.predicate.rest == nil
            {
                if let refs = scan.candidates {
                    let isAnswer = !scan.predicate.isSelective && scan.predicate.rest == nil && !needsRow
                    return isAnswer ? .matches(refs) : .compiled(scan)
                }
                report.record(scan.predicate.rest == nil ? .compiledScan : .partlyCompiledScan)
                return .compiled(scan)
            }
        } catch let error as StoreError {
            throw scope.failure(error)
        }
        report.record(plan.hasPredicate ? .interpretedScan : .allRows)
        return .interpreted
    }

    /// The predicate as a program over all rows; nil when they are not scanned, or only objects can answer it.
    ///
    /// - Parameter columns: what is read besides the columns of the predicate.
    private func compiledScan(reading columns: [RowExpression] = []) throws -> CompiledScan? {
        guard var prepared = try self.prepared() else { return nil }
        if prepared.candidates == nil, columns.isEmpty, !needsRow, prepared.hasJoined {
            // Who wants nothing but keys need not look at rows.
            try search.narrowToKeys(&prepared)
        }
        let scan = CompiledScan(
            scope.handle, scope.snapshot, prepared.predicate, root: search.root, plan.shape, entities: entities,
            reading: columns)
        if let candidates = prepared.candidates {
            if !prepared.isDirect {
                if let choice = prepared.choice { report.record(choice) } else { report.record(prepared.path) }
            }
            return scan.over(candidates, prepared.predicate)
        }
        return try usingIndex(prepared.predicate, .rows) { choice throws(StoreError) in
            let refs = try choice.refs(of: entities, turn?.control)
            report.record(choice)
            return scan.over(refs, choice.residual)
        } ?? scan
    }

    /// The predicate as a program without conditions on other objects, which have been answered; nil when objects have
    /// to answer it, or there are no rows.
    func prepared() throws -> RowSearch.Prepared? {
        if let prepared = memo.prepared { return prepared }
        guard objects == nil, CompiledExecution.isEnabled, search.root != 0 else { return nil }
        if let prepared = try direct() { return prepared }
        let compiled = try plan.compiled(scope.handle, scope.snapshot)
        let prepared = try search.prepare(compiled, compiled.program.hasJoins ? plan.predicate : nil)
        memo.prepared = prepared
        return prepared
    }

    /// As ``directlyPrepared()``, asked once.
    private func direct() throws -> RowSearch.Prepared? {
        if !memo.isDirectTried {
            memo.isDirectTried = true
            memo.prepared = try directlyPrepared()
        }
        return memo.prepared.flatMap { $0.isDirect ? $0 : nil }
    }

    /// Fewer objects than this are interpreted in less time than it takes to compile.
    private static let compiledRefsMinimum = 16

    /// A scan over objects that the predicate names, when it asks for the members of their relationships; nil for
    /// others.
    private func compiledScan(over refs: [ObjectRef]) throws -> CompiledScan? {
        guard objects == nil, CompiledExecution.isEnabled, search.root != 0, refs.count >= Self.compiledRefsMinimum
        else { return nil }
        let compiled = try plan.compiled(scope.handle, scope.snapshot)
        guard compiled.program.hasToManyJoins else { return nil }
        let prepared = try search.prepare(compiled, among: search.existing(refs))
        let scan = CompiledScan(
            scope.handle, scope.snapshot, prepared.predicate, root: search.root, plan.shape, entities: entities)
        return scan.over(prepared.candidates ?? [], prepared.predicate)
    }

    /// A scan of all rows that satisfy the predicate, without looking at one by itself. Nil when objects have to answer
    /// it, or when there is a shorter way to them.
    ///
    /// - Parameters:
    ///   - columns: what is read besides the columns of the predicate.
    ///   - interprets: whether the interpreter may be asked about the rows of a whole row group.
    package func columnScan(
        reading columns: [RowExpression] = [], interpreting interprets: Bool = true
    ) throws -> CompiledScan? {
        do {
            // The rows of objects that the predicate names are looked up one by one, if not by the plan's own way.
            if plan.mayNameObjects, try direct() == nil { return nil }
            guard let partly = try compiledScan(reading: columns), interprets || partly.predicate.rest == nil,
                let scan = partly.interpretingRest()
            else { return nil }
            if scan.candidates == nil {
                let compiled: FetchExplanation.Path = partly.predicate.rest == nil ? .compiledScan : .partlyCompiledScan
                report.record(plan.hasPredicate ? compiled : .allRows)
            }
            return scan
        } catch let error as StoreError {
            throw scope.failure(error)
        }
    }

    /// Runs a scan, and adds what it did to the report.
    package func run<Part>(
        _ scan: CompiledScan, _ pace: CompiledScan.Pace = .careful, make: (ScannedRowGroup) throws -> Part,
        take: (Part) throws -> Bool
    ) throws {
        let report = report
        try scan.run(pace, turn) { rowGroup in
            (rowGroup.statistics, try make(rowGroup))
        } take: { (part: (statistics: ScanStatistics, value: Part)) in
            report.statistics.add(part.statistics)
            return try take(part.value)
        }
    }

    // MARK: Rows

    /// How many rows satisfy the predicate, up to about a maximum: there may be more.
    package func count(maximum: Int) throws -> Int {
        if let exact = try indexCount() { return exact }
        var count = 0
        if let scan = try columnScan(interpreting: false) {
            if let refs = scan.candidates, !scan.predicate.isSelective {
                report.statistics.rowsMatched += refs.count
                return refs.count
            }
            try run(scan, maximum == .max ? .whole : .careful) {
                $0.count
            } take: {
                count += $0
                return count < maximum
            }
            report.statistics.rowsMatched += count
            return count
        }
        try forEach { _, _ in
            count += 1
            return count < maximum
        }
        return count
    }

    /// How many of these rows satisfy the predicate.
    package func count(of refs: [ObjectRef]) throws -> Int {
        var count = 0
        try visit(plan.predicate) { visitor in
            try look(up: refs) { visitor.visit($0, $1, $2) }
        } _: { _, _ in
            count += 1
            return true
        }
        return count
    }

    /// Calls the body with each row that satisfies the predicate until it returns false. The row is nil if nobody
    /// needs it, and valid only during the call.
    ///
    /// - Throws: the store's error, an error for a key that an entity does not have, and what the body and the
    ///   question for cancellation throw.
    package func forEach(_ body: (ObjectRef, RowSource?) throws -> Bool) throws {
        try forEach(rowAccess(), body)
    }

    private func forEach(_ access: RowAccess, _ body: (ObjectRef, RowSource?) throws -> Bool) throws {
        switch access {
        case .refs(let refs):
            try visit(plan.predicate) { visitor in
                try look(up: refs) { visitor.visit($0, $1, $2) }
            } _: {
                try body($0, $1)
            }
        case .matches(let refs):
            try visit(nil) { visitor in
                for ref in refs where !visitor.visit(ref, nil, 0) { return }
            } _: {
                try body($0, $1)
            }
        case .interpreted:
            try visit(plan.predicate) { visitor in
                try scanAll { visitor.visit($0, $1, $2) }
            } _: {
                try body($0, $1)
            }
        case .compiled(let scan):
            try visit(scan.predicate.rest) { visitor in
                let log = scope.handle.log
                try run(scan) {
                    $0
                } take: { rowGroup in
                    try rowGroup.visitMatches(reading: visitor.needsRow ? log : nil) { visitor.visit($0, $1, $2) }
                }
            } _: {
                try body($0, $1)
            }
        }
    }

    /// The objects whose rows satisfy the predicate, by key, until there are enough. As ``forEach(_:)``, without a call
    /// for each where no row is asked by itself.
    package func refs(upTo maximum: Int) throws -> [ObjectRef] {
        var refs: [ObjectRef] = []
        guard maximum > 0 else { return refs }
        let access = try rowAccess()
        do {
            switch access {
            case .matches(let found): refs = found.count > maximum ? Array(found.prefix(maximum)) : found
            case .compiled(let scan) where scan.predicate.rest == nil:
                try run(scan) {
                    $0
                } take: {
                    $0.appendRefs(to: &refs, upTo: maximum)
                    return refs.count < maximum
                }
            case .interpreted where !plan.hasPredicate: refs = try allRefs(upTo: maximum)
            default:
                try forEach(access) { ref, _ in
                    refs.append(ref)
                    return refs.count < maximum
                }
                return refs
            }
        } catch let error as StoreError {
            throw scope.failure(error)
        }
        try scope.check()
        report.statistics.rowsMatched += refs.count
        return refs
    }

    private func allRefs(upTo maximum: Int) throws -> [ObjectRef] {
        var refs: [ObjectRef] = []
        refs.reserveCapacity(min(maximum, search.rowCount))
        var failure: (any Error)?
        var looked = 0
        try forEachRun { run, entity, _ in
            looked += run.count
            if looked >= Self.rowsPerLook {
                do {
                    try turn?.willLook(at: looked)
                } catch {
                    failure = error
                    return false
                }
                looked = 0
            }
            for index in 0..<min(run.count, maximum - refs.count) {
                refs.append(ObjectRef(entity: entity, key: run.firstKey + UInt64(index)))
            }
            return refs.count < maximum
        }
        if let failure { throw failure }
        return refs
    }

    /// So many rows are named between two questions whether to go on.
    private static let rowsPerLook = 1_024

    /// Has rows tested by the interpreter, and hands out those that satisfy the predicate.
    private func visit(
        _ predicate: NSPredicate?, _ walk: (RowVisitor) throws -> Void,
        _ body: (ObjectRef, RowSource?) throws -> Bool
    ) throws {
        try withoutActuallyEscaping(body) { body in
            let visitor = RowVisitor(
                scope, predicate, needsRow: needsRow || predicate != nil, report, turn
            ) { ref, row in
                guard predicate != nil, let objects else { return try body(ref, row) }
                EvaluationWork.beginObject()
                let isMatch = objects(ref).map { predicate?.evaluate(with: $0) ?? true } ?? false
                // A block may take long, and takes no steps.
                guard EvaluationWork.ask() else { return false }
                return isMatch ? try body(ref, row) : true
            }
            visitor.isInterpreting = predicate != nil && objects == nil
            do {
                try walk(visitor)
            } catch let error as StoreError {
                throw scope.failure(error)
            }
            if let failure = visitor.failure { throw failure }
            try scope.check()
        }
    }

    private func look(up refs: [ObjectRef], _ visit: (ObjectRef, Block?, Int) -> Bool) throws(StoreError) {
        for ref in refs {
            guard let row = try scope.rows.row(ref) else { continue }
            guard entities.contains(row.block.entity) else { continue }
            if !visit(row.ref, row.block, row.index) || scope.error != nil { return }
        }
    }

    private func scanAll(_ visit: (ObjectRef, Block?, Int) -> Bool) throws(StoreError) {
        try forEachRun { run, entity, block throws(StoreError) in
            for index in 0..<run.count {
                let ref = ObjectRef(entity: entity, key: run.firstKey + UInt64(index))
                if !visit(ref, block, run.location.row + index) || scope.error != nil { return false }
            }
            return true
        }
    }

    /// Calls the body with the runs of all rows of the entities until it returns false, with their entities. Blocks
    /// come only where somebody needs them.
    private func forEachRun(
        _ body: (RowRun, UInt16, Block?) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let root = plan.shape.root
        let rootNumber = scope.handle.map.root(plan.shape)
        guard rootNumber != 0 else { return }
        // Rows of one entity alone need not be looked at to know their entity.
        let onlyEntity = root.subshapes.isEmpty ? scope.handle.map.numbers[root.index] : nil
        let needsBlock = needsRow || plan.hasPredicate || onlyEntity == nil
        var block: Block?
        try scope.snapshot.forEachRun(root: rootNumber) { run throws(StoreError) in
            if needsBlock, block?.location != run.location.block {
                block = try scope.handle.log.block(at: run.location)
            }
            let entity = onlyEntity ?? block?.entity ?? 0
            guard entities.contains(entity) else { return true }
            return try body(run, entity, block)
        }
    }
}
