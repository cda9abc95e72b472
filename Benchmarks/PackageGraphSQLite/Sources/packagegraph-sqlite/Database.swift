import CSQLite

/// A connection, as much of it as inserting needs.
final class Database {
    /// What SQLite said.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let handle: OpaquePointer

    init(path: String) throws {
        var opened: OpaquePointer?
        let code = sqlite3_open(path, &opened)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close(opened)
            throw Failure(description: "\(path): \(String(cString: sqlite3_errstr(code)))")
        }
        handle = opened
    }

    /// Closes, which folds the write-ahead log into the database file.
    func close() { sqlite3_close(handle) }

    /// Runs statements that return nothing of interest.
    func run(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
    }

    /// The first column of the first row.
    func integer(_ sql: String) throws -> Int {
        let statement = try Statement(self, sql)
        guard sqlite3_step(statement.handle) == SQLITE_ROW else { throw failure(sql) }
        return Int(sqlite3_column_int64(statement.handle, 0))
    }

    func failure(_ context: String) -> Failure {
        Failure(description: "\(context): \(String(cString: sqlite3_errmsg(handle)))")
    }
}
