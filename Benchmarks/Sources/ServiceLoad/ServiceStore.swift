/// A store behind a service, with the shop in it.
public protocol ServiceStore: AnyObject, Sendable {
    /// Inserts customers, products, tags and all orders: each order in a transaction of its own, or 10,000 in one.
    func fill(oneByOne: Bool) throws

    /// What one client needs: a connection, or nothing. Each belongs to one thread.
    func makeClient() throws -> any ServiceClient

    /// How many orders there are.
    func orderCount() throws -> Int

    func close() throws
}

/// One client's way into the store.
public protocol ServiceClient: AnyObject {
    /// Answers a request; returns the digest of what was read, 0 for a write.
    func answer(_ request: ServiceRequest) throws -> UInt64
}

/// A store that answers without holding the caller's thread.
public protocol AsyncServiceStore: ServiceStore {
    /// As ``ServiceClient/answer(_:)``.
    func answer(_ request: ServiceRequest) async throws -> UInt64
}
