public import BenchSupport
import CSQLite
import ServicePeers
public import YCSBLoad

/// The records in SQLite through its C API, with the settings of ``SQLiteConnection``: a connection for each client.
public final class SQLiteYCSB: YCSBStore {
    private let path: String

    /// - Parameter folder: where the database lies; it is made when it is not there.
    public init(in folder: Folder) throws {
        path = folder.appending("users.sqlite").path
        let isNew = folder.isEmpty
        let connection = try SQLiteConnection(path)
        let fields = (0..<YCSB.fieldCount).map { "field\($0) TEXT NOT NULL" }.joined(separator: ", ")
        if isNew { try connection.execute("CREATE TABLE user(key TEXT PRIMARY KEY NOT NULL, \(fields))") }
    }

    public func fill(_ count: Int) throws {
        let connection = try SQLiteConnection(path)
        let client = SQLiteYCSBClient(connection)
        // Filling is not measured.
        try connection.execute("PRAGMA synchronous=OFF")
        for batch in Workload.batches(count, of: 1_000) {
            try connection.execute("BEGIN")
            for number in batch { try client.insert(YCSB.key(number), YCSB.values(number)) }
            try connection.execute("COMMIT")
        }
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE); ANALYZE")
    }

    public func makeClient() throws -> any YCSBClient { SQLiteYCSBClient(try SQLiteConnection(path)) }

    public func recordCount() throws -> Int {
        Int(try SQLiteConnection(path).integer("SELECT count(*) FROM user"))
    }

    /// Each connection closes with its client.
    public func close() throws {}
}

final class SQLiteYCSBClient: YCSBClient {
    private static let updates = (0..<YCSB.fieldCount).map { "UPDATE user SET field\($0)=? WHERE key=?" }
    private static let places = Array(repeating: "?", count: YCSB.fieldCount + 1).joined(separator: ",")

    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) {
        self.connection = connection
    }

    func read(_ key: String) throws -> UInt64? {
        var digest: UInt64?
        try connection.query("SELECT * FROM user WHERE key=?") {
            connection.bind(key, 1, $0)
        } row: {
            digest = connection.digest($0)
        }
        return digest
    }

    func update(_ key: String, field: Int, to value: String) throws {
        try connection.run(Self.updates[field]) {
            connection.bind(value, 1, $0)
            connection.bind(key, 2, $0)
        }
    }

    func insert(_ key: String, _ values: [String]) throws {
        try connection.run("INSERT INTO user VALUES(\(Self.places))") {
            connection.bind(key, 1, $0)
            for (index, value) in values.enumerated() { connection.bind(value, Int32(index + 2), $0) }
        }
    }

    func scan(from key: String, count: Int) throws -> UInt64 {
        var sum: UInt64 = 0
        try connection.query("SELECT * FROM user WHERE key>=? ORDER BY key LIMIT ?") {
            connection.bind(key, 1, $0)
            sqlite3_bind_int64($0, 2, Int64(count))
        } row: {
            sum &+= connection.digest($0)
        }
        return sum
    }

    func readModifyWrite(_ key: String, field: Int, to value: String) throws -> UInt64 {
        try connection.run("BEGIN IMMEDIATE")
        guard let digest = try read(key) else { throw BenchFailure("record \(key) is missing") }
        try update(key, field: field, to: value)
        try connection.run("COMMIT")
        return digest
    }
}

extension SQLiteConnection {
    fileprivate func digest(_ row: OpaquePointer) -> UInt64 {
        (0...Int32(YCSB.fieldCount)).reduce(0) { $0 &+ fieldDigest(text(row, $1)) }
    }
}
