import Foundation
import StrataLog

/// Makes dictionaries of rows: of the columns of a request without groups.
///
/// What is stored is boxed once, as the object that the dictionary holds: to box it in an existential, which Foundation
/// takes out again, takes as long as everything else.
struct RowProjection {
    private enum Source {
        /// An attribute of the row, or of the object behind some relationships.
        case stored(slot: Int, SlotKind, NSAttributeDescription?)
        /// What is computed by columns, by its place among these; by the interpreter where they cannot tell.
        case computed(Int, NSExpression, NSAttributeType, isConverted: Bool)
        /// What the interpreter computes.
        case expression(NSExpression, NSAttributeType)
    }

    private let scope: RowScope
    /// Whether rows may be projected on any thread: nothing of the program's own is called.
    let isForAllThreads: Bool
    private let sources: [Source]
    /// Of each column.
    private var followers: [PathFollower]
    private var columns: ProjectedColumns?
    private var row: RowSource?
    private var template: DictionaryTemplate
    /// Of the dictionary that is being made.
    private var values: [AnyObject?]

    /// - Parameter tables: of the projections of other rows of the request; nil for the first.
    init(_ columns: [DictionaryPlan.Column], _ shape: EntityShape, _ scope: RowScope, tables: PathTables? = nil) {
        self.scope = scope
        let compiler = ExpressionCompiler(shape: shape)
        template = DictionaryTemplate(columns.map(\.name))
        values = columns.map { _ in nil }
        var (sources, followers, computed) = ([Source](), [PathFollower](), [RowExpression]())
        for column in columns {
            var steps: [RowPath] = []
            let compiled = compiler.compile(column.expression)
            if let compiled, let stored = Self.stored(compiled, shape, column, &steps) {
                sources.append(stored)
            } else if let compiled, compiled.kind != .toOne, compiled.kind != .transformable {
                let isConverted = !column.showsAsStored(compiled.kind)
                sources.append(.computed(computed.count, column.expression, column.type, isConverted: isConverted))
                computed.append(compiled)
            } else {
                sources.append(.expression(column.expression, column.type))
            }
            followers.append(PathFollower(steps, scope.handle.map, scope.snapshot))
        }
        self.columns = computed.isEmpty ? nil : ProjectedColumns(computed, shape, scope, tables)
        isForAllThreads = sources.allSatisfy { source in
            switch source {
            case .stored(_, let kind, _): kind != .transformable
            case .computed: true
            case .expression: false
            }
        }
        self.sources = sources
        self.followers = followers
    }

    /// What lies behind the relationships that the computed columns follow, for further projections.
    var tables: PathTables? { columns?.tables }

    /// Nil for what is not stored as it is shown.
    ///
    /// - Parameter steps: gets the relationships on the way.
    private static func stored(
        _ expression: RowExpression, _ shape: EntityShape, _ column: DictionaryPlan.Column, _ steps: inout [RowPath]
    ) -> Source? {
        var (rest, owner) = (expression, shape)
        while case .path(let step) = rest {
            guard let destination = step.relationship.destination else { return nil }
            steps.append(step)
            (rest, owner) = (step.rest, destination)
        }
        guard case .slot(let slot, let kind) = rest, kind != .toOne, column.showsAsStored(kind) else { return nil }
        return .stored(slot: slot, kind, owner.slots[slot].attribute)
    }

    /// The dictionaries of some rows, in their order; those of rows that are gone are left out. Null is left out of
    /// each.
    ///
    /// - Throws: the error of a row or a value that cannot be read; why the request should stop.
    mutating func dictionaries<Asked>(
        _ refs: ArraySlice<ObjectRef>, _ pace: inout Pace<Asked>
    ) throws -> [NSDictionary] {
        try columns?.compute(refs)
        var results: [NSDictionary] = []
        results.reserveCapacity(refs.count)
        for (position, ref) in refs.enumerated() {
            try pace.step()
            guard let row = try scope.rows.row(ref), let shape = scope.handle.map.shape(row.block.entity) else {
                continue
            }
            results.append(try dictionary(row, shape, position))
            try scope.check()
        }
        return results
    }

    /// - Parameter position: of the row among those that were computed together.
    private mutating func dictionary(
        _ row: Row, _ shape: EntityShape, _ position: Int
    ) throws(StoreError) -> NSDictionary {
        for index in sources.indices {
            values[index] =
                switch sources[index] {
                case .stored(let slot, let kind, let attribute):
                    try followers[index].end(from: row).flatMap { end throws(StoreError) in
                        try object(end, slot, kind, attribute)
                    }
                case .computed(let column, let expression, let type, let isConverted):
                    switch columns?.value(column, at: position) {
                    case .some(let value): isConverted ? converted(value, to: type) : value
                    case nil: interpreted(expression, type, row, shape)
                    }
                case .expression(let expression, let type): interpreted(expression, type, row, shape)
                }
        }
        return template.dictionary(values)
    }

    private mutating func interpreted(
        _ expression: NSExpression, _ type: NSAttributeType, _ row: Row, _ shape: EntityShape
    ) -> AnyObject? {
        let context = EvaluationContext(object: source(row, shape), bindings: nil)
        return converted(expression.evaluate(context), to: type)
    }

    private func converted(_ value: Any?, to type: NSAttributeType) -> AnyObject? {
        ResultConversion.convert(value, to: type).map { $0 as AnyObject }
    }

    private mutating func source(_ row: Row, _ shape: EntityShape) -> RowSource {
        let source = self.row ?? RowSource(scope, shape, row.block, row.index)
        self.row = source
        source.move(to: row.block, row.index, shape)
        return source
    }

    private func object(
        _ row: Row, _ slot: Int, _ kind: SlotKind, _ attribute: NSAttributeDescription?
    ) throws(StoreError) -> AnyObject? {
        var failure: StoreError?
        let value = ColumnBoxing.object(try row.block.column(slot), row.index, kind, attribute) { external in
            do throws(StoreError) {
                return try scope.handle.read(external, of: row.ref)
            } catch {
                failure = error
                return nil
            }
        }
        if let failure { throw failure }
        return value
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
        var projection = RowProjection(dictionaries.columns, plan.shape, scope)
        do {
            guard refs.count > ProjectedColumns.rowsMaximum, projection.isForAllThreads else {
                var pace = TurnPace(turn, every: 64)
                var results: [NSDictionary] = []
                results.reserveCapacity(refs.count)
                for start in stride(from: 0, to: refs.count, by: ProjectedColumns.rowsMaximum) {
                    let piece = refs[start..<min(start + ProjectedColumns.rowsMaximum, refs.count)]
                    results += try projection.dictionaries(piece, &pace)
                }
                return results
            }
            // Most of the time is Foundation's, which makes the values and the dictionaries.
            let tables = projection.tables
            return try ScanPool.shared.mapPieces(of: refs.count, by: ProjectedColumns.rowsMaximum, turn) { range in
                let scope = RowScope(store.handle, store.snapshot, control)
                var projection = RowProjection(dictionaries.columns, plan.shape, scope, tables: tables)
                // Whoever helps has no turn of his own.
                var pace = ControlPace(control, every: 64)
                return try projection.dictionaries(refs[range], &pace)
            }
        } catch let error as StoreError {
            if let reason = projection.tables?.failure { throw reason }
            throw scope.failure(error)
        }
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
