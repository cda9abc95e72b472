import BenchSupport
import CSQLite

/// A connection of one thread, with its statements.
package final class SQLiteConnection {
    private static let patienceMilliseconds: Int32 = 60_000

    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    package init(_ path: String) throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK, let handle else {
            throw BenchFailure("SQLite cannot open \(path)")
        }
        self.handle = handle
        sqlite3_busy_timeout(handle, Self.patienceMilliseconds)
        try execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA mmap_size=1073741824")
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close(handle)
    }

    package func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
    }

    /// A prepared statement, made once.
    package func statement(_ sql: String) throws -> OpaquePointer {
        if let known = statements[sql] { return known }
        var statement: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard sqlite3_prepare_v3(handle, sql, -1, flags, &statement, nil) == SQLITE_OK, let statement else {
            throw failure(sql)
        }
        statements[sql] = statement
        return statement
    }

    /// Runs a statement that returns no rows and makes it ready for the next time.
    package func run(_ sql: String, _ bind: (OpaquePointer) -> Void = { _ in }) throws {
        let statement = try statement(sql)
        bind(statement)
        defer { sqlite3_reset(statement) }
        guard sqlite3_step(statement) == SQLITE_DONE else { throw failure(sql) }
    }

    /// Visits the rows of a query.
    package func query(_ sql: String, _ bind: (OpaquePointer) -> Void = { _ in }, row: (OpaquePointer) -> Void) throws {
        let statement = try statement(sql)
        bind(statement)
        defer { sqlite3_reset(statement) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: row(statement)
            case SQLITE_DONE: return
            default: throw failure(sql)
            }
        }
    }

    /// How many rows the last statement that writes has changed.
    package var changes: Int { Int(sqlite3_changes(handle)) }

    package func integer(_ sql: String) throws -> Int64 {
        var value: Int64 = 0
        try query(sql) { value = sqlite3_column_int64($0, 0) }
        return value
    }

    // MARK: Text

    /// Has SQLite copy what is bound.
    package func bind(_ text: String, _ index: Int32, _ statement: OpaquePointer) {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), transient)
    }

    /// The column's bytes; valid until the statement moves on.
    package func text(_ row: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_text(row, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(row, column)))
    }

    package func failure(_ what: String) -> BenchFailure {
        BenchFailure("SQLite: \(String(cString: sqlite3_errmsg(handle))) (\(what))")
    }
}
