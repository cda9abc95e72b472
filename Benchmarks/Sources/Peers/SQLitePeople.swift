public import BenchSupport
import CSQLite
public import DataSet

/// The people in SQLite, through its C API with prepared statements, write-ahead log and synchronous=FULL.
public final class SQLitePeople: StormStore {
    public enum Settings: Equatable, Sendable {
        /// 4 GiB of mmap, 64 MiB of page cache, temporary tables in memory.
        case tuned
        /// As SQLite ships.
        case defaults
        /// A page cache of so many bytes, no mmap, temporary tables in files.
        case cached(byteCount: Int)
    }

    let database: SQLiteDatabase

    /// Opens the database below `folder`, creating it with its tables when it is not there.
    ///
    /// - Parameters:
    ///   - indexed: create (department) and (age, name) indexes with the tables.
    ///   - flushing: what synchronous is set to: FULL, NORMAL or OFF.
    public init(in folder: Folder, settings: Settings, indexed: Bool = false, flushing: Flushing = .full) throws {
        let path = folder.appending("db.sqlite").path
        let isNew = folder.isEmpty
        database = try SQLiteDatabase(path: path)
        try database.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=\(flushing.synchronous)")
        if settings == .tuned {
            try database.execute(
                "PRAGMA mmap_size=4294967296; PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY")
        }
        if case .cached(let byteCount) = settings { try database.execute("PRAGMA cache_size=-\(byteCount / 1_024)") }
        try addFunctions()
        if isNew { try createTables(indexed: indexed) }
    }

    private func createTables(indexed: Bool) throws {
        try database.execute(
            """
            CREATE TABLE department(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, age INTEGER NOT NULL,
                score REAL NOT NULL, created REAL NOT NULL, active INTEGER NOT NULL, bio TEXT NOT NULL,
                department_id INTEGER NOT NULL REFERENCES department(id));
            """)
        if indexed {
            try database.execute(
                """
                CREATE INDEX person_department ON person(department_id);
                CREATE INDEX person_age_name ON person(age, name);
                """)
        }
        try database.execute("BEGIN")
        for number in 1...PersonRow.departmentCount {
            try database.execute("INSERT INTO department VALUES(\(number), '\(departmentName(number))')")
        }
        try database.execute("COMMIT")
    }

    public func insert(_ rows: ArraySlice<PersonRow>, packed: PackedPeople) throws {
        let statement = try database.statement("INSERT INTO person VALUES(?,?,?,?,?,?,?,?,?)")
        // One row is a transaction by itself: BEGIN and COMMIT would only cost.
        let explicit = rows.count > 1
        if explicit { try database.execute("BEGIN") }
        for row in rows {
            let bytes = packed.row(row.id)
            sqlite3_bind_int64(statement, 1, Int64(row.id))
            bind(bytes.name, to: 2, of: statement)
            bind(bytes.email, to: 3, of: statement)
            sqlite3_bind_int(statement, 4, Int32(bytes.age))
            sqlite3_bind_double(statement, 5, bytes.score)
            sqlite3_bind_double(statement, 6, bytes.created)
            sqlite3_bind_int(statement, 7, bytes.active ? 1 : 0)
            bind(bytes.bio, to: 8, of: statement)
            sqlite3_bind_int(statement, 9, Int32(bytes.department))
            try database.run(statement)
        }
        if explicit { try database.execute("COMMIT") }
    }

    /// Binds bytes that outlive the step without copying them (SQLITE_STATIC).
    @inline(__always)
    private func bind(_ text: UnsafeRawBufferPointer, to index: Int32, of statement: OpaquePointer) {
        let start = text.baseAddress?.assumingMemoryBound(to: CChar.self)
        sqlite3_bind_text(statement, index, start, Int32(text.count), nil)
    }

    public func delete(_ ids: [UInt64]) throws {
        let statement = try database.statement("DELETE FROM person WHERE id=?")
        try database.execute("BEGIN")
        for id in ids {
            sqlite3_bind_int64(statement, 1, Int64(id))
            try database.run(statement)
        }
        try database.execute("COMMIT")
    }

    public func updateScores(_ changes: [(id: UInt64, score: Double)]) throws {
        let statement = try database.statement("UPDATE person SET score=? WHERE id=?")
        // One row is a transaction by itself.
        let isExplicit = changes.count > 1
        if isExplicit { try database.execute("BEGIN") }
        for change in changes {
            sqlite3_bind_double(statement, 1, change.score)
            sqlite3_bind_int64(statement, 2, Int64(change.id))
            try database.run(statement)
        }
        if isExplicit { try database.execute("COMMIT") }
    }

    public func shrink() throws {
        try database.execute("VACUUM")
        try checkpoint()
    }

    /// Moves what is in the write-ahead log into the database and empties the log.
    public func checkpoint() throws {
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    public func close() throws {
        database.close()
    }
}

extension Flushing {
    /// The value of SQLite's pragma. With NORMAL only checkpoints wait for the disk.
    fileprivate var synchronous: String {
        switch self {
        case .full: "FULL"
        case .interval: "NORMAL"
        case .system: "OFF"
        }
    }
}
