import BenchSupport
import CSQLite
import OO7Load
import ServicePeers

extension SQLiteOO7 {
    public func parts(_ ids: [Int64]) throws -> UInt64 {
        try inTransaction(writes: false) {
            var sum: UInt64 = 0
            for id in ids {
                try statements.rows(statements.part, id) { row in
                    sum &+= partDigest(
                        id: id, x: sqlite3_column_int64(row, 0), y: sqlite3_column_int64(row, 1),
                        buildDate: sqlite3_column_int64(row, 2))
                }
            }
            return sum
        }
    }

    public func parts(builtSince date: Int64) throws -> UInt64 {
        sqlite3_bind_int64(statements.partsSince, 1, date)
        return try sumOfParts(statements.partsSince)
    }

    public func allParts() throws -> UInt64 { try sumOfParts(statements.allParts) }

    private func sumOfParts(_ statement: OpaquePointer) throws -> UInt64 {
        var sum: UInt64 = 0
        try statements.rows(statement) { row in
            sum &+= partDigest(
                id: sqlite3_column_int64(row, 0), x: sqlite3_column_int64(row, 1), y: sqlite3_column_int64(row, 2),
                buildDate: sqlite3_column_int64(row, 3))
        }
        return sum
    }

    public func assemblies(usingDocuments titles: [String]) throws -> UInt64 {
        try inTransaction(writes: false) {
            try titles.reduce(0) { sum, title in
                connection.bind(title, 1, statements.usersOfDocument)
                return sum &+ (try sumOfAssemblies(statements.usersOfDocument))
            }
        }
    }

    public func outdatedBaseAssemblies() throws -> UInt64 { try sumOfAssemblies(statements.outdatedBases) }

    public func outdatedAssemblies() throws -> UInt64 { try sumOfAssemblies(statements.outdated) }

    private func sumOfAssemblies(_ statement: OpaquePointer) throws -> UInt64 {
        var sum: UInt64 = 0
        try statements.rows(statement) { row in
            sum &+= assemblyDigest(id: sqlite3_column_int64(row, 0), buildDate: sqlite3_column_int64(row, 1))
        }
        return sum
    }

    public func documentsAndParts() throws -> UInt64 {
        var sum: UInt64 = 0
        try statements.rows(statements.documentsAndParts) { row in
            sum &+= pairDigest(
                part: sqlite3_column_int64(row, 0), document: sqlite3_column_int64(row, 1),
                titleByteCount: connection.text(row, 2).count)
        }
        return sum
    }
}
