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

    /// How many rows a statement has; of a count, the count itself. Every value is read.
    func run(_ shape: Shape) throws -> Int {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, shape.sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            throw failure(shape.sql)
        }
        defer { sqlite3_finalize(statement) }
        var count = 0
        let columns = sqlite3_column_count(statement)
        while sqlite3_step(statement) == SQLITE_ROW {
            if case .count = shape.result { return Int(sqlite3_column_int64(statement, 0)) }
            for column in 0..<columns where sqlite3_column_type(statement, column) == SQLITE_TEXT {
                if let text = sqlite3_column_text(statement, column) { _ = String(cString: text) }
            }
            count += 1
        }
        return count
    }
}
