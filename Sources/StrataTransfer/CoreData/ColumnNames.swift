import Foundation
import Strata

/// The names that Core Data gives to the columns of a table.
///
/// All entities of one root share a table. Where two of their properties would have one column, the second one's gets a
/// 1 at its end, the third one's a 2; the order is that of the entities' numbers, of one entity that of the names. A
/// column of a composite's element is called by the element alone.
struct ColumnNames {
    /// How the columns of composites' elements are called.
    enum Elements {
        case byName
        /// As earlier exports of Strata did: by their paths.
        case byPath
    }

    /// A property, or an element of a composite, with its column.
    private struct Entry {
        let entity: String
        let name: String
        let base: String
        let type: String
        var column: String
    }

    private var entries: [Entry] = []
    /// By entity and property, or path of a composite's element, the entry.
    private var places: [String: [String: Int]] = [:]

    /// - Parameter entities: the entities of one root, each after what it inherits from, otherwise by their numbers.
    init(_ entities: [RowLayouts.Rows], elements: Elements = .byName) {
        var taken: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]
        for entity in entities {
            var own = entity.entity.superentity?.name.flatMap { places[$0] } ?? [:]
            for slot in entity.slots where slot.hasColumn && slot.kind != .position && own[slot.name] == nil {
                let path = slot.name.split(separator: ".")
                let base =
                    "Z"
                    + (elements == .byPath ? path.joined(separator: "_") : String(path[path.count - 1])).uppercased()
                own[slot.name] = entries.count
                entries.append(
                    Entry(
                        entity: entity.name, name: slot.name, base: base, type: slot.kind.columnType,
                        column: NumberedName.first(base, &taken)))
            }
            places[entity.name] = own
        }
    }

    /// The column of a property; nil when it has none.
    func column(_ entity: String, _ property: String) -> String? {
        places[entity]?[property].map { entries[$0].column }
    }

    /// The column with a place in the order of the relationship at the other end.
    static func order(_ column: String) -> String { "Z_FOK_" + column.dropFirst() }

    /// The column that says which entity an object is of that a to-one relationship leads to.
    static func entity(_ column: String, destination number: Int64) -> String { "Z\(number)_" + column.dropFirst() }

    /// Gives the columns of one name to the properties whose types they have, where the order gives them to others:
    /// Core Data does not say in which order it counts what one entity has.
    ///
    /// - Parameter table: what a file has.
    mutating func fit(_ table: FileTable) {
        for group in Dictionary(grouping: entries.indices, by: { entries[$0].base }).values where group.count > 1 {
            let columns = group.map { entries[$0].column }
            guard group.contains(where: { table.columns[entries[$0].column]?.type != entries[$0].type }) else {
                continue
            }
            let byType = Dictionary(grouping: columns, by: { table.columns[$0]?.type ?? "" })
            let wanted = Dictionary(grouping: group, by: { entries[$0].type })
            guard wanted.allSatisfy({ byType[$0.key]?.count == $0.value.count }) else { continue }
            for (type, members) in wanted {
                for (member, column) in zip(members.sorted(), byType[type] ?? []) { entries[member].column = column }
            }
        }
    }
}

/// Names that have to be different from each other.
enum NumberedName {
    /// A name, with the least number behind it that nothing else has.
    static func first(_ base: String, _ taken: inout Set<String>) -> String {
        var name = base
        var number = 0
        while !taken.insert(name).inserted {
            number += 1
            name = base + String(number)
        }
        return name
    }

    /// The tables of root entities, in the order of their numbers.
    static func tables(_ roots: [String]) -> [String: String] {
        var taken: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
        return Dictionary(
            roots.map { ($0, first("Z" + $0.uppercased(), &taken)) }, uniquingKeysWith: { first, _ in first })
    }

    /// The number and the rest of a name such as "Z_12TAGS".
    static func parts(_ name: String) -> (number: Int64, rest: String)? {
        guard name.hasPrefix("Z_") else { return nil }
        let body = name.dropFirst(2)
        let digits = body.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), digits.count < body.count else { return nil }
        return (number, String(body.dropFirst(digits.count)))
    }
}

extension RowLayouts.Slot {
    /// Whether Core Data keeps a column for it: a transient relationship is kept nowhere.
    var hasColumn: Bool { relationship?.isTransient != true }
}

extension RowLayouts.Slot.Kind {
    /// The type that Core Data declares such a column with.
    var columnType: String {
        switch self {
        case .bool, .int16, .int32, .int64, .toOne, .position: "INTEGER"
        case .float, .double: "FLOAT"
        case .date: "TIMESTAMP"
        case .decimal: "DECIMAL"
        case .string, .uri: "VARCHAR"
        case .uuid, .data, .transformable: "BLOB"
        }
    }
}
