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
        /// By entity, for each slot the column; and the column for the entity of a to-one relationship's target. Nil
        /// for a transient relationship.
        var columnsBySlot: [String: [(value: Int, entity: Int?)?]] = [:]
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
        let roots = numbers.ordered.filter { $0.number == $0.root }
        let names = NumberedName.tables(roots.map(\.name))
        for root in roots { tables.append(table(root, named: names[root.name] ?? "")) }
        // No two columns of join tables have one name, in whatever tables they are.
        var taken: Set<String> = []
        var takenTables = Set(names.values)
        let kept = layouts.links.filter { !$0.relationship.isTransient }
        for links in kept.sorted(by: { numbers.number($0.ownerName) < numbers.number($1.ownerName) }) {
            joins.append(join(links, &taken, &takenTables))
        }
    }

    private func table(_ root: RowLayouts.Rows, named name: String) -> Table {
        let family = numbers.family(root.entity)
        let names = ColumnNames(family)
        var table = Table(name: name, root: root, family: family)
        var indexes: [String: Int] = [:]
        func index(_ name: String, _ type: String) -> Int {
            if let known = indexes[name] { return known }
            table.columns.append(Column(name: name, type: type))
            indexes[name] = table.columns.count - 1
            return table.columns.count - 1
        }
        for rows in family {
            table.columnsBySlot[rows.name] = rows.slots.map { slot in
                guard let column = names.column(rows.name, slot.name) else { return nil }
                if slot.kind == .position { return (index(ColumnNames.order(column), "INTEGER"), nil) }
                let value = index(column, slot.kind.columnType)
                guard slot.kind == .toOne, let destination = slot.relationship?.destinationEntity,
                    numbers.family(destination).count > 1
                else { return (value, nil) }
                let number = numbers.number(destination.name)
                return (value, index(ColumnNames.entity(column, destination: number), "INTEGER"))
            }
        }
        return table
    }

    private func join(
        _ links: RowLayouts.Links, _ taken: inout Set<String>, _ takenTables: inout Set<String>
    ) -> JoinTable {
        let owner = numbers.number(links.ownerName)
        let member = numbers.number(links.relationship.destinationEntity?.name)
        let name = links.relationship.name.uppercased()
        let back = links.inverse?.name.uppercased() ?? name
        let isReflexive = links.inverse === links.relationship
        // Called by the entity with the lesser number.
        let isForward = owner <= member
        let ownerColumn = isReflexive ? "REFLEXIVE" : NumberedName.first("Z_\(owner)\(back)", &taken)
        let memberColumn = NumberedName.first("Z_\(member)\(name)", &taken)
        func order(_ column: String) -> String { "Z_FOK_" + column.dropFirst(2) }
        let table = isForward ? "Z_\(owner)\(name)" : "Z_\(member)\(back)"
        return JoinTable(
            name: NumberedName.first(table, &takenTables), links: links, owner: ownerColumn, member: memberColumn,
            memberOrder: links.relationship.isOrdered ? order(memberColumn) : nil,
            ownerOrder: links.inverse?.isOrdered == true && !isReflexive ? order(ownerColumn) : nil)
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
                zip(rows.slots, table.columnsBySlot[rows.name] ?? []).filter { $0.0.kind == .toOne }
                    .compactMap { $0.1?.value }
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
                    let origin = table.columnsBySlot[rows.name]?[slot].flatMap({ $0 })
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
