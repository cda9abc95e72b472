import Foundation
import StrataLog

/// Groups and aggregates over what is computed of columns: what a request for dictionaries needs of them.
package struct ColumnGrouping {
    package struct Column {
        package let expression: RowExpression
        /// The type to be brought to; nil for values that are shown as they are.
        package let type: NSAttributeType?

        package var kind: SlotKind { expression.kind }
    }

    package struct Function {
        package let function: Aggregate.Function
        /// Nil for the rows themselves, which are counted.
        package let column: RowExpression?
        /// Whether a value that several rows of a group have counts once.
        package let isDistinct: Bool
    }

    package let groups: [Column]
    package let functions: [Function]
    /// For each column of the dictionaries the group it shows; nil for aggregates.
    package let plainGroups: [Int?]
    /// Whether the groups are wanted in the order of their first rows, as distinct rows are.
    let isOrderedByKey: Bool

    /// What is computed of each row.
    package var expressions: [RowExpression] { groups.map(\.expression) + functions.compactMap(\.column) }

    /// Of more columns null bits are not kept.
    private static let groupsMaximum = 64

    /// Nil unless everything can be computed a column at a time.
    package init?(_ dictionaries: DictionaryPlan, _ sorts: [KeySortDescriptor], _ shape: EntityShape) {
        guard sorts.allSatisfy({ dictionaries.names.contains($0.path.text) }), dictionaries.bare.isEmpty else {
            return nil
        }
        // Distinct rows are groups by all of their columns.
        let wanted = dictionaries.isGrouped ? dictionaries.groups : dictionaries.columns
        guard wanted.count <= Self.groupsMaximum else { return nil }
        let compiler = ExpressionCompiler(shape: shape)
        var groups: [Column] = []
        for group in wanted {
            guard let column = Self.column(group, compiler) else { return nil }
            groups.append(column)
        }
        var functions: [Function] = []
        for aggregate in dictionaries.aggregates {
            guard let function = Self.function(aggregate, compiler) else { return nil }
            functions.append(function)
        }
        var plainGroups: [Int?] = []
        for column in dictionaries.columns {
            guard !column.isAggregate else {
                plainGroups.append(nil)
                continue
            }
            guard
                let index = wanted.firstIndex(where: { $0.expression == column.expression && $0.type == column.type })
            else { return nil }
            plainGroups.append(index)
        }
        isOrderedByKey = !dictionaries.isGrouped
        self.groups = groups
        self.functions = functions
        self.plainGroups = plainGroups
    }

    /// Nil for a column that does not keep what differs apart, or that only the interpreter computes.
    private static func column(_ column: DictionaryPlan.Column, _ compiler: ExpressionCompiler) -> Column? {
        guard let expression = compiler.compile(column.expression) else { return nil }
        let isShown = column.showsAsStored(expression.kind)
        let isKept =
            switch (expression.kind, column.type) {
            case (.int16, .integer32AttributeType), (.float, .doubleAttributeType): true
            case (let kind, .integer64AttributeType): kind.isInteger
            default: isShown
            }
        return isKept ? Column(expression: expression, type: isShown ? nil : column.type) : nil
    }

    private static func function(_ aggregate: Aggregate, _ compiler: ExpressionCompiler) -> Function? {
        let isExtreme = aggregate.function == .min || aggregate.function == .max
        // An extreme is the same whether its values count once or each time.
        let isDistinct = aggregate.isDistinct && !isExtreme
        if aggregate.function == .count, case .evaluatedObject = aggregate.argument.form {
            // No row is another one.
            return Function(function: .count, column: nil, isDistinct: false)
        }
        guard var column = compiler.compile(aggregate.argument) else { return nil }
        if aggregate.function == .count, column.kind == .toOne {
            guard let key = compiler.key(ofReference: column) else { return nil }
            column = key
        }
        let isKnown =
            switch (aggregate.function, column.kind) {
            case (_, .transformable), (_, .toOne): false
            case (.count, _), (_, .decimal): true
            case (.min, .string), (.max, .string), (.mode, .string): true
            case (_, let kind): kind.isComputable
            }
        return isKnown ? Function(function: aggregate.function, column: column, isDistinct: isDistinct) : nil
    }
}
