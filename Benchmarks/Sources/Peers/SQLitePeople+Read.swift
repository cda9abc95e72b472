import BenchSupport
import CSQLite
import DataSet

extension SQLitePeople {
    public func read(_ ids: [UInt64], _ manner: ReadManner) throws -> UInt64? {
        let sql =
            manner == .twoFields ? "SELECT score, name FROM person WHERE id=?" : "SELECT * FROM person WHERE id=?"
        let statement = try database.statement(sql)
        try database.execute("BEGIN")
        var sum: UInt64 = 0
        for id in ids {
            sqlite3_bind_int64(statement, 1, Int64(id))
            guard sqlite3_step(statement) == SQLITE_ROW else { throw database.failure("row \(id) is missing") }
            switch manner {
            case .twoFields: sum &+= twoFields(statement)
            case .allFields: sum &+= allFields(statement)
            case .strings: sum &+= strings(statement)
            }
            sqlite3_reset(statement)
        }
        try database.execute("COMMIT")
        return sum
    }

    public func readSequentially() throws -> UInt64? {
        let statement = try database.statement("SELECT * FROM person ORDER BY id")
        defer { sqlite3_reset(statement) }
        var sum: UInt64 = 0
        while sqlite3_step(statement) == SQLITE_ROW { sum &+= allFields(statement) }
        return sum
    }

    public func scan(_ query: ScanQuery) throws -> UInt64? {
        switch query {
        case .predicate:
            return UInt64(
                try database.integer("SELECT count(*) FROM person WHERE age >= 40 AND bio LIKE '%delta%'"))
        case .groupSum:
            let statement = try database.statement(
                "SELECT department_id, sum(score), avg(score) FROM person GROUP BY department_id")
            defer { sqlite3_reset(statement) }
            var total = 0.0
            var groups = 0
            while sqlite3_step(statement) == SQLITE_ROW {
                groups += 1
                total += sqlite3_column_double(statement, 1)
            }
            return groupSumCheck(total: total, groups: groups)
        case .numbers:
            return UInt64(try database.integer("SELECT count(*) FROM person WHERE age >= 40 AND active = 1"))
        case .folded:
            return UInt64(try database.integer("SELECT count(*) FROM person WHERE contains_cd(bio, 'delta')"))
        case .sorted:
            let statement = try database.statement("SELECT name FROM person ORDER BY email, id LIMIT 50")
            defer { sqlite3_reset(statement) }
            var sum: UInt64 = 0
            while sqlite3_step(statement) == SQLITE_ROW { sum &+= nameDigest(text(statement, 0)) }
            return sum
        }
    }

    @inline(__always)
    private func twoFields(_ statement: OpaquePointer) -> UInt64 {
        UInt64(sqlite3_column_double(statement, 0)) &+ nameDigest(text(statement, 1))
    }

    @inline(__always)
    private func allFields(_ statement: OpaquePointer) -> UInt64 {
        digest(
            age: Int16(truncatingIfNeeded: sqlite3_column_int(statement, 3)),
            department: UInt64(sqlite3_column_int64(statement, 8)),
            score: sqlite3_column_double(statement, 4), created: sqlite3_column_double(statement, 5),
            active: sqlite3_column_int(statement, 6) != 0,
            name: text(statement, 1), email: text(statement, 2), bio: text(statement, 7))
    }

    @inline(__always)
    func strings(_ statement: OpaquePointer) -> UInt64 {
        digest(
            age: Int16(truncatingIfNeeded: sqlite3_column_int(statement, 3)),
            department: UInt64(sqlite3_column_int64(statement, 8)),
            score: sqlite3_column_double(statement, 4), created: sqlite3_column_double(statement, 5),
            active: sqlite3_column_int(statement, 6) != 0,
            name: String(decoding: text(statement, 1), as: UTF8.self),
            email: String(decoding: text(statement, 2), as: UTF8.self),
            bio: String(decoding: text(statement, 7), as: UTF8.self))
    }

    /// The column's bytes; valid until the statement moves on.
    @inline(__always)
    func text(_ statement: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_text(statement, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }
}
