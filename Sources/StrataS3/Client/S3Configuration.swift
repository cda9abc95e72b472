/// Which bucket, where it is, and how it is spoken to.
public struct S3Configuration: Sendable, Hashable {
    /// Where a request names the bucket.
    public enum AddressingStyle: String, Sendable, Hashable {
        /// In the path for endpoints that are given, and for names with dots; else in the host's name.
        case automatic = "auto"
        /// `https://endpoint/bucket/key`.
        case path
        /// `https://bucket.endpoint/key`.
        case virtualHost = "virtual"
    }

    /// The bucket's name.
    public var bucket: String
    /// What all keys begin with: empty, or ended by a slash that is added where it is missing.
    public var prefix: String
    /// The region that requests are signed for. Many servers take any.
    public var region: String
    /// `https://host:port/path` of a server; nil for AWS's own in the region.
    public var endpoint: String?
    /// Where a request names the bucket.
    public var style: AddressingStyle
    /// A PEM file of the certificate authorities that are trusted instead of the system's.
    public var certificateAuthorities: String?

    /// No try of a request begins later than this after its first.
    public var retryDeadline: Duration = .seconds(60)
    /// How long one try may wait for its answer, besides a second for each 256 KiB that it sends or receives.
    public var attemptTimeout: Duration = .seconds(30)
    /// How many requests are under way at once; others wait.
    public var mostRequests = 16
    /// The bytes of an upload's part, 5 MiB to 64 MiB; more where an upload would have over 10,000 parts. Shorter
    /// objects are put in one request.
    public var partSize = 8 << 20
    /// How many parts of one upload are in memory and under way at once.
    public var partsAtOnce = 4

    /// Describes a bucket.
    public init(
        bucket: String, prefix: String = "", region: String = "us-east-1", endpoint: String? = nil,
        style: AddressingStyle = .automatic, certificateAuthorities: String? = nil
    ) {
        self.bucket = bucket
        self.prefix = prefix.isEmpty || prefix.hasSuffix("/") ? prefix : prefix + "/"
        self.region = region
        self.endpoint = endpoint
        self.style = style
        self.certificateAuthorities = certificateAuthorities
    }
}
