import Foundation
public import StrataObjectStore

/// A bucket, or what lies under a prefix in it, on a server that speaks S3's protocol.
///
/// Requests carry a signed digest of their body and its length, and no checksums that not all servers know, so that
/// they are understood beyond AWS. A server must keep to `If-None-Match` and `If-Match` for conditional writes to mean
/// anything; ``ConditionalWriteProbe`` finds out.
///
/// Requests that fail are sent again, with growing pauses, until ``S3Configuration/retryDeadline``. A conditional write
/// that meets the object of an earlier try of its own, whose answer was lost, succeeds: the digest tells.
///
/// May be used from any task. Call ``shutdown()`` when done.
public final class S3ObjectStore: ObjectStore {
    /// The header that keeps an object's digest.
    static let digestHeader = "x-amz-meta-strata-sha256"

    public let description: String
    /// The bucket and prefix, and the server; for AWS, its partition.
    public let identity: String
    let caller: S3Caller
    let prefix: String
    private let owned: S3Connections?

    /// Makes a store. Nothing is asked of the server yet.
    ///
    /// - Parameters:
    ///   - configuration: Which bucket, and where.
    ///   - credentials: Where keys come from.
    ///   - connections: Shared with other stores, and shut down by whoever made them; nil for connections of its own.
    /// - Throws: For a name, endpoint or file that cannot be used.
    public convenience init(
        _ configuration: S3Configuration, credentials: any S3CredentialProvider, connections: S3Connections? = nil
    ) throws(S3ConfigurationError) {
        try self.init(configuration, credentials: credentials, connections: connections) {
            Date().timeIntervalSince1970
        }
    }

    /// Makes a store for an address such as `s3://bucket/prefix?region=eu-central-1`, and for what the environment
    /// says.
    ///
    /// - Parameter url: As ``S3Configuration/init(url:environment:)`` reads it; `profile` names a profile that keys are
    ///   taken from, too.
    public convenience init(
        url: String, environment: [String: String] = ProcessEnvironment.variables, connections: S3Connections? = nil
    ) throws(S3ConfigurationError) {
        let profile = try S3Address(url)["profile"]
        try self.init(
            S3Configuration(url: url, environment: environment),
            credentials: CredentialChain.standard(profile: profile, environment: environment),
            connections: connections)
    }

    init(
        _ configuration: S3Configuration, credentials: any S3CredentialProvider, connections: S3Connections?,
        clock: @escaping @Sendable () -> Double
    ) throws(S3ConfigurationError) {
        guard configuration.prefix.utf8.count < ObjectLimits.longestKey else {
            throw S3ConfigurationError("the prefix leaves no room for keys")
        }
        if let problem = Self.problem(ofKey: configuration.prefix + "x") {
            throw S3ConfigurationError("the prefix cannot be used: \(problem)")
        }
        let own = connections == nil ? S3Connections(mostPerServer: configuration.mostRequests) : nil
        owned = own
        caller = try S3Caller(
            configuration: configuration, credentials: credentials, connections: connections ?? own!, clock: clock)
        prefix = configuration.prefix
        description = "s3://\(configuration.bucket)/\(configuration.prefix)"
        identity = try description + "?endpoint=" + S3Endpoint.identity(configuration)
    }

    /// Closes the store's own connections; what is under way fails. Does nothing to those that were given.
    public func shutdown() async {
        await owned?.shutdown()
    }

    /// The whole key of a name, or the error that says what is wrong with it.
    func key(_ name: String) throws(ObjectStoreError) -> String {
        let key = prefix + name
        if name.isEmpty { throw .unsupported(key: name, message: "a key has at least one byte") }
        if let problem = Self.problem(ofKey: key) { throw .unsupported(key: name, message: problem) }
        return key
    }

    private static func problem(ofKey key: String) -> String? {
        if key.utf8.count > ObjectLimits.longestKey {
            return "with the prefix it has \(key.utf8.count) bytes, and keys at most \(ObjectLimits.longestKey)"
        }
        if key.utf8.contains(0) { return "it has a zero byte" }
        // Some clients, proxies and servers resolve them, and then speak of another object.
        let parts = key.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        if parts.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) {
            return "a part of it is . or .."
        }
        return nil
    }

    func error(_ answer: S3Answer, key: String) -> ObjectStoreError {
        answer.error(key: key, bucket: caller.configuration.bucket)
    }
}
