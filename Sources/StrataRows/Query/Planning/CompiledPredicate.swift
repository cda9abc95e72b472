import Foundation
import StrataLog

/// A predicate as a program over the columns of one store, and what of it only the interpreter can answer.
///
/// A row satisfies the predicate when it satisfies the program and then the rest. Immutable.
package struct CompiledPredicate {
    package indirect enum Node {
        case constant(Bool)
        case test(ColumnPredicate)
        /// On values that are computed of columns.
        case computed(ComputedCondition)
        /// What only the interpreter can answer; asked of the rows that are left.
        case interpreted(InterpretedCondition)
        case all([Node])
        case any([Node])
        case not(Node)
        /// On other objects; answered before a row is tested (``RowSearch``).
        case join(SemiJoin)

        /// What zone maps say about a block.
        ///
        /// - Parameter ask: what they say about a test.
        func verdict(_ ask: (ColumnPredicate) -> ColumnPredicate.Verdict) -> ColumnPredicate.Verdict {
            switch self {
            case .constant(let value): return value ? .all : .none
            case .test(let test): return ask(test)
            case .join, .computed, .interpreted: return .some
            case .not(let node): return node.verdict(ask).inverted
            case .all(let nodes):
                var result = ColumnPredicate.Verdict.all
                for node in nodes {
                    switch node.verdict(ask) {
                    case .none: return .none
                    case .some: result = .some
                    case .all: break
                    }
                }
                return result
            case .any(let nodes):
                var result = ColumnPredicate.Verdict.none
                for node in nodes {
                    switch node.verdict(ask) {
                    case .all: return .all
                    case .some: result = .some
                    case .none: break
                    }
                }
                return result
            }
        }

        /// Whether one of the tests of columns and constants is such a one.
        func hasTest(where holds: (ColumnPredicate) -> Bool) -> Bool {
            switch self {
            case .test(let test): holds(test)
            case .constant, .join, .computed, .interpreted: false
            case .not(let node): node.hasTest(where: holds)
            case .all(let nodes), .any(let nodes): nodes.contains { $0.hasTest(where: holds) }
            }
        }

        /// The slots whose columns are read.
        package var slots: Set<Int> {
            switch self {
            case .constant, .join, .interpreted: return []
            case .computed(let condition): return Set(condition.columns.flatMap(\.slots))
            case .test(let test):
                switch test.condition {
                case .key: return []
                case .column(let comparison): return [test.slot, comparison.slot]
                default: return [test.slot]
                }
            case .all(let nodes), .any(let nodes): return nodes.reduce(into: []) { $0.formUnion($1.slots) }
            case .not(let node): return node.slots
            }
        }

        /// What is computed of the rows.
        package var computed: [RowExpression] {
            switch self {
            case .constant, .join, .interpreted, .test: []
            case .computed(let condition): condition.columns
            case .all(let nodes), .any(let nodes): nodes.flatMap(\.computed)
            case .not(let node): node.computed
            }
        }

        /// What holds for null in the place of the value.
        var nullResult: Bool {
            switch self {
            case .constant(let value): value
            case .test(let test): test.nullResult
            case .join(let join): join.nullResult
            case .computed(let condition): condition.program.nullResult
            case .interpreted: false
            case .all(let nodes): nodes.allSatisfy { $0.nullResult }
            case .any(let nodes): nodes.contains { $0.nullResult }
            case .not(let node): !node.nullResult
            }
        }

        /// What testing a row costs, roughly in nanoseconds.
        package var cost: Int {
            switch self {
            case .constant: 0
            case .test(let test): test.cost
            case .join: 200
            case .computed(let condition): condition.cost
            case .interpreted: 2_000
            case .all(let nodes), .any(let nodes): nodes.reduce(0) { $0 + $1.cost }
            case .not(let node): node.cost
            }
        }
    }

    package let program: Node
    /// Nil when the program says all.
    package let rest: NSPredicate?

    package init(program: Node, rest: NSPredicate? = nil) {
        self.program = program
        self.rest = rest
    }

    /// What holds for every row.
    package static var everyRow: CompiledPredicate { CompiledPredicate(program: .constant(true)) }

    /// The same with the rest as a part of the program, which is asked last.
    package var whole: CompiledPredicate {
        guard let rest else { return self }
        let condition = Node.interpreted(InterpretedCondition(rest))
        return CompiledPredicate(program: isSelective ? .all([program, condition]) : condition, rest: nil)
    }

    /// Whether the program leaves rows out at all.
    var isSelective: Bool {
        if case .constant(true) = program { return false }
        return true
    }
}
