import GRDB

extension DatabasePool {
    /// A pool as GRDB's users open it, with synchronous=FULL and its other settings untouched.
    package static func durable(_ path: String) throws -> DatabasePool {
        let pool = try DatabasePool(path: path)
        // Set after opening: the pool itself sets NORMAL when it turns the write-ahead log on.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return pool
    }
}
