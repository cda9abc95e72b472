import Foundation
import StrataObjectStore
import Testing

@testable import StrataS3

/// Connections are used again: a new one takes a round trip, and more with TLS.
struct ConnectionTests {
    @Test func oneConnectionServesRequestsOfAllKindsOneAfterTheOther() async throws {
        let bytes = pattern(3_000)
        let digest = ObjectDigest(of: bytes)
        let headers = ["ETag": "\"e\"", S3ObjectStore.digestHeader: digest.hexadecimal]
        let server = MischievousServer { call in
            switch call.method {
            case "HEAD": .head(200, headers.merging(["Content-Length": "3000"]) { $1 })
            case "GET": .answer(200, headers, bytes)
            case "PUT": .answer(200, headers)
            default: .answer(204)
            }
        }
        let store = try server.store()
        for number in 0..<10 {
            _ = try await store.put("key \(number)", bytes, digest: digest, if: .absent)
            #expect(try await store.head("key")?.size == 3_000)
            #expect(try await store.get("key", range: nil).bytes == bytes)
        }
        #expect(server.calls.count == 30)
        #expect(server.connections == 1)
        await store.shutdown()
        server.stop()
    }
}
