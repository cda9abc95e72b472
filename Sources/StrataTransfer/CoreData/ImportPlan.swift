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
        /// The column that says which entity the key is of; -1 where there is only one.
        let entityColumn: Int
        /// The store's numbers of the entities that the key may be of, by number in the file.
        let targets: [Int64: UInt16]
        /// The number of the only entity.
        let target: UInt16
        /// Whether values may lie in files beside the store.
        let mayBeExternal: Bool
        /// "Entity.property", for errors.
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

    /// The statement's beginning, up to and with the table, which is called t.
    var selection: String {
        let list = (["t.Z_PK", "t.Z_ENT"] + columns).joined(separator: ", ")
        return "SELECT \(list) FROM \(SQLiteFile.quoted(table)) t"
    }
}

/// Finds for the entities of a model their tables and columns in a file.
struct ImportPlanner {
    let file: CoreDataFile
    let layouts: RowLayouts
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

    private func plan(_ root: RowLayouts.Rows) throws -> ImportPlan {
        let table = ColumnNames.table(root.name)
        guard let present = file.tables[table] else {
            throw TransferError("\(file.url.path): it has no table \(table) for the entity \(root.name)")
        }
        let family = family(root.entity)
        // A parent's number is less than those of its children.
        let names = ColumnNames(family)
        var columns: [String] = []
        func index(_ expression: String) -> Int {
            if let known = columns.firstIndex(of: expression) { return known + 2 }
            columns.append(expression)
            return columns.count + 1
        }
        var entities: [Int64: ImportPlan.EntityPlan] = [:]
        for rows in family where !rows.entity.isAbstract {
            var steps: [ImportPlan.Step] = []
            for (slot, info) in rows.slots.enumerated() {
                let column = names.column(rows.name, info.name)
                let wanted = info.kind == .position ? ColumnNames.order(column) : column
                guard present.contains(wanted) else {
                    throw TransferError(
                        "\(file.url.path): the table \(table) has no column \(wanted) for \(rows.name).\(info.name): "
                            + "the model is not the one that the file was written with")
                }
                let target = try target(info, column, present)
                steps.append(
                    ImportPlan.Step(
                        slot: slot, kind: info.kind, column: index("t." + SQLiteFile.quoted(wanted)),
                        entityColumn: target.expression.map { index($0) } ?? -1, targets: target.numbers,
                        target: target.only, mayBeExternal: try isExternal(info, table, column),
                        name: "\(rows.name).\(info.name)"))
            }
            entities[number(rows.name)] = ImportPlan.EntityPlan(number: rows.number, root: rows.root, steps: steps)
        }
        return ImportPlan(
            table: table, columns: columns, entities: entities,
            greatestKey: file.entities[number(root.name)]?.greatestKey ?? 0, root: root.number)
    }

    /// Which entities a to-one relationship leads to, and what says so.
    private func target(
        _ info: RowLayouts.Slot, _ column: String, _ present: Set<String>
    ) throws -> (expression: String?, numbers: [Int64: UInt16], only: UInt16) {
        guard info.kind == .toOne, let destination = info.relationship?.destinationEntity else { return (nil, [:], 0) }
        let family = family(destination).filter { !$0.entity.isAbstract }
        guard let first = family.first else {
            throw TransferError("\(info.name): the destination has no entity that is not abstract")
        }
        let pairs = family.map { (number($0.name), $0.number) }
        let numbers = Dictionary(pairs, uniquingKeysWith: { one, _ in one })
        if family.count == 1 { return (nil, numbers, first.number) }
        let known = present.first { name in
            name.hasSuffix("_" + column.dropFirst()) && name.hasPrefix("Z")
                && Int64(name.dropFirst().dropLast(column.count)) != nil
        }
        if let known { return ("t." + SQLiteFile.quoted(known), numbers, 0) }
        let table = ColumnNames.table(Self.root(destination).name ?? "")
        let key = SQLiteFile.quoted(column)
        return ("(SELECT d.Z_ENT FROM \(SQLiteFile.quoted(table)) d WHERE d.Z_PK = t.\(key))", numbers, 0)
    }

    /// Whether an attribute's values begin with the byte that says where the rest is.
    ///
    /// The archive in a store does not say so in a way that is known. Where the model does not, the values do: all
    /// begin with one of two bytes, and the directory for the values that lie outside is there.
    private func isExternal(_ info: RowLayouts.Slot, _ table: String, _ column: String) throws -> Bool {
        guard info.kind == .data || info.kind == .transformable, let attribute = info.attribute else { return false }
        if attribute.allowsExternalBinaryDataStorage { return true }
        guard FileManager.default.fileExists(atPath: file.externalDirectory.path) else { return false }
        let name = SQLiteFile.quoted(column)
        let statement = try file.database.prepare(
            "SELECT count(*), count(CASE WHEN substr(\(name), 1, 1) IN (x'01', x'02') THEN 1 END) FROM "
                + "\(SQLiteFile.quoted(table)) WHERE \(name) IS NOT NULL")
        guard try statement.step() else { return false }
        return statement.integer(0) > 0 && statement.integer(0) == statement.integer(1)
    }
}
