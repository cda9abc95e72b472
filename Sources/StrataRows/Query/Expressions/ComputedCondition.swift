import Foundation

/// A condition on values that are computed of a row: they stand in the place of slots in a program of their own.
/// Immutable.
package final class ComputedCondition {
    /// By the slots of the program.
    let columns: [RowExpression]
    let program: CompiledPredicate.Node
    /// The same for the interpreter, which is asked about the rows whose values are of another kind than those of
    /// others: integers that overflow.
    let exceptional: InterpretedCondition

    init(_ columns: [RowExpression], _ program: CompiledPredicate.Node, _ predicate: NSPredicate) {
        self.columns = columns
        self.program = program
        exceptional = InterpretedCondition(predicate)
    }

    /// What testing a row costs, roughly in nanoseconds.
    var cost: Int { columns.reduce(program.cost) { $0 + $1.cost } }
}
