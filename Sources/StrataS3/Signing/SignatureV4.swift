import Crypto

/// Signature Version 4 of requests, with the payload's digest signed.
struct SignatureV4: Sendable {
    let credentials: S3Credentials
    let region: String
    let service: String

    init(credentials: S3Credentials, region: String, service: String = "s3") {
        self.credentials = credentials
        self.region = region
        self.service = service
    }

    /// What is signed of a request.
    struct Request {
        var method: String
        /// Encoded as it is sent.
        var path: String
        /// Not encoded; in any order.
        var query: [(name: String, value: String)]
        /// Names in lower case; `host` must be among them.
        var headers: [(name: String, value: String)]
        /// SHA-256 of the body in hexadecimal digits.
        var payload: String
    }

    /// The value of the header `Authorization`.
    ///
    /// All headers of the request are signed, so `x-amz-date` (and, with temporary credentials,
    /// `x-amz-security-token`) must be among them.
    func authorization(of request: Request, at moment: Timestamp) -> String {
        let scope = "\(moment.day)/\(region)/\(service)/aws4_request"
        let names = Self.sorted(request.headers).map(\.name).joined(separator: ";")
        let signature = self.signature(of: stringToSign(of: request, at: moment), on: moment.day)
        return "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(scope), SignedHeaders=\(names), "
            + "Signature=\(signature)"
    }

    func stringToSign(of request: Request, at moment: Timestamp) -> String {
        let canonical = Hexadecimal.text(SHA256.hash(data: Array(Self.canonical(request).utf8)))
        return "AWS4-HMAC-SHA256\n\(moment.basic)\n\(moment.day)/\(region)/\(service)/aws4_request\n\(canonical)"
    }

    static func canonical(_ request: Request) -> String {
        let headers = sorted(request.headers)
        let lines = headers.map { "\($0.name):\($0.value)\n" }.joined()
        let names = headers.map(\.name).joined(separator: ";")
        return [request.method, request.path, queryString(request.query), lines, names, request.payload]
            .joined(separator: "\n")
    }

    /// The query as it is signed, and sent: encoded, in the order of names and values.
    static func queryString(_ query: [(name: String, value: String)]) -> String {
        query.map { (name: URIEncoding.encoded($0.name), value: URIEncoding.encoded($0.value)) }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    private static func sorted(_ headers: [(name: String, value: String)]) -> [(name: String, value: String)] {
        headers.map { (name: $0.name, value: trimmed($0.value)) }.sorted { $0.name < $1.name }
    }

    /// Without white space at both ends, and with single spaces for runs of it within.
    private static func trimmed(_ value: String) -> String {
        value.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
    }

    private func signature(of text: String, on day: String) -> String {
        var key = SymmetricKey(data: Array("AWS4\(credentials.secretAccessKey)".utf8))
        for part in [day, region, service, "aws4_request"] {
            let code = HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key)
            key = SymmetricKey(data: Array(code))
        }
        return Hexadecimal.text(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
    }
}
