import Foundation

/// What a request for dictionaries computes: one column for each property, over rows or over groups of rows.
package struct DictionaryPlan {
    package struct Column {
        package let name: String
        /// Evaluated over a row; of columns over groups, with the aggregates bound as variables.
        package let expression: NSExpression
        /// The type to be brought to; undefined for what it is.
        package let type: NSAttributeType
        package let isAggregate: Bool

        /// Whether values of a kind are shown as they are stored, without being brought to another type.
        package func showsAsStored(_ kind: SlotKind) -> Bool {
            switch (kind, type) {
            case (_, .undefinedAttributeType): kind != .transformable
            case (.bool, .booleanAttributeType), (.int16, .integer16AttributeType), (.int32, .integer32AttributeType),
                (.int64, .integer64AttributeType), (.float, .floatAttributeType), (.double, .doubleAttributeType),
                (.date, .dateAttributeType), (.string, .stringAttributeType), (.uuid, .UUIDAttributeType),
                (.data, .binaryDataAttributeType), (.decimal, .decimalAttributeType), (.uri, .URIAttributeType):
                true
            default: false
            }
        }
    }

    package let columns: [Column]
    /// What rows must agree in to be in one group.
    package let groups: [Column]
    package let aggregates: [Aggregate]
    /// The predicate for groups. It reads aggregates and ``bare`` columns as variables.
    package let having: NSPredicate?
    /// What the predicate for groups names and is neither grouped by nor fetched: each group has the values of one of
    /// its rows.
    package let bare: [NSExpression]

    /// The variable that stands for one of the ``bare`` columns; no variable of a program's has a space in its name.
    package static func variable(_ index: Int) -> String { "column \(index)" }

    /// Whether there is one dictionary for each group instead of one for each row.
    package var isGrouped: Bool { !groups.isEmpty || !aggregates.isEmpty }

    /// The names that dictionaries can be sorted by in addition to key paths of the entity.
    package var names: Set<String> { Set(columns.map(\.name)).union(groups.map(\.name)) }

    package init(_ settings: FetchSettings, _ shape: EntityShape) throws {
        var builder = ColumnBuilder(shape, isGrouped: settings.propertiesToGroupBy?.isEmpty == false)
        let groups = try (settings.propertiesToGroupBy ?? []).map { try builder.column($0) }
        let grouped = Set(groups.map(\.name))
        let columns: [Column]
        if let properties = settings.propertiesToFetch, !properties.isEmpty {
            columns = try properties.map { try builder.column($0) }
        } else {
            columns = groups.isEmpty ? try builder.allColumns() : groups
        }
        if !groups.isEmpty {
            for column in columns where !column.isAggregate && !grouped.contains(column.name) {
                throw FetchProblem.error(
                    "SELECT clauses in queries with GROUP BY components can only contain properties named in the "
                        + "GROUP BY or aggregate functions (\(column.name) is not in the GROUP BY)")
            }
            for group in groups where group.isAggregate {
                throw FetchProblem.error("GROUP BY cannot contain the aggregate function \(group.name)")
            }
        }
        self.columns = columns
        self.groups = groups
        let known = grouped.union(columns.map(\.name))
        having = try settings.havingPredicate.map { try builder.having($0, known: known) }
        aggregates = builder.aggregates
        bare = builder.bare
    }
}

/// Turns what requests say they want into columns.
private struct ColumnBuilder {
    private let shape: EntityShape
    private let checker: KeyPathChecker
    /// Whether there are properties to group by: each column is then a value of the group.
    private let isGrouped: Bool
    private(set) var aggregates: [Aggregate] = []
    /// Of fetched expressions, unless the entity has a property of the name.
    private var fetched: Set<String> = []
    /// Those of ``fetched`` that the expression at hand may use.
    private var names: Set<String> = []
    /// What the groups have values of by name, where a predicate for groups is at hand.
    private var known: Set<String>?
    private(set) var bare: [NSExpression] = []

    init(_ shape: EntityShape, isGrouped: Bool) {
        self.shape = shape
        self.isGrouped = isGrouped
        checker = KeyPathChecker(shape)
    }

    func allColumns() throws -> [DictionaryPlan.Column] {
        let slots = shape.slots.prefix(shape.persistentSlotCount).filter { !$0.isHidden && !$0.name.contains(".") }
        let composites = shape.properties.keys.filter { name in
            if case .composite? = shape.property(name) { return !name.contains(".") }
            return false
        }
        return (slots.map(\.name) + composites.sorted()).map { name in
            DictionaryPlan.Column(
                name: name, expression: NSExpression(forKeyPath: name), type: .undefinedAttributeType,
                isAggregate: false)
        }
    }

    mutating func column(_ property: Any) throws -> DictionaryPlan.Column {
        switch property {
        case let description as NSExpressionDescription: return try column(description)
        case let description as NSPropertyDescription: return try propertyColumn(description.name)
        case let name as String: return try propertyColumn(name)
        default: throw FetchProblem.error("Invalid property \(property) passed to setPropertiesToFetch:")
        }
    }

    private func propertyColumn(_ name: String) throws -> DictionaryPlan.Column {
        let path = KeyPathComponents(name)
        try checker.check(path.names[...], from: shape, whole: name)
        if checker.isToMany(path) {
            throw FetchProblem.error("Invalid to many relationship in setPropertiesToFetch: (\(name))")
        }
        return DictionaryPlan.Column(
            name: name, expression: NSExpression(forKeyPath: name), type: .undefinedAttributeType, isAggregate: false)
    }

    private mutating func column(_ description: NSExpressionDescription) throws -> DictionaryPlan.Column {
        guard let expression = description.expression, !description.name.isEmpty else {
            throw FetchProblem.error("An expression to be fetched has no name or no expression: \(description)")
        }
        var folding = ConstantFolding()
        let folded = folding.apply(to: expression)
        guard !folding.needsObjects else {
            throw FetchProblem.error("\(expression) cannot be computed from stored values.")
        }
        try checker.check(folded)
        let known = aggregates.count
        let rewritten = rewrite(folded)
        if shape.property(description.name) == nil { fetched.insert(description.name) }
        return DictionaryPlan.Column(
            name: description.name, expression: rewritten, type: description.expressionResultType,
            isAggregate: aggregates.count > known)
    }

    /// - Parameter known: the names of what is grouped by or fetched.
    mutating func having(_ predicate: NSPredicate, known: Set<String>) throws -> NSPredicate {
        var folding = ConstantFolding()
        let folded = folding.apply(to: predicate)
        names = fetched
        self.known = known
        defer { (names, self.known) = ([], nil) }
        // Its variables, and its keys that are no properties, are the names of fetched expressions.
        try KeyPathChecker(shape, allowsVariables: true, names: names).check(folded)
        // What stands for an aggregate may be null, as the value of a property may.
        return ThreeValuedLogic(shape).apply(to: rewrite(try ConstantTypes(shape).apply(to: folded)))
    }

    // MARK: Aggregates

    /// Puts a variable in the place of every aggregate.
    private mutating func rewrite(_ expression: NSExpression) -> NSExpression {
        switch expression.form {
        case .function(nil, let name, let arguments):
            if arguments.count == 1, let function = Aggregate.Function(rawValue: name) {
                guard isOverRows(arguments[0]) else { return overMembers(function, expression) }
                if case .function(nil, "distinct:", let values) = arguments[0].form, values.count == 1 {
                    return variable(Aggregate(function: function, argument: values[0], isDistinct: true))
                }
                return variable(Aggregate(function: function, argument: arguments[0]))
            }
            return NSExpression(form: .function(target: nil, name: name, arguments: arguments.map { rewrite($0) }))
        case .keyPath(nil, let path) where names.contains(path.text): return NSExpression(forVariable: path.text)
        case .keyPath(nil, let path): return aggregate(path) ?? bareColumn(path, expression) ?? expression
        case .conditional(let predicate, let first, let second):
            return NSExpression(form: .conditional(rewrite(predicate), rewrite(first), rewrite(second)))
        case .aggregate(let elements): return NSExpression(form: .aggregate(elements.map { rewrite($0) }))
        default: return expression
        }
    }

    private mutating func rewrite(_ predicate: NSPredicate) -> NSPredicate {
        switch predicate {
        case let comparison as NSComparisonPredicate:
            return NSComparisonPredicate(
                rewrite(comparison.leftExpression), rewrite(comparison.rightExpression),
                comparison.comparisonPredicateModifier, comparison.predicateOperatorType, comparison.options,
                comparison.customSelector)
        case let compound as NSCompoundPredicate:
            return CompoundPredicate(
                type: compound.compoundPredicateType, subpredicates: compound.subpredicates.map { rewrite($0) })
        default: return predicate
        }
    }

    /// `@sum.age` and `age.@sum`, which mean the same as `sum:(age)` unless the path is to-many.
    private mutating func aggregate(_ path: KeyPathComponents) -> NSExpression? {
        guard let index = path.names.firstIndex(where: { $0.utf8.first == UInt8(ascii: "@") }),
            let function = Aggregate.Function(operator: path.names[index])
        else { return nil }
        let rest = path.names[..<index] + path.names[(index + 1)...]
        let argument =
            rest.isEmpty
            ? NSExpression(form: .evaluatedObject) : NSExpression(forKeyPath: rest.joined(separator: "."))
        if isOverRows(argument) { return variable(Aggregate(function: function, argument: argument)) }
        return overMembers(function, NSExpression(form: .keyPath(operand: nil, path: path)))
    }

    /// A function of what a to-many path leads to. In a group it runs over the members of all rows, as in SQL, which
    /// joins them: the number of members of a group is the sum of those of its rows. Without groups each row has its
    /// own.
    private mutating func overMembers(_ function: Aggregate.Function, _ expression: NSExpression) -> NSExpression {
        guard isGrouped, let whole = function.ofParts else { return expression }
        return variable(Aggregate(function: whole, argument: expression))
    }

    /// Whether the expression has one value a row, so that a function of it runs over rows. A to-many path has many:
    /// the function runs over those, for each row.
    private func isOverRows(_ expression: NSExpression) -> Bool {
        switch expression.form {
        // What an operator makes of members is one value.
        case .keyPath(nil, let path):
            return !checker.isToMany(path) || path.names.contains { Aggregate.Function(operator: $0) != nil }
        case .aggregate, .set, .subquery, .keyPath: return false
        case .function(_, _, let arguments): return arguments.allSatisfy { isOverRows($0) }
        case .conditional(_, let first, let second): return isOverRows(first) && isOverRows(second)
        case .constant(let value): return value.map { AnyElements($0) == nil } ?? true
        default: return true
        }
    }

    /// A variable for what groups have no value of by name. As SQLite does, they take it from one of their rows.
    private mutating func bareColumn(_ path: KeyPathComponents, _ expression: NSExpression) -> NSExpression? {
        guard let known, !known.contains(path.text), !checker.isToMany(path) else { return nil }
        if let index = bare.firstIndex(of: expression) {
            return NSExpression(forVariable: DictionaryPlan.variable(index))
        }
        bare.append(expression)
        return NSExpression(forVariable: DictionaryPlan.variable(bare.count - 1))
    }

    private mutating func variable(_ aggregate: Aggregate) -> NSExpression {
        aggregates.append(aggregate)
        return NSExpression(forVariable: Aggregate.variable(aggregates.count - 1))
    }
}
