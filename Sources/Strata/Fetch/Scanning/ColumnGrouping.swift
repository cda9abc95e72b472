import Foundation
import StrataLog

/// Groups and aggregates over plain columns: what a request for dictionaries needs of them.
struct ColumnGrouping {
    struct Column {
        let slot: Int
        let info: SlotInfo
    }

    struct Function {
        let function: Aggregate.Function
        /// Nil for the rows themselves, which are counted.
        let column: Column?
    }

    let groups: [Column]
    let functions: [Function]
    /// For each column of the dictionaries the group it shows; nil for aggregates.
    let plainGroups: [Int?]

    /// The slots whose columns are read.
    var slots: [Int] { groups.map(\.slot) + functions.compactMap { $0.column?.slot } }

    /// Nil unless everything is a plain attribute, or a to-one relationship to group by.
    init?(_ dictionaries: DictionaryPlan, _ sorts: [KeySortDescriptor], _ shape: EntityShape) {
        guard dictionaries.isGrouped, sorts.allSatisfy({ dictionaries.names.contains($0.path.text) }) else {
            return nil
        }
        var groups: [Column] = []
        for group in dictionaries.groups {
            guard group.type == .undefinedAttributeType, let column = Self.column(group.expression, shape) else {
                return nil
            }
            switch column.info.kind {
            case .bool, .int16, .int32, .int64, .float, .double, .date, .string, .toOne: groups.append(column)
            case .uuid, .data, .decimal, .uri, .transformable: return nil
            }
        }
        var functions: [Function] = []
        for aggregate in dictionaries.aggregates {
            guard let function = Self.function(aggregate, shape) else { return nil }
            functions.append(function)
        }
        var plainGroups: [Int?] = []
        for column in dictionaries.columns {
            guard !column.isAggregate else {
                plainGroups.append(nil)
                continue
            }
            guard column.type == .undefinedAttributeType,
                let index = dictionaries.groups.firstIndex(where: { $0.expression == column.expression })
            else { return nil }
            plainGroups.append(index)
        }
        self.groups = groups
        self.functions = functions
        self.plainGroups = plainGroups
    }

    private static func column(_ expression: NSExpression, _ shape: EntityShape) -> Column? {
        guard case .keyPath(nil, let path) = expression.form, path.names.count == 1,
            case .slot(let slot)? = shape.property(path.names[0]), shape.slots[slot].isPersistent
        else { return nil }
        return Column(slot: slot, info: shape.slots[slot])
    }

    private static func function(_ aggregate: Aggregate, _ shape: EntityShape) -> Function? {
        if aggregate.isDistinct { return nil }
        let column = column(aggregate.argument, shape)
        switch aggregate.function {
        case .count:
            if case .evaluatedObject = aggregate.argument.form { return Function(function: .count, column: nil) }
            guard let column, column.info.kind != .transformable, column.info.kind != .toOne else { return nil }
            return Function(function: .count, column: column)
        case .sum, .average, .min, .max:
            switch column?.info.kind {
            case .bool?, .int16?, .int32?, .int64?, .float?, .double?, .date?:
                return Function(function: aggregate.function, column: column)
            default: return nil
            }
        case .median, .mode, .standardDeviation: return nil
        }
    }
}
