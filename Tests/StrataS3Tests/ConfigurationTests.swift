import Foundation
import Testing

@testable import StrataS3

struct ConfigurationTests {
    private func endpoint(_ configuration: S3Configuration) throws -> String {
        let endpoint = try S3Endpoint(configuration, region: configuration.region)
        return "\(endpoint.scheme)://\(endpoint.host)\(endpoint.path(of: "k"))"
    }

    @Test func bucketsAreAddressedAsTheirServersWantIt() throws {
        typealias Bucket = S3Configuration
        let cases: [(Bucket, String)] = [
            (Bucket(bucket: "b"), "https://b.s3.us-east-1.amazonaws.com/k"),
            (Bucket(bucket: "b.c"), "https://s3.us-east-1.amazonaws.com/b.c/k"),
            (Bucket(bucket: "b", style: .path), "https://s3.us-east-1.amazonaws.com/b/k"),
            (Bucket(bucket: "b", region: "cn-north-1"), "https://b.s3.cn-north-1.amazonaws.com.cn/k"),
            (Bucket(bucket: "b", endpoint: "http://h:9000"), "http://h:9000/b/k"),
            (Bucket(bucket: "b", endpoint: "https://h:443/"), "https://h/b/k"),
            (Bucket(bucket: "b", endpoint: "https://h/s3 x/"), "https://h/s3%20x/b/k"),
            (Bucket(bucket: "b", endpoint: "http://[::1]:9000"), "http://[::1]:9000/b/k"),
            (Bucket(bucket: "b", endpoint: "https://h:8443", style: .virtualHost), "https://b.h:8443/k"),
        ]
        for (bucket, url) in cases { #expect(try endpoint(bucket) == url) }
    }

    private func identity(_ configuration: S3Configuration) throws -> String {
        let store = try S3ObjectStore(configuration, credentials: StaticCredentials(testKeys))
        return store.identity
    }

    /// Buckets of two servers that have one name described themselves alike, and a shipper took one for the other.
    @Test func bucketsOfOneNameAreToldApartByTheirServers() throws {
        typealias Bucket = S3Configuration
        let same = [
            [
                Bucket(bucket: "b", prefix: "p"), Bucket(bucket: "b", prefix: "p/", region: "eu-west-1", style: .path),
                Bucket(bucket: "b", prefix: "p", endpoint: "https://s3.eu-west-1.amazonaws.com"),
            ],
            [
                Bucket(bucket: "b", prefix: "p", endpoint: "http://h:9000"),
                Bucket(bucket: "b", prefix: "p/", region: "x", endpoint: "HTTP://H:9000/"),
            ],
            [
                Bucket(bucket: "b", prefix: "p", endpoint: "https://h"),
                Bucket(bucket: "b", prefix: "p", endpoint: "https://h:443/", style: .virtualHost),
            ],
            [Bucket(bucket: "b", prefix: "p", endpoint: "http://h:9001")],
            [Bucket(bucket: "b", prefix: "p", endpoint: "http://h:9000/s3")],
            [Bucket(bucket: "b", prefix: "q", endpoint: "http://h:9000")],
            [Bucket(bucket: "c", prefix: "p", endpoint: "http://h:9000")],
            [
                Bucket(bucket: "b", prefix: "p", region: "cn-north-1"),
                Bucket(bucket: "b", prefix: "p", endpoint: "https://s3.cn-north-1.amazonaws.com.cn"),
            ],
            [Bucket(bucket: "b", prefix: "p", region: "us-gov-west-1")],
        ]
        var seen: Set<String> = []
        for buckets in same {
            let identities = Set(try buckets.map(identity))
            #expect(identities.count == 1, "\(identities)")
            #expect(seen.isDisjoint(with: identities), "\(identities)")
            seen.formUnion(identities)
        }
    }

    @Test func unusableAddressesAreRefused() {
        let wrong = [
            S3Configuration(bucket: ""), S3Configuration(bucket: "a/b"), S3Configuration(bucket: "a b"),
            S3Configuration(bucket: ".."), S3Configuration(bucket: "b", region: ""),
            S3Configuration(bucket: "b", region: "eu/../x"), S3Configuration(bucket: "b", endpoint: "ftp://h"),
            S3Configuration(bucket: "b", endpoint: "h:9000"), S3Configuration(bucket: "b", endpoint: "http://u:p@h"),
            S3Configuration(bucket: "b", endpoint: "http://h?x=1"),
            S3Configuration(bucket: "B_c", endpoint: "http://h", style: .virtualHost),
            S3Configuration(bucket: "b", certificateAuthorities: "/nonexistent/ca.pem"),
            S3Configuration(bucket: "b", prefix: String(repeating: "x", count: 1024)),
            S3Configuration(bucket: "b", prefix: "a/../c"),
        ]
        for configuration in wrong {
            #expect(throws: S3ConfigurationError.self, "\(configuration)") {
                try S3ObjectStore(configuration, credentials: StaticCredentials(testKeys))
            }
        }
    }

    @Test func urlsSayAllOfIt() throws {
        let ca = "/etc/my ca.pem"
        let read = try S3Configuration(
            url: "s3://bucket/a%20b/c?endpoint=http%3A%2F%2Fh:9000&region=eu-west-1&style=virtual&ca=/etc/my%20ca.pem",
            environment: [:])
        #expect(
            read
                == S3Configuration(
                    bucket: "bucket", prefix: "a b/c", region: "eu-west-1", endpoint: "http://h:9000",
                    style: .virtualHost, certificateAuthorities: ca))
        #expect(read.prefix == "a b/c/")
    }

    @Test func theEnvironmentSaysWhatUrlsDoNot() throws {
        let nowhere = ["AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent"]
        #expect(try S3Configuration(url: "s3://b", environment: nowhere) == S3Configuration(bucket: "b"))
        let environment = nowhere.merging([
            "AWS_ENDPOINT_URL": "http://all", "AWS_ENDPOINT_URL_S3": "http://h", "AWS_DEFAULT_REGION": "eu-west-2",
            "AWS_CA_BUNDLE": "/ca",
        ]) { $1 }
        let read = try S3Configuration(url: "s3://b/", environment: environment)
        #expect(read.endpoint == "http://h" && read.region == "eu-west-2" && read.certificateAuthorities == "/ca")
        #expect(try S3Configuration(url: "s3://b?region=x", environment: environment).region == "x")

        let file = try TemporaryFile(
            "[default]\nregion = us-east-2\n[profile p]\nregion=eu-north-1\nendpoint_url = http://p\n")
        let shared = ["AWS_CONFIG_FILE": file.path, "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent"]
        #expect(try S3Configuration(url: "s3://b", environment: shared).region == "us-east-2")
        let profile = try S3Configuration(url: "s3://b?profile=p", environment: shared)
        #expect(profile.region == "eu-north-1" && profile.endpoint == "http://p")
    }

    @Test(arguments: [
        "", "bucket", "http://bucket", "s3://", "s3:///prefix", "s3://bucket?style=odd", "s3://bucket?unknown=1",
        "s3://bucket?region", "s3://bucket?region=", "s3://bucket?region=a&region=b", "s3://b/%zz", "s3://b?ca=%zz",
        "s3://AKID:SECRETSECRET@bucket/p",
    ])
    func otherUrlsAreRefused(_ url: String) {
        let error = #expect(throws: S3ConfigurationError.self) { try S3ObjectStore(url: url, environment: [:]) }
        #expect(error.map { !"\($0)".contains("SECRET") } == true)
    }
}
