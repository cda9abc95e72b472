import Crypto
import Testing

@testable import StrataS3

/// Signature Version 4, beside what Amazon publishes and what boto3's S3SigV4Auth computes for the same requests.
struct SignatureTests {
    struct Example: Sendable, CustomTestStringConvertible {
        var method = "GET"
        var path: String
        var query: [String: String] = [:]
        var headers: [String: String]
        var body = ""
        var secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
        var region = "us-east-1"
        var date = "20261129T010203Z"
        var signature: String
        var testDescription: String { "\(method) \(path) \(query)" }
    }

    /// "Signature calculations for the Authorization header: transferring a payload in a single chunk", Amazon S3 API
    /// Reference.
    static let published = [
        Example(
            path: "/test.txt", headers: ["host": "examplebucket.s3.amazonaws.com", "range": "bytes=0-9"],
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        Example(
            method: "PUT", path: "/test%24file.text",
            headers: [
                "host": "examplebucket.s3.amazonaws.com", "date": "Fri, 24 May 2013 00:00:00 GMT",
                "x-amz-storage-class": "REDUCED_REDUNDANCY",
            ], body: "Welcome to Amazon S3.",
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
        Example(
            path: "/", query: ["lifecycle": ""], headers: ["host": "examplebucket.s3.amazonaws.com"],
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        Example(
            path: "/", query: ["max-keys": "2", "prefix": "J"], headers: ["host": "examplebucket.s3.amazonaws.com"],
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ].map { example in
        var example = example
        example.secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
        example.date = "20130524T000000Z"
        return example
    }

    /// By botocore 1.44.8.
    static let computed = [
        Example(
            path: "/log/00000001/00000002/0000000003",
            headers: ["host": "bucket.s3.eu-central-1.amazonaws.com", "range": "bytes=0-9"], region: "eu-central-1",
            signature: "8fb4cde99e2ee838e3be167a295e99576eaed3184dfc5b47211e5423662e5305"),
        Example(
            path: "/bucket/" + URIEncoding.encoded("a b+c~d//e=f&g%h", keepsSlashes: true),
            headers: ["host": "127.0.0.1:9000"],
            signature: "49f79836eeb331e9f736caa37c5e3c38eb4fdeee09fa8bd9bdf7c8f9f9dde924"),
        Example(
            method: "PUT", path: "/bucket/" + URIEncoding.encoded("übung/日本/😀.txt", keepsSlashes: true),
            headers: [
                "host": "127.0.0.1:9000", "if-none-match": "*", "x-amz-meta-strata-sha256": "ab",
                "x-amz-security-token": "TOKEN/with+signs==",
            ], body: "hello", signature: "b276e07aa142b656cb8f5cfae1f8c2e895ea3336987dd6100ba4bb0d0b8031c7"),
        Example(
            path: "/bucket",
            query: ["list-type": "2", "prefix": "a b/ü+", "start-after": "a b/ü+1", "max-keys": "1000"],
            headers: ["host": "s3.us-east-1.amazonaws.com"],
            signature: "37a399d1ef02ce2898e8840796d17034ba3049329cfee7a7914fcf9f58553d0b"),
        Example(
            method: "POST", path: "/x", query: ["uploads": ""], headers: ["host": "bucket.s3.us-west-2.amazonaws.com"],
            region: "us-west-2", signature: "460e757c7a981519a206e234e544dd9d338dd307b5e5142c12f9648f4a8eade8"),
        Example(
            method: "POST", path: "/x", query: ["uploadId": "a/b+c=="],
            headers: [
                "host": "bucket.s3.us-west-2.amazonaws.com", "if-match": "\"abc\"", "content-type": "application/xml",
            ], body: "<x/>", region: "us-west-2",
            signature: "eba9bf78ae7dbf5e2fa927c86088953628279e88acfe52698de0bdeeda483ead"),
        Example(
            method: "PUT", path: "/b/" + URIEncoding.encoded("k(1)!'*,;:@$", keepsSlashes: true),
            query: ["partNumber": "12", "uploadId": "Z z"], headers: ["host": "h.example:8443"], body: "\u{0}\u{1}",
            region: "auto", signature: "336e19b3a4301f234f19cf52463444a2456efa6c280fd41ca9c132d2a0e78772"),
    ]

    @Test(arguments: published + computed)
    func signaturesAreThoseOfOthers(_ example: Example) throws {
        let payload = Hexadecimal.text(SHA256.hash(data: Array(example.body.utf8)))
        var headers = example.headers.map { (name: $0.key, value: $0.value) }
        headers += [("x-amz-content-sha256", payload), ("x-amz-date", example.date)]
        let keys = S3Credentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: example.secret)
        let request = SignatureV4.Request(
            method: example.method, path: example.path, query: example.query.map { ($0.key, $0.value) },
            headers: headers, payload: payload)
        let year = try #require(Int(example.date.prefix(4)))
        let moment = try #require(
            Timestamp(iso8601: year == 2013 ? "2013-05-24T00:00:00Z" : "2026-11-29T01:02:03.999Z"))
        #expect(moment.basic == example.date)
        let authorization = SignatureV4(credentials: keys, region: example.region)
            .authorization(of: request, at: moment)
        #expect(authorization.hasSuffix("Signature=" + example.signature))
        let day = example.date.prefix(8)
        #expect(
            authorization.hasPrefix(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\(day)/\(example.region)/s3/aws4_request, SignedHeaders="))
    }

    @Test func spaceInHeadersIsSignedAsOne() {
        let request = SignatureV4.Request(
            method: "GET", path: "/", query: [], headers: [("host", "h"), ("a", "  x   y\t z ")], payload: "p")
        #expect(SignatureV4.canonical(request) == "GET\n/\n\na:x y z\nhost:h\n\na;host\np")
    }

    @Test func queriesAreSortedOnceTheyAreEncoded() {
        #expect(SignatureV4.queryString([("b", "1"), ("a", "é"), ("a", "Z"), ("A", "")]) == "A=&a=%C3%A9&a=Z&b=1")
    }

    @Test(arguments: ["", "abc", "a b", "ü/+~%", "日本😀", "a//b", "\u{1}\u{7F}"])
    func encodingIsUndone(_ text: String) {
        #expect(URIEncoding.decoded(URIEncoding.encoded(text)) == text)
        #expect(URIEncoding.decoded(URIEncoding.encoded(text, keepsSlashes: true)) == text)
    }

    @Test(arguments: ["%", "%4", "%zz", "a%FF"])
    func whatIsNotEncodedTextIsRefused(_ text: String) {
        #expect(URIEncoding.decoded(text) == nil)
    }
}
