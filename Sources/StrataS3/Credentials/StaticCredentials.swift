public import StrataObjectStore

/// Credentials that a program has.
public struct StaticCredentials: S3CredentialProvider {
    private let keys: S3Credentials

    /// Gives these, always.
    public init(_ keys: S3Credentials) {
        self.keys = keys
    }

    public func credentials(over connections: S3Connections) async throws(ObjectStoreError) -> S3Credentials? { keys }
}
