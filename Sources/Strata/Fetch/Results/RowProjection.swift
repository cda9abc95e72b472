import Foundation
import StrataLog

/// Makes a dictionary of a row: of the columns of a request without groups.
struct RowProjection {
    private enum Value {
        case slot(Int)
        case expression(NSExpression)
    }

    private let names: [NSString]
    private let values: [Value]
    private let types: [NSAttributeType]

    init(_ columns: [DictionaryPlan.Column], _ shape: EntityShape) {
        let compiler = ExpressionCompiler(shape: shape)
        names = columns.map { $0.name as NSString }
        types = columns.map(\.type)
        values = columns.map { column in
            guard case .keyPath = column.expression.form, let slot = compiler.compile(column.expression)?.plainSlot
            else {
                return .expression(column.expression)
            }
            return .slot(slot)
        }
    }

    /// Null is left out.
    func dictionary(_ row: RowSource) -> NSDictionary {
        var objects: [Any] = []
        var keys: [NSObject] = []
        objects.reserveCapacity(names.count)
        keys.reserveCapacity(names.count)
        for index in names.indices {
            let value =
                switch values[index] {
                case .slot(let slot): row.value(slot)
                case .expression(let expression): expression.evaluate(EvaluationContext(object: row, bindings: nil))
                }
            guard let converted = ResultConversion.convert(value, to: types[index]) else { continue }
            objects.append(converted)
            keys.append(names[index])
        }
        return NSDictionary(objects: objects, forKeys: keys)
    }
}

extension FetchExecutor {
    /// The rows that a request describes as dictionaries: found as objects are, then read one by one. Nil for groups
    /// and distinct rows, and where the order is one of computed results, or takes the interpreter.
    ///
    /// To be called in the request's turn.
    func projectedRows(_ store: SeenStore, _ dictionaries: DictionaryPlan) throws -> [NSDictionary]? {
        guard CompiledExecution.isEnabled, !dictionaries.isGrouped, !plan.isDistinct, !plan.needsObjects,
            keySorts.allSatisfy({ Self.isOfRows($0, dictionaries) }),
            let refs = try plan.sorts.isEmpty ? window(refs(in: store, upTo: maximumMatches)) : sortedRefs(store)
        else { return nil }
        let scope = RowScope(store.handle, store.snapshot, control)
        let projection = RowProjection(dictionaries.columns, plan.shape)
        var pace = TurnPace(turn, every: 64)
        var source: RowSource?
        var results: [NSDictionary] = []
        results.reserveCapacity(refs.count)
        do {
            for ref in refs {
                try pace.step()
                guard let row = try scope.rows.row(ref), let shape = store.handle.map.shape(row.block.entity) else {
                    continue
                }
                let current = source ?? RowSource(scope, shape, row.block, row.index)
                source = current
                current.move(to: row.block, row.index, shape)
                results.append(projection.dictionary(current))
                try scope.check()
            }
        } catch let error as StoreError {
            throw scope.failure(error)
        }
        return results
    }

    /// Whether a descriptor means the rows' own values: no column has its name that shows something else.
    private static func isOfRows(_ sort: KeySortDescriptor, _ dictionaries: DictionaryPlan) -> Bool {
        dictionaries.columns.allSatisfy { column in
            guard column.name == sort.path.text else { return true }
            guard column.type == .undefinedAttributeType, case .keyPath(nil, let path) = column.expression.form else {
                return false
            }
            return path.text == sort.path.text
        }
    }

    private func sortedRefs(_ store: SeenStore) throws -> [ObjectRef]? {
        guard let sorts = sortsOfColumns else { return nil }
        let (end, isUnlimited) = plan.limit.addingReportingOverflow(plan.offset)
        let found = try sortedMatches(
            store, sorts, offset: plan.offset, limit: isUnlimited ? Int.max : end, withKeys: false)
        return found.map { window($0.matches, skipped: $0.skipped).map(\.ref) }
    }
}
