import NIOHTTP1
import StrataObjectStore

/// A request to a bucket, before it is signed.
struct S3Request: Sendable {
    var method: HTTPMethod
    /// The whole key, prefix included; nil for requests of the bucket.
    var key: String?
    /// Not encoded.
    var query: [(name: String, value: String)] = []
    /// Names in lower case.
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// SHA-256 of the body in hexadecimal digits.
    var payload = S3Request.emptyPayload
    /// The most bytes that a proper answer has.
    var largestAnswer = 16 << 20
    /// A status of 200 is sent before the work is done, and an error may follow in the body.
    var mayFailLate = false
    /// A conflict with another write is an answer: sending the request again would not help.
    var conflictsEndIt = false

    static let emptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
}

/// What a server has answered in the end.
struct S3Answer: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: [UInt8]
    /// What the body of an error says, or an error's headers.
    var failure: S3Failure?
    /// Whether an earlier try of the same request may have been carried out.
    var followsUnanswered = false

    var isSuccess: Bool { (200..<300).contains(status) }
}

/// The body of an error.
struct S3Failure: Sendable {
    var code: String
    var message: String
    /// The region that the server would rather have had.
    var region: String?
    /// How the provider finds the request in its logs.
    var requestID: String?

    init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
        let root = body.isEmpty ? nil : try? XMLElement(parsing: body)
        let error = root?.name == "Error" ? root : nil
        code = error?.child("Code")?.text ?? ""
        message = error?.child("Message")?.text ?? ""
        region = headers.first(name: "x-amz-bucket-region") ?? error?.child("Region")?.text
        requestID = headers.first(name: "x-amz-request-id") ?? error?.child("RequestId")?.text
        if code.isEmpty, status == 503 { code = "SlowDown" }
    }
}

extension S3Answer {
    /// For errors: status, code, the server's message, and the request's number.
    var summary: String {
        var text = "status \(status)"
        guard let failure else { return text }
        if !failure.code.isEmpty { text += " \(failure.code.prefix(80))" }
        if !failure.message.isEmpty { text += ": \(failure.message.prefix(300))" }
        if let number = failure.requestID { text += " (request \(number.prefix(80)))" }
        return text
    }
}
