import Foundation
import Strata

/// The tables of a file, as Core Data names them.
struct ExportSchema {
    /// One column of a table.
    struct Column {
        let name: String
        let type: String
    }

    /// The table of one root entity.
    struct Table {
        let name: String
        let root: RowLayouts.Rows
        let family: [RowLayouts.Rows]
        /// Behind "Z_PK", "Z_ENT" and "Z_OPT".
        var columns: [Column] = []
        /// By entity, for each slot the column; and the column for the entity of a to-one relationship's target.
        var columnsBySlot: [String: [(value: Int, entity: Int?)]] = [:]
    }

    /// The table of links.
    struct JoinTable {
        let name: String
        let links: RowLayouts.Links
        let owner: String
        let member: String
        let memberOrder: String?
        let ownerOrder: String?
    }

    let numbers: EntityNumbers
    private(set) var tables: [Table] = []
    private(set) var joins: [JoinTable] = []
    private let layouts: RowLayouts

    init(_ layouts: RowLayouts, _ numbers: EntityNumbers) {
        self.layouts = layouts
        self.numbers = numbers
        for root in numbers.ordered where root.number == root.root { tables.append(table(root)) }
        for links in layouts.links { joins.append(join(links)) }
    }

    private func table(_ root: RowLayouts.Rows) -> Table {
        let family = numbers.family(root.entity)
        let names = ColumnNames(family)
        var table = Table(name: ColumnNames.table(root.name), root: root, family: family)
        var indexes: [String: Int] = [:]
        func index(_ name: String, _ type: String) -> Int {
            if let known = indexes[name] { return known }
            table.columns.append(Column(name: name, type: type))
            indexes[name] = table.columns.count - 1
            return table.columns.count - 1
        }
        for rows in family {
            table.columnsBySlot[rows.name] = rows.slots.map { slot in
                let column = names.column(rows.name, slot.name)
                if slot.kind == .position { return (index(ColumnNames.order(column), "INTEGER"), nil) }
                let value = index(column, Self.type(slot.kind))
                guard slot.kind == .toOne, let destination = slot.relationship?.destinationEntity,
                    numbers.family(destination).count > 1
                else { return (value, nil) }
                let number = numbers.number(destination.name)
                return (value, index(ColumnNames.entity(column, destination: number), "INTEGER"))
            }
        }
        return table
    }

    private static func type(_ kind: RowLayouts.Slot.Kind) -> String {
        switch kind {
        case .bool, .int16, .int32, .int64, .toOne, .position: "INTEGER"
        case .float, .double: "FLOAT"
        case .date: "TIMESTAMP"
        case .decimal: "DECIMAL"
        case .string, .uri: "VARCHAR"
        case .uuid, .data, .transformable: "BLOB"
        }
    }

    private func join(_ links: RowLayouts.Links) -> JoinTable {
        let owner = numbers.number(links.ownerName)
        let member = numbers.number(links.relationship.destinationEntity?.name)
        let name = links.relationship.name.uppercased()
        let back = links.inverse?.name.uppercased() ?? name
        let isReflexive = links.inverse === links.relationship
        // Called by the entity with the lesser number.
        let isForward = owner <= member
        return JoinTable(
            name: isForward ? "Z_\(owner)\(name)" : "Z_\(member)\(back)", links: links,
            owner: isReflexive ? "REFLEXIVE" : "Z_\(owner)\(back)", member: "Z_\(member)\(name)",
            memberOrder: links.relationship.isOrdered ? "Z_FOK_\(member)\(name)" : nil,
            ownerOrder: links.inverse?.isOrdered == true && !isReflexive ? "Z_FOK_\(owner)\(back)" : nil)
    }

    // MARK: SQL

    /// What makes the tables.
    var statements: [String] {
        let quoted = SQLiteFile.quoted
        var statements = tables.map { table in
            let columns = table.columns.map { ", \(quoted($0.name)) \($0.type)" }.joined()
            return "CREATE TABLE \(quoted(table.name)) ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, "
                + "Z_OPT INTEGER\(columns) )"
        }
        statements += joins.map { join in
            let orders = [join.memberOrder, join.ownerOrder].compactMap { $0 }.map { ", \(quoted($0)) INTEGER" }
                .joined()
            return "CREATE TABLE \(quoted(join.name)) ( \(quoted(join.owner)) INTEGER, \(quoted(join.member)) INTEGER"
                + "\(orders), PRIMARY KEY (\(quoted(join.owner)), \(quoted(join.member))) )"
        }
        return statements + [
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
            "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
            "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
        ]
    }

    /// What is made when the rows are there: Core Data's own indexes.
    var indexes: [String] {
        let quoted = SQLiteFile.quoted
        var statements: [String] = []
        for table in tables {
            let toOnes = table.family.flatMap { rows in
                zip(rows.slots, table.columnsBySlot[rows.name] ?? []).filter { $0.0.kind == .toOne }.map { $0.1.value }
            }
            for column in Set(toOnes).sorted() {
                let name = table.columns[column].name
                statements.append(
                    "CREATE INDEX \(quoted("\(table.name)_\(name)_INDEX")) ON \(quoted(table.name)) (\(quoted(name)))")
            }
            if table.family.count > 1 {
                statements.append(
                    "CREATE INDEX \(quoted("\(table.name)_Z_ENT_INDEX")) ON \(quoted(table.name)) (Z_ENT)")
            }
            for rows in table.family { statements += constraints(rows, table) }
        }
        for join in joins {
            let name = "\(join.name)_\(join.member)_INDEX"
            statements.append(
                "CREATE INDEX \(quoted(name)) ON \(quoted(join.name)) (\(quoted(join.member)), \(quoted(join.owner)))")
        }
        return statements
    }

    private func constraints(_ rows: RowLayouts.Rows, _ table: Table) -> [String] {
        let quoted = SQLiteFile.quoted
        return rows.entity.uniquenessConstraints.compactMap { constraint in
            let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
            let columns = names.compactMap { name -> String? in
                guard let slot = rows.slots.firstIndex(where: { $0.name == name && $0.kind != .position }),
                    let origin = table.columnsBySlot[rows.name]?[slot]
                else { return nil }
                return table.columns[origin.value].name
            }
            guard !columns.isEmpty, columns.count == names.count else { return nil }
            let list = columns.map { "\(quoted($0)) COLLATE BINARY ASC" }.joined(separator: ", ")
            let name = "Z_\(rows.name)_UNIQUE_\(names.joined(separator: "_"))"
            return "CREATE UNIQUE INDEX \(quoted(name)) ON \(quoted(table.name)) (\(list))"
        }
    }
}
