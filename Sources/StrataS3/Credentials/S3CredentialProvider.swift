public import StrataObjectStore

/// Where credentials come from.
///
/// An ``S3ObjectStore`` asks at its first request, five minutes before they expire, and when a server refuses them. It
/// asks once at a time, whatever the number of requests that wait, and keeps the answer: implementations need no cache.
public protocol S3CredentialProvider: Sendable {
    /// Fetches credentials, or returns nil where nothing here says how to.
    ///
    /// - Parameter connections: For providers that ask over HTTP.
    /// - Throws: ``ObjectStoreError/credentials(message:)`` where something says how to, and it did not work. The
    ///   message has no secrets.
    func credentials(over connections: S3Connections) async throws(ObjectStoreError) -> S3Credentials?
}
