import Foundation
import StrataLog

/// What is computed of the rows of a projection, many rows at a time: of one by itself, setting up takes longer than
/// computing.
struct ProjectedColumns {
    /// So many rows are computed together, so that the values of a long result are not all held at once.
    static let rowsMaximum = 2_048

    private let scan: CompiledScan
    private let evaluator: ColumnEvaluator
    private let expressions: [RowExpression]
    /// For each expression the values of the rows, in the rows' order; nil where the interpreter has to compute them.
    private var values: [[AnyObject?]?]

    /// - Parameter tables: of the request, where other rows of it have been computed.
    init(_ expressions: [RowExpression], _ shape: EntityShape, _ scope: RowScope, _ tables: PathTables?) {
        self.expressions = expressions
        let map = scope.handle.map
        let all = CompiledPredicate.everyRow
        scan = CompiledScan(
            scope.handle, scope.snapshot, all, root: map.root(shape), shape,
            entities: EntityNumbers(shape.family, in: map), reading: expressions
        ).over([], all)
        evaluator = ColumnEvaluator(scope.handle, scope.snapshot, scope.control, tables ?? scan.tables(scope.control))
        values = expressions.map { _ in nil }
    }

    /// What lies behind the relationships that are followed.
    var tables: PathTables? { evaluator.tables }

    /// Computes the values of some rows, in place of those before.
    mutating func compute(_ refs: ArraySlice<ObjectRef>) throws(StoreError) {
        // By key, since neighbours lie in one block.
        let order = refs.indices.sorted { refs[$0].key < refs[$1].key }
        var runs: [RowRun] = []
        runs.reserveCapacity(order.count)
        for index in order {
            runs.append(RowRun(firstKey: refs[index].key, count: 1, location: try scan.snapshot.locate(refs[index])))
        }
        let rowGroup = try ScannedRowGroup(runs, scan, evaluator)
        for (index, expression) in expressions.enumerated() {
            do {
                let columns = try rowGroup.parts.indices.map { try rowGroup.column(expression, ofPart: $0) }
                var found = [AnyObject?](repeating: nil, count: refs.count)
                var next = 0
                rowGroup.forEach { part, row, key in
                    while refs[order[next]].key != key { next += 1 }
                    let view = columns[part].view
                    // A computed column has its values in line.
                    found[order[next] - refs.startIndex] =
                        ColumnBoxing.object(view, row, expression.kind, nil) { _ in nil }
                }
                withExtendedLifetime(columns) {}
                values[index] = found
            } catch let error as StoreError {
                throw error
            } catch {
                values[index] = nil
            }
        }
    }

    /// The value of an expression for the row at a position; nil where the interpreter has to be asked.
    func value(_ expression: Int, at position: Int) -> AnyObject?? { values[expression].map { $0[position] } }
}
