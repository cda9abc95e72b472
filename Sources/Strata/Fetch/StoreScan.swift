import Foundation
import StrataLog

/// Goes through the rows of one store that satisfy a plan's predicate, in the order in which they were created.
///
/// The narrow place where a compiled query will take over: everything above works on the rows it hands out.
struct StoreScan {
    private let plan: FetchPlan
    let scope: RowScope
    private let storeIndex: UInt16
    /// Whether rows are wanted even if the predicate does not ask for one.
    private let needsRow: Bool
    /// By entity number.
    private let wanted: [Bool]
    /// Where the objects come from that some predicates need.
    private let context: NSManagedObjectContext?
    /// Asked now and then, throws to stop.
    private let checkCancellation: (() throws -> Void)?
    /// How many rows are looked at between two such questions.
    private static let rowsPerCheck = 1_024

    init(
        _ plan: FetchPlan, _ store: FetchExecutor.SeenStore, needsRow: Bool,
        context: NSManagedObjectContext?, checkCancellation: (() throws -> Void)? = nil
    ) {
        let handle = store.handle
        self.plan = plan
        scope = RowScope(handle, store.snapshot)
        storeIndex = store.index
        self.needsRow = needsRow || plan.predicate != nil
        self.context = plan.needsObjects ? context : nil
        self.checkCancellation = checkCancellation
        var wanted = [Bool](repeating: false, count: Int(handle.map.numbers.max() ?? 0) + 1)
        for shape in plan.family where handle.map.holds(shape) { wanted[Int(handle.map.numbers[shape.index])] = true }
        self.wanted = wanted
    }

    /// Calls the body with each row that satisfies the predicate until it returns false. The row is nil if nobody
    /// needs it, and valid only during the call.
    ///
    /// - Throws: the store's error, an error for a key that an entity does not have, and what the body and the
    ///   question for cancellation throw.
    func forEach(_ body: (ObjectRef, RowSource?) throws -> Bool) throws {
        var failure: (any Error)?
        var source: RowSource?
        var untilCheck = Self.rowsPerCheck
        /// False to stop.
        func visit(_ ref: ObjectRef, _ block: Block?, _ row: Int) -> Bool {
            do {
                untilCheck -= 1
                if untilCheck == 0 {
                    untilCheck = Self.rowsPerCheck
                    try checkCancellation?()
                }
                guard needsRow, let block, let shape = scope.handle.map.shape(ref.entity) else {
                    return try body(ref, nil)
                }
                let current: RowSource
                if let source {
                    source.move(to: block, row, shape)
                    current = source
                } else {
                    current = RowSource(scope, shape, block, row)
                    source = current
                }
                guard matches(current, ref) else { return true }
                return try body(ref, current)
            } catch {
                failure = error
                return false
            }
        }
        do {
            switch try FetchCandidates.of(plan, scope) {
            case .refs(let refs): try look(up: refs, visit)
            case .scan: try scanAll(visit)
            }
        } catch {
            throw StoreFailure.cocoaError(error, reading: scope.handle)
        }
        if let failure { throw failure }
        try scope.check()
    }

    /// False, to stop at once, when the row cannot answer.
    private func matches(_ row: RowSource, _ ref: ObjectRef) -> Bool {
        guard let predicate = plan.predicate else { return true }
        if let context {
            guard let object = context.object(ref, storeIndex) else { return false }
            return predicate.evaluate(with: object)
        }
        return predicate.evaluate(with: row) && scope.error == nil && scope.unknownKey == nil
    }

    private func look(up refs: [ObjectRef], _ visit: (ObjectRef, Block?, Int) -> Bool) throws(StoreError) {
        for ref in refs {
            guard let row = try scope.snapshot.row(ref) else { continue }
            let entity = Int(row.block.entity)
            guard entity < wanted.count, wanted[entity] else { continue }
            if !visit(row.ref, row.block, row.index) || scope.error != nil { return }
        }
    }

    private func scanAll(_ visit: (ObjectRef, Block?, Int) -> Bool) throws(StoreError) {
        let root = plan.shape.root
        let rootNumber = scope.handle.map.numbers[root.index]
        guard rootNumber != 0 else { return }
        // Rows of one entity alone need not be looked at to know their entity.
        let onlyEntity = root.subshapes.isEmpty ? rootNumber : nil
        var block: Block?
        try scope.snapshot.forEachRun(root: rootNumber) { run throws(StoreError) in
            if needsRow || onlyEntity == nil, block?.location != run.location.block {
                block = try scope.handle.log.block(at: run.location)
            }
            let entity = onlyEntity ?? block?.entity ?? 0
            guard Int(entity) < wanted.count, wanted[Int(entity)] else { return true }
            for index in 0..<run.count {
                let ref = ObjectRef(entity: entity, key: run.firstKey + UInt64(index))
                if !visit(ref, block, run.location.row + index) || scope.error != nil { return false }
            }
            return true
        }
    }
}
