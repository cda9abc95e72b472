/// A store with the records of YCSB in it.
public protocol YCSBStore: AnyObject, Sendable {
    /// Inserts the records from 0 on, 1,000 in a transaction; need not be durable.
    func fill(_ count: Int) throws

    /// What one client needs: a connection, or nothing. Each belongs to one thread.
    func makeClient() throws -> any YCSBClient

    func recordCount() throws -> Int

    func close() throws
}

/// One client's way into the store. What is read is summed by ``fieldDigest(_:)-(String)``.
public protocol YCSBClient: AnyObject {
    /// Nil when there is no such record.
    func read(_ key: String) throws -> UInt64?
    func update(_ key: String, field: Int, to value: String) throws
    func insert(_ key: String, _ values: [String]) throws
    func scan(from key: String, count: Int) throws -> UInt64
    func readModifyWrite(_ key: String, field: Int, to value: String) throws -> UInt64
}
