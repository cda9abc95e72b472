import Foundation

/// Sees to it that nothing in a file is passed over in silence.
struct TableAccounting {
    let file: CoreDataFile
    let account: ImportAccount

    /// What Core Data keeps for itself, and is read in other ways than the tables of objects are.
    private static let known: Set<String> = [
        "Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING",
    ]

    /// - Parameter taken: the tables that are read.
    /// - Throws: ``TransferError`` when another one has rows.
    func check(taken: Set<String>) throws {
        let virtual = try FileTable.virtual(in: file.database).map { $0 + "_" }
        for (name, table) in file.tables.sorted(by: { $0.key < $1.key })
        where !taken.contains(name) && !Self.known.contains(name) && !name.hasPrefix("SQLITE_") {
            // What an index over places consists of.
            if virtual.contains(where: { name.hasPrefix($0) }) { continue }
            let count = try count("SELECT count(*) FROM \(SQLiteFile.quoted(table.name))")
            if count > 0 { try account.omit("the table \(table.name): rows of no entity of the model", count: count) }
        }
        for name in ["Z_METADATA", "Z_MODELCACHE"] where file.tables[name] != nil {
            let count = try count("SELECT count(*) FROM \(name)")
            if count > 1 { try account.omit("the table \(name): further rows", count: count - 1) }
        }
    }

    /// - Parameters:
    ///   - table: a table that is read.
    ///   - taken: for each column that is read, in capitals, the numbers of the entities whose rows have it; none for
    ///     all.
    /// - Throws: ``TransferError`` when there are values that no property has.
    func check(_ table: FileTable, taken: [String: Set<Int64>]) throws {
        var rest: [(column: FileTable.Column, condition: String)] = []
        for (name, column) in table.columns.sorted(by: { $0.key < $1.key }) {
            let quoted = SQLiteFile.quoted(column.name)
            guard let entities = taken[name] else {
                rest.append((column, "\(quoted) IS NOT NULL"))
                continue
            }
            if entities.isEmpty { continue }
            let list = entities.sorted().map(String.init).joined(separator: ", ")
            rest.append((column, "\(quoted) IS NOT NULL AND Z_ENT NOT IN (\(list))"))
        }
        let from = "FROM \(SQLiteFile.quoted(table.name))"
        // SQLite has no more than 2,000 columns in a result.
        for start in stride(from: 0, to: rest.count, by: 500) {
            let part = rest[start..<min(start + 500, rest.count)]
            let statement = try file.database.prepare(
                "SELECT \(part.map { "count(CASE WHEN \($0.condition) THEN 1 END)" }.joined(separator: ", ")) \(from)")
            guard try statement.step() else { return }
            for (index, (column, condition)) in part.enumerated() {
                guard let count = statement.integer(index), count > 0 else { continue }
                let keyed = table.columns["Z_PK"] != nil
                let first = keyed ? try file.database.prepare("SELECT Z_PK \(from) WHERE \(condition) LIMIT 1") : nil
                let row = try first?.step() == true ? first?.integer(0) : nil
                try account.omit(
                    "\(table.name).\(column.name): values of no property of the model", count: Int(count),
                    example: row.map { "row \($0)" } ?? "")
            }
        }
    }

    private func count(_ query: String) throws -> Int {
        let statement = try file.database.prepare(query)
        return try statement.step() ? Int(statement.integer(0) ?? 0) : 0
    }
}
