public import BenchSupport
import GRDB
import ServicePeers
public import YCSBLoad

/// The records through GRDB as its users write them: Codable records, the query interface, a DatabasePool with
/// synchronous=FULL and its other settings untouched.
public final class GRDBYCSB: YCSBStore, YCSBClient {
    private let pool: DatabasePool

    /// - Parameter folder: where the database lies; it is made when it is not there.
    public init(in folder: Folder) throws {
        let isNew = folder.isEmpty
        pool = try .durable(folder.appending("users.sqlite").path)
        guard isNew else { return }
        try pool.write { database in
            try database.create(table: "user") { table in
                table.primaryKey("key", .text)
                for index in 0..<YCSB.fieldCount { table.column("field\(index)", .text).notNull() }
            }
        }
    }

    public func fill(_ count: Int) throws {
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        for batch in Workload.batches(count, of: 1_000) {
            try pool.write { database in
                for number in batch { try UserRecord(YCSB.key(number), YCSB.values(number)).insert(database) }
            }
        }
        try pool.writeWithoutTransaction { database in
            _ = try database.checkpoint(.truncate)
            try database.execute(sql: "ANALYZE")
        }
    }

    /// The pool is meant to be shared.
    public func makeClient() throws -> any YCSBClient { self }

    public func recordCount() throws -> Int { try pool.read { try UserRecord.fetchCount($0) } }

    public func close() throws { try pool.close() }

    public func read(_ key: String) throws -> UInt64? {
        try pool.read { try UserRecord.fetchOne($0, key: key) }?.digest
    }

    public func update(_ key: String, field: Int, to value: String) throws {
        try pool.write { _ = try Self.change(key, field: field, to: value, in: $0) }
    }

    public func insert(_ key: String, _ values: [String]) throws {
        try pool.write { try UserRecord(key, values).insert($0) }
    }

    public func scan(from key: String, count: Int) throws -> UInt64 {
        let request = UserRecord.filter(UserRecord.Columns.key >= key).order(UserRecord.Columns.key).limit(count)
        return try pool.read { try request.fetchAll($0) }.reduce(0) { $0 &+ $1.digest }
    }

    public func readModifyWrite(_ key: String, field: Int, to value: String) throws -> UInt64 {
        try pool.write { try Self.change(key, field: field, to: value, in: $0) }
    }

    /// - Returns: the digest of the record before.
    private static func change(
        _ key: String, field: Int, to value: String, in database: Database
    ) throws -> UInt64 {
        guard var user = try UserRecord.fetchOne(database, key: key) else {
            throw BenchFailure("record \(key) is missing")
        }
        let digest = user.digest
        try user.updateChanges(database) { $0[field: field] = value }
        return digest
    }
}
