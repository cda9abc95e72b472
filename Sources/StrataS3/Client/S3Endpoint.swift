import Foundation

/// Where a bucket's requests go.
struct S3Endpoint: Sendable, Hashable {
    let scheme: String
    /// With the port, as in the header `Host`.
    let host: String
    /// Before the key: the endpoint's own path and, in path style, the bucket. Encoded, without a slash at the end.
    let path: String

    init(_ configuration: S3Configuration, region: String) throws(S3ConfigurationError) {
        let bucket = configuration.bucket
        guard (1...255).contains(bucket.utf8.count), bucket != ".", bucket != "..",
            bucket.utf8.allSatisfy({
                switch $0 {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
                default: false
                }
            })
        else { throw S3ConfigurationError("a bucket's name has letters, digits, dots and hyphens; not \(bucket)") }
        guard !region.isEmpty,
            region.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D })
        else { throw S3ConfigurationError("a region has lower-case letters, digits and hyphens; not \(region)") }

        let given = try configuration.endpoint.map { (text) throws(S3ConfigurationError) in try Self.parts(of: text) }
        scheme = given?.scheme ?? "https"
        let suffix = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        let server = given?.host ?? "s3.\(region).\(suffix)"
        let isVirtual =
            switch configuration.style {
            case .automatic: given == nil && Self.canBeHost(bucket)
            case .path: false
            case .virtualHost: true
            }
        guard !isVirtual || Self.canBeHost(bucket, dots: true) else {
            throw S3ConfigurationError("the bucket \(bucket) cannot be in a host's name: use style=path")
        }
        host = isVirtual ? "\(bucket).\(server)" : server
        path = (given?.path ?? "") + (isVirtual ? "" : "/" + bucket)
    }

    /// Over TLS, a bucket with dots in its name does not match AWS's certificate.
    private static func canBeHost(_ bucket: String, dots: Bool = false) -> Bool {
        bucket.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D || (dots && $0 == 0x2E)
        }
    }

    private static func parts(
        of text: String
    ) throws(S3ConfigurationError) -> (scheme: String, host: String, path: String) {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let name = url.host, !name.isEmpty
        else { throw S3ConfigurationError("an endpoint is http://HOST:PORT or https://HOST:PORT") }
        guard url.user == nil, url.password == nil, url.query == nil, url.fragment == nil else {
            throw S3ConfigurationError("an endpoint has neither credentials nor parameters")
        }
        var host = name.contains(":") && !name.hasPrefix("[") ? "[\(name)]" : name
        if let port = url.port, port != (scheme == "https" ? 443 : 80) { host += ":\(port)" }
        var path = URIEncoding.encoded(url.path, keepsSlashes: true)
        while path.last == "/" { path.removeLast() }
        return (scheme, host, path)
    }

    /// What tells a server's buckets from those of others of the same names, whatever region and style requests go by:
    /// its host and path, or the partition of AWS, in which a bucket's name is there once.
    static func identity(_ configuration: S3Configuration) throws(S3ConfigurationError) -> String {
        guard let endpoint = configuration.endpoint else { return partition(of: [configuration.region]) }
        let (scheme, host, path) = try parts(of: endpoint)
        let name = host.lowercased()
        let isOfAmazon = ["amazonaws.com", "amazonaws.com.cn"].contains { name == $0 || name.hasSuffix(".\($0)") }
        return isOfAmazon ? partition(of: name.split(separator: ".").map(String.init)) : "\(scheme)://\(name)\(path)"
    }

    /// The partition of AWS that a region is in, which may be among the labels of a host.
    private static func partition(of names: [String]) -> String {
        if names.contains(where: { $0.hasPrefix("cn-") }) { return "aws-cn" }
        return names.contains { $0.hasPrefix("us-gov-") } ? "aws-us-gov" : "aws"
    }

    /// The encoded path of a key, or of the bucket.
    func path(of key: String?) -> String {
        guard let key else { return path.isEmpty ? "/" : path }
        return path + "/" + URIEncoding.encoded(key, keepsSlashes: true)
    }
}
