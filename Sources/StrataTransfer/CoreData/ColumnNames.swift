import Foundation
import Strata

/// The names that Core Data gives to tables and columns.
///
/// All entities of one root share a table. Where two of them that do not inherit from each other have properties of one
/// name, the second one's column gets a 1 at its end, the third one's a 2; the order is that of the entities' numbers.
struct ColumnNames {
    /// By entity and property, or path of a composite's element, the column.
    private var columns: [String: [String: String]] = [:]

    /// - Parameter entities: the entities of one root, each after what it inherits from, otherwise by their numbers.
    init(_ entities: [RowLayouts.Rows]) {
        var taken: Set<String> = []
        for entity in entities {
            var own = entity.entity.superentity?.name.flatMap { columns[$0] } ?? [:]
            for slot in entity.slots where slot.kind != .position && own[slot.name] == nil {
                let base = "Z" + slot.name.replacingOccurrences(of: ".", with: "_").uppercased()
                var name = base
                var number = 0
                while !taken.insert(name).inserted {
                    number += 1
                    name = base + String(number)
                }
                own[slot.name] = name
            }
            columns[entity.name] = own
        }
    }

    static func table(_ root: String) -> String { "Z" + root.uppercased() }

    /// The column of a property.
    func column(_ entity: String, _ property: String) -> String { columns[entity]?[property] ?? "" }

    /// The column with a place in the order of the relationship at the other end.
    static func order(_ column: String) -> String { "Z_FOK_" + column.dropFirst() }

    /// The column that says which entity an object is of that a to-one relationship leads to.
    static func entity(_ column: String, destination number: Int64) -> String { "Z\(number)_" + column.dropFirst() }

    /// The number and the rest of a name such as "Z_12TAGS".
    static func numbered(_ name: String) -> (number: Int64, rest: String)? {
        guard name.hasPrefix("Z_") else { return nil }
        let body = name.dropFirst(2)
        let digits = body.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), digits.count < body.count else { return nil }
        return (number, String(body.dropFirst(digits.count)))
    }
}
