import Foundation
import StrataLog

// Requests whose plan says where a part of their constants is looked up, and that want more than the names of the rows
// there: dictionaries of them, or the answer to what is not asked of a row alone.
extension StoreScan {
    /// The plan's way in the store.
    private var directPath: (direct: DirectCondition, path: DirectPath)? {
        guard isOnlyStore, objects == nil, CompiledExecution.isEnabled, search.root != 0,
            case .automatic = IndexUse.current, case .automatic = SemiJoinUse.current,
            let direct = plan.prepared.direct, plan.dictionaries != nil || !direct.others.isEmpty,
            let path = plan.prepared.directPath(scope.handle, scope.snapshot), path.isWorthTrying
        else { return nil }
        return (direct, path)
    }

    private func directSearch(_ direct: DirectCondition, _ path: DirectPath) -> DirectSearch {
        DirectSearch(plan, direct, path, scope.handle, scope.snapshot, turn?.control, report)
    }

    /// Some parts of the condition as a program.
    private func compiled(_ numbers: [Int]) throws -> CompiledPredicate {
        let conjuncts = plan.prepared.condition?.conjuncts ?? []
        return try PredicateCompiler(plan.shape, scope.handle, scope.snapshot, plan.parameters)
            .compile(numbers.map { conjuncts[$0] })
    }

    /// The rows that the plan's constants lead to, and what is left to ask of them. Nil where the plan says nothing,
    /// and where too many rows have the constants.
    func directlyPrepared() throws -> RowSearch.Prepared? {
        guard let (direct, path) = directPath, path.isRestricted else { return nil }
        let found: [ObjectRef]?
        do throws(StoreError) {
            found = try directSearch(direct, path).rows(DirectSearch.Window(limit: .max, isSorted: false))
        } catch {
            // What cannot be read meets the long way, too, which has a damaged index built anew.
            try turn?.control?.check()
            found = nil
        }
        guard let refs = found else {
            report.forget()
            return nil
        }
        report.isDirect = true
        report.statistics.rowsMatched = 0
        var prepared = try search.prepare(compiled(direct.others), among: refs)
        prepared.isDirect = true
        return prepared
    }

    // MARK: In the order of an index

    /// More rows than this are found in another way.
    private static let orderedMaximum = 64
    /// So many rows are asked for one that is wanted, and at least as many as in the second line.
    private static let rowsPerMatch = 8
    private static let rowsMinimum = 128

    /// The first matches in the order of an index, where other objects are asked, too: those of a few rows are asked in
    /// less time than all that there are. Nil where that is not so, or when a few rows are not enough.
    package func firstDirectly(limit: Int) throws -> [ObjectRef]? {
        guard limit > 0, limit <= Self.orderedMaximum, let (direct, path) = directPath, !direct.sorts.isEmpty,
            let lead = path.leads.first(where: { $0.isOrdered })
        else { return nil }
        let compiled = try compiled(lead.rest + direct.others)
        let maximum = max(limit * Self.rowsPerMatch, Self.rowsMinimum)
        guard compiled.rest == nil, compiled.program.hasJoins, search.isWorthAsking(compiled.program, maximum) else {
            return nil
        }
        let found = try rows(of: lead, directSearch(direct, path), compiled, limit: limit, maximum: maximum)
        if found == nil {
            report.forget()
            path.recordFailure()
        } else {
            report.isDirect = true
        }
        return found
    }

    private func rows(
        of lead: DirectLead, _ search: DirectSearch, _ compiled: CompiledPredicate, limit: Int, maximum: Int
    ) throws -> [ObjectRef]? {
        var matches: [ObjectRef] = []
        var part: [ObjectRef] = []
        var partCount = limit * 2
        var tested = 0
        var failure: (any Error)?
        func testPart() -> Bool {
            do {
                matches += try self.matches(part, compiled)
            } catch {
                failure = error
            }
            tested += part.count
            part.removeAll(keepingCapacity: true)
            partCount = min(partCount * 2, maximum - tested)
            return failure == nil && matches.count < limit && tested < maximum
        }
        var isAll = true
        let outcome: DirectSearch.Outcome?
        do throws(StoreError) {
            outcome = try search.gather(lead) { ref in
                part.append(ref)
                if part.count < partCount { return true }
                isAll = testPart()
                return isAll
            }
        } catch {
            try turn?.control?.check()
            return nil
        }
        if isAll, outcome == nil, !part.isEmpty { _ = testPart() }
        if let failure { throw failure }
        guard outcome == nil, isAll || matches.count >= limit else { return nil }
        report.statistics.rowsMatched += min(matches.count, limit)
        return Array(matches.prefix(limit))
    }

    /// Those of some rows that satisfy a program, in their order.
    private func matches(_ refs: [ObjectRef], _ compiled: CompiledPredicate) throws -> [ObjectRef] {
        let prepared = try search.prepare(compiled, among: refs.sorted { $0.key < $1.key })
        let scan = CompiledScan(
            scope.handle, scope.snapshot, prepared.predicate, root: search.root, plan.shape, entities: entities
        ).over(prepared.candidates ?? [], prepared.predicate)
        var keys: Set<UInt64> = []
        try run(scan) { rowGroup in
            var keys: [UInt64] = []
            rowGroup.forEach { _, _, key in keys.append(key) }
            return keys
        } take: {
            keys.formUnion($0)
            return true
        }
        return refs.filter { keys.contains($0.key) }
    }
}
