import Foundation
import StrataObjectStore
import Testing

@testable import StrataS3

/// Keys that are no secrets.
let testKeys = S3Credentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")

extension MischievousServer {
    /// A store whose server this is, with times that suit a test.
    func store(
        prefix: String = "", credentials: any S3CredentialProvider = StaticCredentials(testKeys),
        deadline: Duration = .seconds(20), attempt: Duration = .seconds(5),
        clock: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 },
        change: (inout S3Configuration) -> Void = { _ in }
    ) throws -> S3ObjectStore {
        var configuration = S3Configuration(bucket: "bucket", prefix: prefix, endpoint: url)
        configuration.retryDeadline = deadline
        configuration.attemptTimeout = attempt
        change(&configuration)
        return try S3ObjectStore(configuration, credentials: credentials, connections: nil, clock: clock)
    }
}

extension MischievousServer.Reply {
    static func error(_ status: Int, _ code: String, _ headers: [String: String] = [:], more: String = "") -> Self {
        .answer(
            status, headers,
            Array("<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code><Message>no luck</Message>\(more)</Error>".utf8))
    }
}

/// Bytes that tell where in the whole they are from.
func pattern(_ count: Int, seed: UInt8 = 7) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) ^ seed }
}

struct BytesSource: ObjectSource {
    var bytes: [UInt8]
    var size: Int64 { Int64(bytes.count) }
    func read(_ range: Range<Int64>) async throws -> [UInt8] {
        Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }
}

/// A file that is removed with its last reference.
final class TemporaryFile: Sendable {
    let path: String

    init(_ content: String) throws {
        path = NSTemporaryDirectory() + "strata-s3-" + UUID().uuidString
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
    }

    func write(_ content: String) throws { try Data(content.utf8).write(to: URL(fileURLWithPath: path)) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
