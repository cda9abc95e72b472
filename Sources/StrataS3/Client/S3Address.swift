/// The parts of `s3://bucket/prefix?name=value`.
struct S3Address {
    let bucket: String
    let prefix: String
    private let parameters: [String: String]

    /// The parameters that an address may have.
    static let known = ["endpoint", "region", "style", "ca", "profile"]

    init(_ url: String) throws(S3ConfigurationError) {
        // Whoever puts keys into an address finds them in no message.
        guard url.hasPrefix("s3://") else {
            throw S3ConfigurationError("an address of a bucket begins with s3://")
        }
        let rest = url.dropFirst(5)
        let halves = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let place = halves[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard !place[0].contains("@") else {
            throw S3ConfigurationError(
                "s3://…@… is not supported: credentials come from the environment or a profile, never from an address")
        }
        guard let bucket = URIEncoding.decoded(place[0]), !bucket.isEmpty else {
            throw S3ConfigurationError("an address of a bucket is s3://BUCKET/PREFIX: the bucket is missing")
        }
        guard let prefix = URIEncoding.decoded(place.count > 1 ? place[1] : "") else {
            throw S3ConfigurationError("s3://\(bucket): the prefix is not percent-encoded UTF-8")
        }
        var parameters: [String: String] = [:]
        for part in halves.count > 1 ? halves[1].split(separator: "&") : [] {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(pair[0])
            guard Self.known.contains(name) else {
                throw S3ConfigurationError(
                    "s3://\(bucket)/\(prefix): \(name) is not known; parameters are "
                        + Self.known.joined(separator: ", "))
            }
            guard pair.count == 2, let value = URIEncoding.decoded(pair[1]), !value.isEmpty else {
                throw S3ConfigurationError("s3://\(bucket)/\(prefix): \(name) has no value")
            }
            guard parameters.updateValue(value, forKey: name) == nil else {
                throw S3ConfigurationError("s3://\(bucket)/\(prefix): \(name) is given twice")
            }
        }
        self.bucket = bucket
        self.prefix = prefix
        self.parameters = parameters
    }

    subscript(_ parameter: String) -> String? { parameters[parameter] }

    /// For messages.
    var place: String { "s3://\(bucket)/\(prefix)" }
}
