import Foundation
import StrataLog

/// Runs a batch update: reads the matching rows and writes new ones, without objects.
final class BatchUpdateExecutor {
    /// What a property becomes.
    private enum Change {
        case constant(Any?)
        case expression(NSExpression)
    }

    private let context: NSManagedObjectContext
    private let request: NSBatchUpdateRequest
    private let control: RequestControl?
    private let shape: EntityShape
    private let changes: [String: Change]
    private var outcome = BatchOutcome()
    /// By the index of the shape.
    private var plans: [Int: Plan] = [:]
    private var scratches: [Int: ScratchObject] = [:]

    /// The changes in the slots of one entity.
    private final class Plan {
        let shape: EntityShape
        let entity: UInt16
        var slots = SlotSet()
        var constants: [(slot: Int, value: SlotValue)] = []
        var expressions: [(slot: Int, expression: NSExpression)] = []

        init(_ shape: EntityShape, _ handle: StoreHandle) {
            self.shape = shape
            entity = handle.map.numbers[shape.index]
        }
    }

    init(_ context: NSManagedObjectContext, _ request: NSBatchUpdateRequest, _ control: RequestControl?) throws {
        self.control = control
        self.context = context
        self.request = request
        shape = try BatchSession.shape(named: request.entityName, in: context)
        var changes: [String: Change] = [:]
        for (key, value) in request.propertiesToUpdate ?? [:] {
            let name = try Self.name(of: key, in: shape)
            // Functions of constants, such as now(), have one value for all rows.
            changes[name] =
                (value as? NSExpression).map { expression in
                    var folding = ConstantFolding()
                    return .expression(folding.apply(to: expression))
                } ?? .constant(value)
        }
        guard !changes.isEmpty else { throw BatchSession.error("A batch update names no properties to update.") }
        self.changes = changes
        request.resolvedEntity = shape.entity
    }

    private static func name(of key: AnyHashable, in shape: EntityShape) throws -> String {
        let name = (key as? NSPropertyDescription)?.name ?? key as? String
        switch name.flatMap({ shape.property($0) }) {
        case .slot(let slot)? where shape.slots[slot].attribute is NSDerivedAttributeDescription:
            throw BatchSession.error("Invalid key \(key) in propertiesToUpdate: a derived attribute cannot be set.")
        case .slot(let slot)? where shape.slots[slot].isPersistent: return name ?? ""
        case .composite?: return name ?? ""
        default:
            throw BatchSession.error(
                "Invalid key \(key) in propertiesToUpdate: \(shape.name) has no such attribute or to-one relationship"
                    + "\(shape.suggestion(for: "\(key)")).")
        }
    }

    func execute() throws -> NSBatchUpdateResult {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: shape.name)
        fetch.predicate = request.predicate
        fetch.includesSubentities = request.includesSubentities
        let family = request.includesSubentities ? shape.family : [shape]
        for handle in try BatchSession.handles(request, family, in: context) {
            let rows = try BatchRows(fetch, handle, in: context, control)
            if rows.refs.isEmpty { continue }
            let session = try BatchSession(context, handle, rows, control)
            defer { session.finish() }
            let derivations = BatchDerivations(context, handle, family)
            plans = [:]
            for part in rows.parts(request.maximumObjectsPerTransaction) {
                var found = BatchOutcome()
                try derivations?.record(part)
                try session.commitPart { transaction, snapshot in
                    found = try write(
                        part, of: rows, to: transaction, snapshot, handle, checksPredicate: session.isBehind(snapshot))
                }
                try context.unstoppable { try derivations?.update(part) }
                outcome.count += found.count
                outcome.objectIDs += found.objectIDs
            }
        }
        return NSBatchUpdateResult(outcome, request.resultType)
    }

    private func plan(_ shape: EntityShape, _ handle: StoreHandle) throws -> Plan {
        if let plan = plans[shape.index] { return plan }
        let plan = Plan(shape, handle)
        for (name, change) in changes {
            if case .composite(let composite)? = shape.property(name) {
                guard case .constant(let value) = change else {
                    throw BatchSession.error("The composite attribute \(name) takes a dictionary, not an expression.")
                }
                for (slot, value) in try BatchComposites.elements(value ?? NSNull(), composite) {
                    plan.slots.insert(slot)
                    plan.constants.append((slot, try SlotValue(value, shape.slots[slot], shape, handle)))
                }
                continue
            }
            guard case .slot(let slot)? = shape.property(name) else { continue }
            plan.slots.insert(slot)
            switch change {
            case .constant(let value):
                plan.constants.append((slot, try SlotValue(value, shape.slots[slot], shape, handle)))
            case .expression(let expression):
                plan.expressions.append((slot, expression))
            }
        }
        plans[shape.index] = plan
        return plan
    }

    private func write(
        _ refs: ArraySlice<ObjectRef>, of rows: BatchRows, to transaction: WriteTransaction, _ snapshot: Snapshot,
        _ handle: StoreHandle, checksPredicate: Bool
    ) throws -> BatchOutcome {
        var found = BatchOutcome()
        let scope = RowScope(handle, snapshot, control)
        var reader = BatchReader(handle, snapshot, refs)
        var references = BatchReferences(handle, transaction, snapshot)
        var last: (plan: Plan, writer: EntityWriter)?
        let work = EvaluationWork(control)
        var pace = ControlPace(control, every: 64)
        for ref in refs {
            try pace.step()
            guard let row = try reader.row(ref), let shape = handle.map.shape(row.block.entity) else { continue }
            if last?.plan.shape !== shape {
                let plan = try plan(shape, handle)
                last = (plan, transaction.writer(for: plan.entity))
            }
            guard let (plan, writer) = last else { continue }
            var values = plan.constants
            if checksPredicate || !plan.expressions.isEmpty {
                let source = RowSource(scope, shape, row.block, row.index)
                // Others have saved since the rows were looked up.
                if checksPredicate, try !rows.satisfies(source, control) { continue }
                for (slot, expression) in plan.expressions {
                    let value = work.run { expression.evaluate(EvaluationContext(object: source, bindings: nil)) }
                    // What was stopped half way has no value to be stored.
                    try work.check(control)
                    let stored = (value as? RowSource)?.objectID ?? value
                    values.append((slot, try SlotValue(stored, shape.slots[slot], shape, handle)))
                }
                try scope.check()
            }
            if request.appliesValidation { try validate(row, shape, values) }
            writer.willReplace(rowOf: row.block)
            try writer.beginUpdate(key: row.ref.key, replacing: row.version, changed: plan.slots)
            try writer.copyRow(row, shape, except: plan.slots)
            for (slot, value) in values {
                try references.add(value, slot, of: shape)
                try value.write(slot, of: shape.slots[slot], to: writer)
            }
            writer.endRow()
            found.count += 1
            if request.resultType == .updatedObjectIDsResultType {
                found.objectIDs.append(NSManagedObjectID(ref: row.ref, identity: handle.identity, shape: shape))
            }
        }
        return found
    }

    private func validate(_ row: Row, _ shape: EntityShape, _ values: [(slot: Int, value: SlotValue)]) throws {
        let scratch = scratches[shape.index] ?? ScratchObject(shape)
        scratches[shape.index] = scratch
        try scratch.show(row)
        for (slot, value) in values where shape.slots[slot].attribute != nil {
            scratch.set(value.boxed(shape.slots[slot].kind), slot: slot)
        }
        // References are still those of the row.
        for (slot, value) in values where shape.slots[slot].attribute == nil && value.isNull {
            let relationship = shape.relationships[shape.slots[slot].relationshipIndex]
            guard !relationship.description.isOptional else { continue }
            throw ValidationErrors.error(.validationMissingMandatoryProperty, scratch.object, relationship.name)
        }
        let given = Set(values.lazy.filter { !$0.value.isNull }.map(\.slot))
        try scratch.validateForUpdate { given.contains($0) }
    }
}
