import Foundation
import StrataLog

/// One execution of a ``DirectPath``: looks the constants up in an index, tests what the index does not say on the rows
/// that it finds, and sorts these. Nothing is counted or chosen.
///
/// A class, as the closures in it would each copy it, which counts nine references.
package final class DirectSearch {
    package enum Outcome {
        case found([ObjectRef])
        /// Too many rows have the constants: another lead may do.
        case tooMany
        /// Only the long way knows.
        case unknown
    }

    /// The rows that are wanted.
    package struct Window {
        /// How many.
        package let limit: Int
        /// Whether they are wanted in the order of the request, and not in that of their keys.
        package let isSorted: Bool

        package init(limit: Int, isSorted: Bool) {
            self.limit = limit
            self.isSorted = isSorted
        }
    }

    package let plan: FetchPlan
    let direct: DirectCondition
    package let path: DirectPath
    package let handle: StoreHandle
    package let snapshot: Snapshot
    package let control: RequestControl?
    /// Is told how the rows were found; nil where nobody asks.
    package let report: ScanReport?

    init(
        _ plan: FetchPlan, _ direct: DirectCondition, _ path: DirectPath, _ handle: StoreHandle, _ snapshot: Snapshot,
        _ control: RequestControl?, _ report: ScanReport?
    ) {
        self.plan = plan
        self.direct = direct
        self.path = path
        self.handle = handle
        self.snapshot = snapshot
        self.control = control
        self.report = report
    }

    /// More rows than this are found by the long way, which compares what the ways to them cost.
    package static let rowsMaximum = 256
    /// In the order of an index, so many rows are tested for one that is wanted.
    private static let testsPerRow = 8
    /// Longer windows are read by the long way.
    private static let windowMaximum = 1_024

    var key: DirectKey { DirectKey(handle: handle, snapshot: snapshot, shape: plan.shape) }

    /// As ``rows(_:)`` of a search that nobody else has, so that it needs no memory of its own.
    package static func rows(
        _ plan: FetchPlan, _ direct: DirectCondition, _ path: DirectPath, _ handle: StoreHandle, _ snapshot: Snapshot,
        limit: Int, isSorted: Bool, _ control: RequestControl?, _ report: ScanReport?
    ) throws(StoreError) -> [ObjectRef]? {
        try DirectSearch(plan, direct, path, handle, snapshot, control, report)
            .rows(Window(limit: limit, isSorted: isSorted))
    }

    /// The first rows that satisfy the condition; nil when the long way has to find them.
    ///
    /// - Throws: what the engine could not read. The long way tries again, and says what is wrong.
    func rows(_ window: Window) throws(StoreError) -> [ObjectRef]? {
        let first = path.first
        for step in path.leads.indices {
            // The one that was right the last time, then the others in their order.
            let number = step == 0 ? first : step <= first ? step - 1 : step
            switch try rows(path.leads[number], window) {
            case .found(let refs):
                path.recordSuccess(number)
                return refs
            case .tooMany: report?.forget()
            case .unknown: return nil
            }
        }
        path.recordFailure()
        return nil
    }

    package func constant(_ term: Int) -> Operand? {
        switch direct.terms[term].constant {
        case .value(let value): value
        case .parameter(let number): plan.parameters?.operand(number)
        }
    }

    // MARK: One lead

    private func rows(_ lead: DirectLead, _ window: Window) throws(StoreError) -> Outcome {
        // An order alone leads to all rows.
        if !lead.isRestricted, !window.isSorted { return .tooMany }
        var test: RowPredicate?
        if !lead.rest.isEmpty {
            guard let made = try self.test(lead.rest) else { return .unknown }
            test = made
        }
        let isInOrder = lead.isOrdered && window.isSorted
        if isInOrder, window.limit <= Self.windowMaximum { return try inOrder(lead, window.limit, test) }
        var refs: [ObjectRef] = []
        let outcome = try gather(lead) { ref in
            refs.append(ref)
            return refs.count <= Self.rowsMaximum
        }
        if let outcome { return outcome }
        if refs.count > Self.rowsMaximum { return .tooMany }
        if let test { refs = try matches(refs, test, limit: .max) }
        if refs.count > 1, !isInOrder { refs.sort { $0.key < $1.key } }
        guard window.isSorted, !direct.sorts.isEmpty, !isInOrder, refs.count > 1 else {
            return found(refs, window.limit)
        }
        guard let sorted = try DirectSort(direct.sorts, handle.log, snapshot).sorted(refs) else { return .unknown }
        return found(sorted, window.limit)
    }

    private func found(_ refs: [ObjectRef], _ limit: Int) -> Outcome {
        report?.statistics.rowsMatched += refs.count
        return .found(refs.count > limit ? Array(refs.prefix(limit)) : refs)
    }

    /// The first rows in the order of the index.
    private func inOrder(_ lead: DirectLead, _ limit: Int, _ test: RowPredicate?) throws(StoreError) -> Outcome {
        var refs: [ObjectRef] = []
        refs.reserveCapacity(limit)
        guard let test else {
            let outcome = try gather(lead) { ref in
                refs.append(ref)
                return refs.count < limit
            }
            return outcome ?? found(refs, limit)
        }
        // A part at a time, so that rows wait for memory together; the first is little larger than what is wanted.
        var part: [ObjectRef] = []
        var partCount = min(max(limit * 2, 32), Self.rowsMaximum)
        var rest = max(limit * Self.testsPerRow, Self.rowsMaximum)
        var tested = 0
        part.reserveCapacity(partCount)
        var isEnough = false
        let outcome = try gather(lead) { ref throws(StoreError) in
            part.append(ref)
            if part.count < partCount { return true }
            let found = try matches(part, test, limit: limit - refs.count)
            refs += found
            rest -= part.count
            tested += part.count
            // As many as are likely to be needed, going by those that were tested.
            let likely = found.isEmpty ? partCount * 2 : (limit - refs.count) * tested / refs.count * 5 / 4 + 4
            partCount = min(max(likely, 8), Self.rowsMaximum)
            part.removeAll(keepingCapacity: true)
            isEnough = refs.count == limit
            return !isEnough && rest > 0
        }
        if let outcome { return outcome }
        if !isEnough, rest <= 0 { return .tooMany }
        if !isEnough { refs += try matches(part, test, limit: limit - refs.count) }
        return found(refs, limit)
    }

    // MARK: Tests

    /// What a row is still asked; nil when only the long way knows.
    private func test(_ conjuncts: [Int]) throws(StoreError) -> RowPredicate? {
        let compiler = PredicateCompiler(plan.shape, handle, snapshot, plan.parameters)
        var tests: [RowPredicate] = []
        for number in conjuncts {
            let compiled = Result { try compiler.node(direct.conjuncts[number]) }
            guard case .success(let node?) = compiled, let test = RowPredicate.make(node, handle.log) else {
                return nil
            }
            tests.append(test)
        }
        return tests.count == 1 ? tests[0] : RowPredicate.all(tests)
    }

    /// Those among some rows that satisfy a test, in their order, until there are enough.
    private func matches(_ refs: [ObjectRef], _ test: RowPredicate, limit: Int) throws(StoreError) -> [ObjectRef] {
        try control?.checkRead()
        var matches: [ObjectRef] = []
        var tested = 0
        var found = try RowPart.forEach(refs, handle.log, snapshot) { index, block, row throws(StoreError) in
            tested += 1
            if try test.holds(block, row) { matches.append(refs[index]) }
            return matches.count < limit
        }
        found.rowsTested = tested
        report?.statistics.add(found)
        return matches
    }
}
