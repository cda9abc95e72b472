import Foundation
import Strata

// Triggers that keep derived attributes right.
extension ExportSchema {
    /// Those of counts, in the form that Core Data gives them: of a root entity's relationship whose inverse is to-one.
    /// The form of others is not known.
    ///
    /// They call functions that only Core Data has.
    var triggers: [String] {
        tables.flatMap { table in
            table.root.slots.enumerated().flatMap { slot, info -> [String] in
                guard let name = relationship(counted: info.attribute),
                    slot < table.columnsBySlot[table.root.name]?.count ?? 0,
                    let column = table.columnsBySlot[table.root.name]?[slot]?.value,
                    let inverse = table.root.entity.relationshipsByName[name]?.inverseRelationship,
                    let back = self.column(of: inverse)
                else { return [] }
                return Self.triggers(
                    Count(
                        entity: table.root.name, table: table.name, attribute: info.name,
                        column: table.columns[column].name, members: back.table, member: back.column))
            }
        }
    }

    /// What is counted of what.
    private struct Count {
        var entity: String
        var table: String
        var attribute: String
        var column: String
        /// The table of the objects that are counted, and the column that leads to whose they are.
        var members: String
        var member: String
    }

    private func relationship(counted attribute: NSAttributeDescription?) -> String? {
        guard let derived = attribute as? NSDerivedAttributeDescription, let expression = derived.derivationExpression,
            expression.expressionType == .keyPath
        else { return nil }
        let parts = expression.keyPath.split(separator: ".")
        return parts.count == 2 && parts[1] == "@count" ? String(parts[0]) : nil
    }

    private func column(of relationship: NSRelationshipDescription) -> (table: String, column: String)? {
        guard !relationship.isToMany, let entity = relationship.entity.name,
            let table = tables.first(where: { $0.columnsBySlot[entity] != nil }),
            let rows = table.family.first(where: { $0.name == entity }),
            let slot = rows.slots.firstIndex(where: { $0.kind == .toOne && $0.name == relationship.name }),
            let origin = table.columnsBySlot[entity]?[slot].flatMap({ $0 })
        else { return nil }
        return (table.name, table.columns[origin.value].name)
    }

    private static func triggers(_ count: Count) -> [String] {
        let quoted = SQLiteFile.quoted
        let (table, column) = (quoted(count.table), quoted(count.column))
        let (members, member) = (quoted(count.members), quoted(count.member))
        func text(_ value: String) -> String { "'\(value.replacingOccurrences(of: "'", with: "''"))'" }
        func told(_ function: String, _ key: String) -> String {
            "SELECT \(function)(\(text(count.table)), Z_ENT, Z_PK, \(text(count.attribute)), \(column)) "
                + "FROM \(table) WHERE Z_PK = \(key);"
        }
        func trigger(_ suffix: String, _ event: String, _ side: String, _ value: String) -> String {
            let name = quoted("Z_DA_\(count.members)_\(count.entity)_\(count.attribute)_PARAMETER_\(suffix)")
            return "CREATE TRIGGER \(name) AFTER \(event) ON \(members) FOR EACH ROW WHEN (\(side).\(member) NOT NULL) "
                + "BEGIN UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = \(side).\(member); "
                + told("NSCoreDataDATriggerUpdatedAffectedObjectValue", "\(side).\(member)") + " END"
        }
        let source = quoted("Z_DA_\(count.table)_\(count.entity)_\(count.attribute)_SOURCE_INSERT")
        return [
            trigger("INSERT", "INSERT", "NEW", "IFNULL(\(column), 0) + 1"),
            trigger("UPDATE_INCREMENT", "UPDATE OF \(member)", "NEW", "\(column) + 1"),
            trigger("UPDATE_DECREMENT", "UPDATE OF \(member)", "OLD", "\(column) - 1"),
            trigger("DELETE", "DELETE", "OLD", "\(column) - 1"),
            "CREATE TRIGGER \(source) AFTER INSERT ON \(table) FOR EACH ROW BEGIN UPDATE \(table) SET \(column) = "
                + "(SELECT IFNULL(COUNT(\(member)), 0) FROM \(members) WHERE \(member) = NEW.Z_PK) WHERE Z_PK = NEW.Z_PK; "
                + told("NSCoreDataDATriggerInsertUpdatedAffectedObjectValue", "NEW.Z_PK") + " END",
        ]
    }
}
