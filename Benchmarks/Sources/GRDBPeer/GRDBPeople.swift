public import BenchSupport
public import DataSet
import GRDB

/// The people through GRDB as its users write it: Codable records, the query interface, a DatabasePool with
/// synchronous=FULL and its other settings untouched.
public final class GRDBPeople: Contestant {
    let pool: DatabasePool

    /// Opens the database below `folder`, creating it with its tables when it is not there.
    public init(in folder: Folder) throws {
        let isNew = folder.isEmpty
        pool = try DatabasePool(path: folder.appending("db.sqlite").path)
        // Set after opening: the pool itself sets NORMAL when it turns the write-ahead log on.
        try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
        }
        if isNew { try createTables() }
    }

    private func createTables() throws {
        try pool.write { database in
            try database.create(table: "department") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull()
            }
            try database.create(table: "person") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull()
                table.column("email", .text).notNull()
                table.column("age", .integer).notNull()
                table.column("score", .double).notNull()
                table.column("created", .double).notNull()
                table.column("active", .boolean).notNull()
                table.column("bio", .text).notNull()
                table.column("departmentId", .integer).notNull().references("department")
            }
            for number in 1...PersonRow.departmentCount {
                var department = DepartmentRecord(id: Int64(number), name: departmentName(number))
                try department.insert(database)
            }
        }
    }

    public func insert(_ rows: ArraySlice<PersonRow>, packed: PackedPeople) throws {
        try pool.write { database in
            for row in rows {
                var person = PersonRecord(row)
                try person.insert(database)
            }
        }
    }

    public func delete(_ ids: [UInt64]) throws {
        try pool.write { database in
            for id in ids { _ = try PersonRecord.deleteOne(database, key: Int64(id)) }
        }
    }

    public func read(_ ids: [UInt64], _ manner: ReadManner) throws -> UInt64? {
        guard manner == .strings else { return nil }
        return try pool.read { database in
            var sum: UInt64 = 0
            for id in ids {
                guard let person = try PersonRecord.fetchOne(database, key: Int64(id)) else {
                    throw BenchFailure("person \(id) is missing")
                }
                sum &+= person.digest
            }
            return sum
        }
    }

    public func readSequentially() throws -> UInt64? {
        try pool.read { database in
            var sum: UInt64 = 0
            let cursor = try PersonRecord.order(PersonRecord.Columns.id).fetchCursor(database)
            while let person = try cursor.next() { sum &+= person.digest }
            return sum
        }
    }

    public func scan(_ query: ScanQuery) throws -> UInt64? {
        try pool.read { database in
            switch query {
            case .predicate:
                let wanted = PersonRecord.Columns.age >= 40 && PersonRecord.Columns.bio.like("%delta%")
                return UInt64(try PersonRecord.filter(wanted).fetchCount(database))
            case .groupSum:
                let request = PersonRecord.select(
                    PersonRecord.Columns.departmentId, sum(PersonRecord.Columns.score).forKey("sum")
                ).group(PersonRecord.Columns.departmentId)
                let sums = try Row.fetchAll(database, request).map { $0["sum"] as Double }
                return groupSumCheck(total: sums.reduce(0, +), groups: sums.count)
            case .numbers, .folded, .sorted: return nil
            }
        }
    }

    public func close() throws {
        try pool.close()
    }
}
