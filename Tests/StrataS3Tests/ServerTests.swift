import Foundation
import StrataObjectStore
import StrataTestKit
import Testing

@testable import StrataS3

/// What is left of these tests is removed with the servers.
private let run = UUID().uuidString

private func conform(to check: ObjectStoreConformance.Check, on kind: TestServer.Kind) async throws {
    let store = try await TestServer.shared(kind).store(prefix: "strata \(run)") { $0.partSize = 5 << 20 }
    // SeaweedFS keeps objects as files, and lists folders; moto takes any upload that is to replace something.
    let traits: ObjectStoreConformance.Traits = kind == .seaweed ? [.matchingUploads] : [.anyName, .byteOrder]
    let suite = ObjectStoreConformance(store, folder: "conformance/", traits: traits, uploadSize: 11 << 20)
    try await suite.run(check)
    await store.shutdown()
}

@Suite(.serialized) struct SeaweedConformanceTests {
    @Test(.enabled(if: TestServer.isThere(.seaweed)), arguments: ObjectStoreConformance.Check.allCases)
    func seaweedPasses(_ check: ObjectStoreConformance.Check) async throws {
        try await conform(to: check, on: .seaweed)
    }
}

@Suite(.serialized) struct MotoConformanceTests {
    @Test(.enabled(if: TestServer.isThere(.moto)), arguments: ObjectStoreConformance.Check.allCases)
    func motoPasses(_ check: ObjectStoreConformance.Check) async throws {
        try await conform(to: check, on: .moto)
    }
}

/// What servers have and have not, and how they are told.
struct ServerTests {
    @Test(
        .enabled(if: TestServer.isThere(.seaweed) && TestServer.isThere(.moto)),
        arguments: [TestServer.Kind.seaweed, .moto])
    func serversWithConditionsPassTheProbe(_ kind: TestServer.Kind) async throws {
        let store = try await TestServer.shared(kind).store(prefix: "probed")
        try await ConditionalWriteProbe.run(on: store)
        #expect(try await store.list(prefix: "", after: nil, limit: 10).objects.isEmpty)
        await store.shutdown()
    }

    /// What docs/object-stores.md shows; `GuideDocumentTests` holds that it shows nothing else.
    @Test(.disabled("compiled only: it needs a bucket of Amazon's"))
    func theDocumentsExampleCompiles() async throws {
        let bucket = try S3ObjectStore(url: "s3://backups/shop?region=eu-central-1")
        try await ConditionalWriteProbe.run(on: bucket)
        await bucket.shutdown()
    }

    /// Both of two writers win there.
    @Test(.enabled(if: TestServer.isThere(.rclone)))
    func aServerWithoutConditionsFailsTheProbe() async throws {
        let store = try await TestServer.shared(.rclone).store()
        let error = await #expect(throws: ObjectStoreError.self) { try await ConditionalWriteProbe.run(on: store) }
        guard case .unsupported(_, let message)? = error else { throw error ?? .cancelled }
        #expect(message.contains("If-None-Match"))
        await store.shutdown()
    }

    @Test(.enabled(if: TestServer.isThere(.seaweed)))
    func authoritiesOfAFileAreTrustedAndNoOthers() async throws {
        let plain = try await TestServer.shared(.seaweed).store()
        var configuration = plain.caller.configuration
        await plain.shutdown()
        configuration.endpoint = "https://localhost:\(await TestServer.shared(.seaweed).tlsPort)"
        let file = try TemporaryFile(TestCertificates.authority)
        configuration.certificateAuthorities = file.path
        let trusting = try S3ObjectStore(configuration, credentials: StaticCredentials(TestServer.keys))
        let bytes: [UInt8] = [1, 2, 3]
        _ = try await trusting.put("over TLS", bytes, digest: ObjectDigest(of: bytes), if: .always)
        #expect(try await trusting.get("over TLS", range: nil).bytes == bytes)
        await trusting.shutdown()

        configuration.certificateAuthorities = nil
        let other = try S3ObjectStore(configuration, credentials: StaticCredentials(TestServer.keys))
        let error = await #expect(throws: ObjectStoreError.self) { try await other.get("over TLS", range: nil) }
        guard case .unavailable(_, let message)? = error else { throw error ?? .cancelled }
        #expect(message.contains("TLS"))
        await other.shutdown()
    }

    @Test(.enabled(if: TestServer.isThere(.seaweed)))
    func seaweedRefusesAWrongSecret() async throws {
        let right = try await TestServer.shared(.seaweed).store()
        let wrong = try S3ObjectStore(
            right.caller.configuration,
            credentials: StaticCredentials(
                S3Credentials(accessKeyID: TestServer.keys.accessKeyID, secretAccessKey: "anotherSecret")))
        let error = await #expect(throws: ObjectStoreError.self) { try await wrong.get("key", range: nil) }
        guard case .denied? = error else { throw error ?? .cancelled }
        #expect(error.map { !"\($0)".contains("anotherSecret") } == true)
        await right.shutdown()
        await wrong.shutdown()
    }
}
