import Foundation
import StrataObjectStore
import StrataTestKit
import Testing

@testable import StrataS3

/// Servers that others have written, each started once for all of these tests.
@Suite(.serialized) struct ServerConformanceTests {
    /// What is left of these is removed with the server.
    private static let run = UUID().uuidString

    @Test(.enabled(if: TestServer.isThere(.seaweed)), arguments: ObjectStoreConformance.Check.allCases)
    func seaweedPasses(_ check: ObjectStoreConformance.Check) async throws {
        try await run(check, on: .seaweed)
    }

    @Test(.enabled(if: TestServer.isThere(.moto)), arguments: ObjectStoreConformance.Check.allCases)
    func motoPasses(_ check: ObjectStoreConformance.Check) async throws {
        try await run(check, on: .moto)
    }

    private func run(_ check: ObjectStoreConformance.Check, on kind: TestServer.Kind) async throws {
        let store = try await TestServer.shared(kind).store(prefix: "strata \(Self.run)") { $0.partSize = 5 << 20 }
        let traits: ObjectStoreConformance.Traits = kind == .seaweed ? [] : .all
        let suite = ObjectStoreConformance(store, folder: "conformance/", traits: traits, uploadSize: 11 << 20)
        try await suite.run(check)
        await store.shutdown()
    }

    @Test(.enabled(if: TestServer.isThere(.seaweed) && TestServer.isThere(.moto)), arguments: [TestServer.Kind.seaweed, .moto])
    func serversWithConditionsPassTheProbe(_ kind: TestServer.Kind) async throws {
        let store = try await TestServer.shared(kind).store(prefix: "probed")
        try await ConditionalWriteProbe.run(on: store)
        #expect(try await store.list(prefix: "", after: nil, limit: 10).objects.isEmpty)
        await store.shutdown()
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
