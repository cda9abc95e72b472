import Foundation

/// A table of a file, as the file itself describes it.
struct FileTable {
    struct Column {
        /// As the file spells it.
        let name: String
        /// The declared type, in capitals.
        let type: String
        /// The place in the primary key, from 1 on; 0 outside of it.
        let keyPlace: Int64
    }

    /// As the file spells it.
    let name: String
    /// By the name in capitals.
    private(set) var columns: [String: Column] = [:]

    /// Whether a column alone is the primary key, so that SQLite finds rows by it at once.
    func isKeyed(by column: String) -> Bool {
        columns[column]?.keyPlace == 1 && columns[column]?.type == "INTEGER"
            && !columns.values.contains { $0.keyPlace > 1 }
    }

    /// The tables of a database by their names, in capitals.
    ///
    /// A view or a virtual table could do anything when it is read: only tables count.
    ///
    /// - Throws: ``TransferError`` when two tables, or two columns of one, differ in small letters only.
    static func all(in database: SQLiteFile, _ path: String) throws -> [String: FileTable] {
        var tables: [String: FileTable] = [:]
        let statement = try database.prepare(
            "SELECT m.name, c.name, c.type, c.pk FROM sqlite_master m, pragma_table_info(m.name) c "
                + "WHERE m.type = 'table' AND m.sql LIKE 'CREATE TABLE%'")
        while try statement.step() {
            guard let name = statement.string(0), let column = statement.string(1) else {
                throw TransferError("\(path): the name of a table or a column is no text")
            }
            var table = tables[name.uppercased()] ?? FileTable(name: name)
            let found = Column(
                name: column, type: statement.string(2)?.uppercased() ?? "", keyPlace: statement.integer(3) ?? 0)
            guard table.name == name, table.columns.updateValue(found, forKey: column.uppercased()) == nil else {
                throw TransferError("\(path): two tables or columns are called \(name) and \(column)")
            }
            tables[name.uppercased()] = table
        }
        return tables
    }

    /// The names of virtual tables, in capitals: tables whose names begin with one and a "_" hold its index.
    static func virtual(in database: SQLiteFile) throws -> [String] {
        var names: [String] = []
        let statement = try database.prepare(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'")
        while try statement.step() { if let name = statement.string(0) { names.append(name.uppercased()) } }
        return names
    }
}
