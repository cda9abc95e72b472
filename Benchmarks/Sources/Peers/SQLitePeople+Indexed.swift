public import BenchSupport
import CSQLite
import DataSet

extension SQLitePeople: IndexedReads {
    /// Both indexes; those that the tables were made with stay.
    public func buildIndex() throws {
        try database.execute(
            """
            CREATE INDEX IF NOT EXISTS person_department ON person(department_id);
            CREATE INDEX IF NOT EXISTS person_age_name ON person(age, name);
            """)
    }

    /// Whole rows with Swift strings.
    public func readPages(_ starts: [PageStart], idsOnly: Bool) throws -> UInt64 {
        let columns = idsOnly ? "id" : "*"
        let isFromName = starts.first?.name != nil
        let statement = try database.statement(
            "SELECT \(columns) FROM person WHERE age=?1 \(isFromName ? "AND name>=?3" : "") ORDER BY name LIMIT ?2")
        var sum: UInt64 = 0
        var unused: Int64 = 0
        for start in starts {
            sqlite3_bind_int(statement, 1, Int32(start.age))
            sqlite3_bind_int(statement, 2, Int32(Workload.pageCount))
            if var name = start.name {
                name.withUTF8 { _ = sqlite3_bind_text(statement, 3, $0.baseAddress, Int32($0.count), transient) }
            }
            while sqlite3_step(statement) == SQLITE_ROW {
                if idsOnly {
                    unused &+= sqlite3_column_int64(statement, 0)
                    sum += 1
                } else {
                    sum &+= strings(statement)
                }
            }
            sqlite3_reset(statement)
        }
        // The IDs are thrown away, but the compiler must not know.
        return unused == .max ? 1 : sum
    }

    public func traverse(department: Int, decodesAll: Bool) throws -> (count: Int, digest: UInt64) {
        let columns = decodesAll ? "*" : "id, name"
        let statement = try database.statement("SELECT \(columns) FROM person WHERE department_id=?")
        defer { sqlite3_reset(statement) }
        sqlite3_bind_int64(statement, 1, Int64(department))
        var count = 0
        var sum: UInt64 = 0
        var unused: UInt64 = 0
        while sqlite3_step(statement) == SQLITE_ROW {
            count += 1
            if decodesAll { unused &+= strings(statement) }
            sum &+= nameDigest(text(statement, 1))
        }
        return (count, unused == .max ? 0 : sum)
    }
}

/// Has SQLite copy what is bound.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension SQLitePeople: BatchWrites {
    public func insertInBatches(_ rows: [PersonRow], packed: PackedPeople) throws {
        for batch in Workload.batches(rows.count) { try insert(rows[batch], packed: packed) }
    }

    public func setScore(_ score: Double, fromAge age: Int16) throws -> Int {
        let statement = try database.statement("UPDATE person SET score=? WHERE age >= ?")
        sqlite3_bind_double(statement, 1, score)
        sqlite3_bind_int(statement, 2, Int32(age))
        try database.run(statement)
        return Int(sqlite3_changes(database.handle))
    }

    public func deleteInBatches(_ ids: [UInt64]) throws {
        for batch in Workload.batches(ids.count) { try delete(Array(ids[batch])) }
    }

    public func deleteActive() throws -> Int {
        try database.run(database.statement("DELETE FROM person WHERE active=1"))
        return Int(sqlite3_changes(database.handle))
    }
}
