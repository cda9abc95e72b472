import BenchSupport
import CSQLite

/// A connection and its statements: just what the measuring needs of SQLite's C API.
final class SQLiteDatabase {
    let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    init(path: String) throws {
        var handle: OpaquePointer?
        guard sqlite3_open(path, &handle) == SQLITE_OK, let handle else {
            throw BenchFailure("SQLite cannot open \(path)")
        }
        self.handle = handle
    }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
    }

    /// A prepared statement, made once and kept until the connection closes.
    func statement(_ sql: String) throws -> OpaquePointer {
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
    @inline(__always)
    func run(_ statement: OpaquePointer) throws {
        guard sqlite3_step(statement) == SQLITE_DONE else { throw failure("step") }
        sqlite3_reset(statement)
    }

    /// The integer in the first column of the first row.
    func integer(_ sql: String) throws -> Int64 {
        let statement = try statement(sql)
        defer { sqlite3_reset(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { throw failure(sql) }
        return sqlite3_column_int64(statement, 0)
    }

    func failure(_ what: String) -> BenchFailure {
        BenchFailure("SQLite: \(String(cString: sqlite3_errmsg(handle))) (\(what))")
    }

    func close() {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        sqlite3_close(handle)
    }
}
