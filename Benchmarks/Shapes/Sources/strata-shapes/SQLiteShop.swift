import CSQLite
import Foundation

struct SQLiteFailure: Error {
    let message: String
}

/// The shop in SQLite, indexed alike.
final class SQLiteShop {
    private let handle: OpaquePointer

    init(_ rows: ShopRows, in folder: URL) throws {
        var handle: OpaquePointer?
        guard sqlite3_open(folder.appendingPathComponent("peer.db").path, &handle) == SQLITE_OK, let handle else {
            throw SQLiteFailure(message: "SQLite cannot open its file")
        }
        self.handle = handle
        try execute("PRAGMA journal_mode = WAL")
        try execute("PRAGMA cache_size = -262144")
        try execute(
            """
            CREATE TABLE orders (id INTEGER PRIMARY KEY, ent INTEGER, number INTEGER, status TEXT, quantity INTEGER,
                weight INTEGER, amount REAL, price REAL, placed REAL, isPaid INTEGER, note TEXT, fee INTEGER,
                customer INTEGER);
            CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT, age INTEGER, balance REAL);
            CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE order_tags (ord INTEGER, tag INTEGER, PRIMARY KEY (ord, tag)) WITHOUT ROWID;
            BEGIN;
            """)
        for (index, row) in rows.customers.enumerated() {
            try execute(
                "INSERT INTO customers VALUES (\(index), '\(row.name)', '\(row.city)', \(row.age), \(row.balance))")
        }
        for index in 0..<ShopRows.tagCount { try execute("INSERT INTO tags VALUES (\(index), 'tag \(index)')") }
        for (index, row) in rows.orders.enumerated() {
            try execute(
                """
                INSERT INTO orders VALUES (\(index), \(row.fee == nil ? 1 : 2), \(row.number), '\(row.status)',
                \(row.quantity), \(row.weight), \(row.amount), \(Double(row.cents) / 100), \(row.placed),
                \(row.isPaid ? 1 : 0), \(row.note.map { "'\($0)'" } ?? "NULL"),
                \(row.fee.map { "\($0)" } ?? "NULL"), \(row.customer.map { "\($0)" } ?? "NULL"))
                """)
            for tag in Set(row.tags) { try execute("INSERT INTO order_tags VALUES (\(index), \(tag))") }
        }
        try execute(
            """
            COMMIT;
            CREATE INDEX byNumber ON orders (number);
            CREATE INDEX byCustomer ON orders (customer);
            CREATE INDEX byTag ON order_tags (tag);
            ANALYZE;
            """)
    }

    private func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
    }

    private func failure(_ sql: String) -> SQLiteFailure {
        SQLiteFailure(message: "\(String(cString: sqlite3_errmsg(handle))): \(sql)")
    }

    /// How many results a statement has; of a count, the count itself. What a program would be given is made: keys of
    /// objects, or a dictionary of each row.
    func run(_ shape: Shape) throws -> Int {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, shape.sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            throw failure(shape.sql)
        }
        defer { sqlite3_finalize(statement) }
        switch shape.result {
        case .count: return sqlite3_step(statement) == SQLITE_ROW ? Int(sqlite3_column_int64(statement, 0)) : 0
        case .ids:
            var keys: [Int64] = []
            while sqlite3_step(statement) == SQLITE_ROW { keys.append(sqlite3_column_int64(statement, 0)) }
            return keys.count
        case .rows, .distinct, .groups, .total:
            let names = (0..<sqlite3_column_count(statement)).map {
                String(cString: sqlite3_column_name(statement, $0))
            }
            var rows: [[String: Any]] = []
            while sqlite3_step(statement) == SQLITE_ROW {
                var row = [String: Any](minimumCapacity: names.count)
                for (column, name) in names.enumerated() { row[name] = value(statement, Int32(column)) }
                rows.append(row)
            }
            return rows.count
        }
    }

    private func value(_ statement: OpaquePointer, _ column: Int32) -> Any? {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: sqlite3_column_int64(statement, column)
        case SQLITE_FLOAT: sqlite3_column_double(statement, column)
        case SQLITE_TEXT: sqlite3_column_text(statement, column).map { String(cString: $0) }
        default: nil
        }
    }
}
