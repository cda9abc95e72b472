import Foundation
import StrataLog

/// What `max:` and its kin of the fetched entity's own attributes come to, such as `max(date)` and `date.@max`.
///
/// In a predicate they mean one value of all the objects that the request is about, as Core Data's SQL store makes a
/// sub-select of them, `(SELECT MAX(t.ZDATE) FROM …)`: whatever else the predicate asks. Over a to-many relationship
/// each object has a value of its own.
struct ColumnAggregates {
    private let context: NSManagedObjectContext
    private let settings: FetchSettings
    private let shape: EntityShape
    /// What the values are found in.
    let snapshots = RequestSnapshots()

    /// - Parameter settings: those of the request, which say of which objects the values are.
    init(_ settings: FetchSettings, _ shape: EntityShape, in context: NSManagedObjectContext) {
        self.context = context
        self.settings = settings
        self.shape = shape
    }

    private static let functions: [Aggregate.Function] = [.sum, .count, .min, .max, .average]

    /// The value; nil for an expression that is none of these. What is null is so for each object by itself. An error
    /// is recorded with the context.
    func value(of expression: NSExpression) -> ConstantFolding.FoundAggregate? {
        guard let (function, path) = aggregate(expression) else { return nil }
        do {
            return ConstantFolding.FoundAggregate(value: try value(function, path))
        } catch {
            context.recordReadFailure(error)
            return ConstantFolding.FoundAggregate(value: nil)
        }
    }

    /// The function and the path of the attribute that it is of.
    private func aggregate(_ expression: NSExpression) -> (Aggregate.Function, String)? {
        switch expression.form {
        case .function(nil, let name, let arguments):
            guard let function = Aggregate.Function(rawValue: name), Self.functions.contains(function),
                arguments.count == 1, case .keyPath(nil, let path) = arguments[0].form,
                isAttribute(path.names[...], of: shape)
            else { return nil }
            return (function, path.text)
        case .keyPath(nil, let path):
            guard let index = path.names.firstIndex(where: { $0.utf8.first == UInt8(ascii: "@") }),
                let function = Aggregate.Function(operator: path.names[index])
            else { return nil }
            let names = path.names[..<index] + path.names[(index + 1)...]
            return isAttribute(names, of: shape) ? (function, names.joined(separator: ".")) : nil
        default: return nil
        }
    }

    /// Whether a path ends in a stored attribute without a to-many relationship on the way.
    private func isAttribute(_ names: ArraySlice<String>, of shape: EntityShape) -> Bool {
        guard let name = names.first else { return false }
        switch shape.property(name) {
        case .slot(let slot)?:
            let index = shape.slots[slot].relationshipIndex
            if index >= 0 { return isAttribute(names.dropFirst(), of: shape.relationships[index].destination) }
            return names.count == 1 && shape.slots[slot].isPersistent
        case .composite?:
            guard case .slot(let slot)? = shape.property(names.joined(separator: ".")) else { return false }
            return shape.slots[slot].isPersistent
        default: return false
        }
    }

    // MARK: Finding

    private func value(_ function: Aggregate.Function, _ path: String) throws -> Any? {
        if settings.includesPendingChanges { context.processChangesBeforeReading() }
        var asked = FetchSettings()
        asked.entityName = shape.name
        asked.includesSubentities = settings.includesSubentities
        asked.affectedStores = settings.affectedStores
        asked.includesPendingChanges = settings.includesPendingChanges
        let hasChanges = settings.includesPendingChanges && !context.pipeline.changed.isEmpty
        // Dictionaries are made of what is stored, here and where the request wants some.
        if !settings.resultType.contains(.dictionaryResultType), context.link != nil || hasChanges {
            return try overlaidValue(function, path, asked)
        }
        let column = NSExpressionDescription()
        column.name = "value"
        column.expression = NSExpression(forFunction: function.rawValue, arguments: [NSExpression(forKeyPath: path)])
        asked.resultType = .dictionaryResultType
        asked.propertiesToFetch = [column]
        let results = try executor(asked, NSDictionary.self) { try $0.results() }
        guard case .dictionaries(let dictionaries) = results else { return nil }
        return dictionaries.first?[column.name]
    }

    /// The value of what is stored with unsaved changes laid over it: one for each object, as an order has it.
    private func overlaidValue(_ function: Aggregate.Function, _ path: String, _ settings: FetchSettings) throws -> Any?
    {
        var asked = settings
        asked.resultType = .managedObjectIDResultType
        asked.predicate = NSPredicate(format: "%K != nil", path)
        asked.sortDescriptors = [NSSortDescriptor(key: path, ascending: function != .max)]
        if function == .min || function == .max { asked.fetchLimit = 1 }
        let matches = try executor(asked, NSManagedObjectID.self) { try $0.orderedMatches(withKeys: true) }
        var state = AggregateState(function, count: 0)
        for match in matches { _ = state.add(match.keys?.first?.constant) }
        return state.result
    }

    private func executor<T>(
        _ settings: FetchSettings, _ resultClass: Any.Type, _ body: (FetchExecutor) throws -> T
    ) throws -> T {
        let plan = FetchPlan(
            try PreparedFetch(settings, resultClass: resultClass, in: context, snapshots: snapshots),
            isBounded: self.settings.predicate?.hasBounds == true)
        let turn = context.turn(ContextQueue.currentControl, plan)
        return try context.undisturbed { try body(FetchExecutor(context, plan, turn: turn)) }
    }
}

extension Operand {
    /// A single value as a constant of a predicate has it.
    fileprivate var constant: Any? {
        switch self {
        case .integer(let value): value
        case .double(let value): value
        case .decimal(let value): NSDecimalNumber(decimal: value)
        case .string(let value): value
        case .date(let value): Date(timeIntervalSinceReferenceDate: value)
        case .data(let value): value
        case .uuid(let value): value
        case .url(let value): value
        case .null, .list, .dictionary, .object: nil
        }
    }
}
