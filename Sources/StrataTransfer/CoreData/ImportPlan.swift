import Foundation
import Strata
import StrataLog

/// How the rows of one table become rows of a store.
struct ImportPlan {
    /// How one column becomes one slot.
    struct Step {
        let slot: Int
        let kind: RowLayouts.Slot.Kind
        /// Of a to-one relationship the key.
        let column: Int
        /// The column of the result that says which entity the object is of that a to-one relationship leads to; null
        /// when there is no such object.
        let entityColumn: Int
        /// The column in which the file says it, too; -1 where it does not.
        let statedColumn: Int
        /// The store's numbers of the entities that the key may be of, by number in the file.
        let targets: [Int64: UInt16]
        /// Whether values may lie in files beside the store.
        let mayBeExternal: Bool
        /// "ZCOLUMN (Entity.property)", for errors.
        let name: String
    }

    /// What a row of one entity becomes.
    struct EntityPlan {
        let number: UInt16
        let root: UInt16
        let steps: [Step]
    }

    /// The name of the table.
    let table: String
    /// The columns behind "Z_PK" and "Z_ENT", as SQL.
    let columns: [String]
    /// By number in the file.
    let entities: [Int64: EntityPlan]
    /// The greatest key that was ever given out.
    let greatestKey: Int64
    /// The store's number of the root entity.
    let root: UInt16
    /// As for ``TableAccounting``.
    let taken: [String: Set<Int64>]

    /// The statement's beginning, up to and with the table, which is called t.
    var selection: String {
        let list = (["t.Z_PK", "t.Z_ENT"] + columns).joined(separator: ", ")
        // An index of a damaged file may be without what the table has.
        return "SELECT \(list) FROM \(SQLiteFile.quoted(table)) t NOT INDEXED"
    }
}

/// Finds for the entities of a model their tables and columns in a file.
struct ImportPlanner {
    let file: CoreDataFile
    let layouts: RowLayouts
    /// By the names of root entities, in capitals as all names of the file.
    let tables: [String: String]
    private let byNumber: [Int64: RowLayouts.Rows]
    private let numbers: [String: Int64]

    /// - Throws: ``TransferError`` when the file has entities that the model has not, or the other way round.
    init(_ file: CoreDataFile, _ layouts: RowLayouts) throws {
        self.file = file
        self.layouts = layouts
        var byNumber: [Int64: RowLayouts.Rows] = [:]
        var numbers: [String: Int64] = [:]
        let names = Set(file.entities.values.map(\.name))
        for entity in file.entities.values {
            // A migration that renames an entity leaves its old name in the file.
            let renamed = layouts.rows.first { $0.entity.renamingIdentifier == entity.name && !names.contains($0.name) }
            guard let rows = layouts.rows(named: entity.name) ?? renamed else {
                throw TransferError(
                    "\(file.url.path): it has an entity \(entity.name) that the model has not: "
                        + "the model is not the one that the file was written with")
            }
            byNumber[entity.number] = rows
            numbers[rows.name] = entity.number
        }
        for rows in layouts.rows where numbers[rows.name] == nil {
            throw TransferError(
                "\(file.url.path): it has no entity \(rows.name), which the model has: "
                    + "the model is not the one that the file was written with")
        }
        self.byNumber = byNumber
        self.numbers = numbers
        let roots = layouts.rows.filter { $0.number == $0.root }.map(\.name)
        tables = NumberedName.tables(roots.sorted { numbers[$0] ?? 0 < numbers[$1] ?? 0 })
        for (number, rows) in byNumber.sorted(by: { $0.key < $1.key }) {
            let parent = rows.entity.superentity?.name
            guard file.entities[number]?.superNumber == (parent.flatMap { numbers[$0] } ?? 0) else {
                throw TransferError(
                    "\(file.url.path): Z_PRIMARYKEY says that \(rows.name) inherits from the entity "
                        + "\(file.entities[number]?.superNumber ?? 0), which is not \(parent ?? "none"), as the model says"
                )
            }
        }
    }

    /// The store's layout of the rows of an entity of the file.
    func rows(_ number: Int64) -> RowLayouts.Rows? { byNumber[number] }

    func number(_ name: String) -> Int64 { numbers[name] ?? 0 }

    /// An entity and what inherits from it, by number.
    func family(_ entity: NSEntityDescription) -> [RowLayouts.Rows] {
        layouts.rows.filter { rows in
            var current: NSEntityDescription? = rows.entity
            while let candidate = current, candidate !== entity { current = candidate.superentity }
            return current != nil
        }.sorted { number($0.name) < number($1.name) }
    }

    static func root(_ entity: NSEntityDescription) -> NSEntityDescription {
        var root = entity
        while let parent = root.superentity { root = parent }
        return root
    }

    // MARK: Tables

    /// One plan for each root entity, by number in the file.
    func plans() throws -> [ImportPlan] {
        try layouts.rows.filter { $0.number == $0.root }.sorted { number($0.name) < number($1.name) }
            .map { try plan($0) }
    }

    /// The table with the rows of an entity.
    ///
    /// - Throws: ``TransferError`` when there is none.
    func table(_ entity: NSEntityDescription) throws -> FileTable {
        let root = Self.root(entity).name ?? ""
        let name = tables[root] ?? ""
        guard let table = file.tables[name] else {
            throw TransferError("\(file.url.path): it has no table \(name) for the entity \(root)")
        }
        // Rows are looked up by their keys, which without an index would take forever.
        guard table.isKeyed(by: "Z_PK") else {
            throw TransferError("\(file.url.path): the column Z_PK of \(table.name) is not its primary key")
        }
        return table
    }

    /// The columns that the properties of a family have in their table.
    ///
    /// - Throws: ``TransferError`` when one is not there.
    private func columns(_ family: [RowLayouts.Rows], _ table: FileTable) throws -> ColumnNames {
        // A parent's number is less than those of its children.
        let names = [ColumnNames.Elements.byName, .byPath].map { elements in
            var names = ColumnNames(family, elements: elements)
            names.fit(table)
            return names
        }
        func missing(_ names: ColumnNames) -> (column: String, property: String)? {
            for rows in family where !rows.entity.isAbstract {
                for slot in rows.slots where slot.hasColumn {
                    let column = names.column(rows.name, slot.name) ?? ""
                    let wanted = slot.kind == .position ? ColumnNames.order(column) : column
                    if table.columns[wanted] == nil { return (wanted, "\(rows.name).\(slot.name)") }
                }
            }
            return nil
        }
        guard let found = missing(names[0]) else { return names[0] }
        if missing(names[1]) == nil { return names[1] }
        throw TransferError(
            "\(file.url.path): the table \(table.name) has no column \(found.column) for \(found.property): "
                + "the model is not the one that the file was written with")
    }

    private func plan(_ root: RowLayouts.Rows) throws -> ImportPlan {
        let table = try table(root.entity)
        let family = family(root.entity)
        let names = try columns(family, table)
        var selection = Selection(table)
        var entities: [Int64: ImportPlan.EntityPlan] = [:]
        let concrete = family.filter { !$0.entity.isAbstract }
        for rows in concrete {
            var steps: [ImportPlan.Step] = []
            for (slot, info) in rows.slots.enumerated() where info.hasColumn {
                let column = names.column(rows.name, info.name) ?? ""
                let wanted = info.kind == .position ? ColumnNames.order(column) : column
                let target = try target(info, column, table)
                let stated = target.flatMap { self.stated(column, destination: $0.number, table) }
                let number = number(rows.name)
                steps.append(
                    ImportPlan.Step(
                        slot: slot, kind: info.kind, column: selection.column(wanted, of: number),
                        entityColumn: target.map { selection.expression($0.expression) } ?? -1,
                        statedColumn: stated.map { selection.column($0, of: number) } ?? -1,
                        targets: target?.numbers ?? [:],
                        mayBeExternal: try isExternal(info, table, wanted),
                        name: "\(table.columns[wanted]?.name ?? "") (\(rows.name).\(info.name))"))
            }
            entities[number(rows.name)] = ImportPlan.EntityPlan(number: rows.number, root: rows.root, steps: steps)
        }
        let all = Set(concrete.map { number($0.name) })
        var taken = selection.taken.mapValues { $0 == all ? [] : $0 }
        for name in ["Z_PK", "Z_ENT", "Z_OPT"] { taken[name] = [] }
        return ImportPlan(
            table: table.name, columns: selection.columns, entities: entities,
            greatestKey: file.entities[number(root.name)]?.greatestKey ?? 0, root: root.number, taken: taken)
    }

    /// Gathers what is to be selected from a table.
    private struct Selection {
        private let table: FileTable
        private(set) var columns: [String] = []
        /// The entities whose rows have a column, by the column's name in capitals.
        private(set) var taken: [String: Set<Int64>] = [:]
        private var places: [String: Int] = [:]

        init(_ table: FileTable) { self.table = table }

        /// The place of a column in the result.
        mutating func column(_ name: String, of entity: Int64) -> Int {
            taken[name, default: []].insert(entity)
            return expression("t." + SQLiteFile.quoted(table.columns[name]?.name ?? name))
        }

        mutating func expression(_ sql: String) -> Int {
            if let known = places[sql] { return known }
            columns.append(sql)
            places[sql] = columns.count + 1
            return columns.count + 1
        }
    }

    /// Which entities a to-one relationship leads to, and what says so: the object itself.
    private func target(
        _ info: RowLayouts.Slot, _ column: String, _ table: FileTable
    ) throws -> (expression: String, numbers: [Int64: UInt16], number: Int64)? {
        guard info.kind == .toOne, let destination = info.relationship?.destinationEntity else { return nil }
        let numbers = family(destination).filter { !$0.entity.isAbstract }.map { (number($0.name), $0.number) }
        let target = SQLiteFile.quoted(try self.table(destination).name)
        let key = SQLiteFile.quoted(table.columns[column]?.name ?? column)
        return (
            "(SELECT d.Z_ENT FROM \(target) d WHERE d.Z_PK = t.\(key))",
            Dictionary(numbers, uniquingKeysWith: { one, _ in one }), number(destination.name ?? "")
        )
    }

    /// The column in which the file says the entity of what a to-one relationship leads to; entities may have had other
    /// numbers when it was made.
    private func stated(_ column: String, destination number: Int64, _ table: FileTable) -> String? {
        let expected = ColumnNames.entity(column, destination: number)
        if table.columns[expected] != nil { return expected }
        return table.columns.keys.sorted().first { name in
            name.hasPrefix("Z") && name.hasSuffix("_" + column.dropFirst())
                && Int64(name.dropFirst().dropLast(column.count)) != nil
        }
    }

    /// Whether an attribute's values begin with the byte that says where the rest is.
    ///
    /// The archive in a store does not say so in a way that is known. Where the model does not, the values do: all
    /// begin with one of two bytes, and one of them at least names a file that is there.
    private func isExternal(_ info: RowLayouts.Slot, _ table: FileTable, _ column: String) throws -> Bool {
        guard info.kind == .data || info.kind == .transformable, let attribute = info.attribute else { return false }
        if attribute.allowsExternalBinaryDataStorage { return true }
        guard file.externalValues != nil else { return false }
        let name = SQLiteFile.quoted(table.columns[column]?.name ?? column)
        let statement = try file.database.prepare(
            "SELECT count(*), count(CASE WHEN substr(\(name), 1, 1) IN (x'01', x'02') THEN 1 END), "
                + "count(CASE WHEN substr(\(name), 1, 1) = x'02' AND length(\(name)) = 38 THEN 1 END) FROM "
                + "\(SQLiteFile.quoted(table.name)) WHERE \(name) IS NOT NULL")
        guard try statement.step(), let count = statement.integer(0), let marked = statement.integer(1),
            let named = statement.integer(2)
        else { return false }
        return count > 0 && count == marked && named > 0
    }
}
