import Foundation
import StrataObjectStore
import StrataTestKit
import Synchronization
import Testing

@testable import StrataS3

/// Uploads in parts to a server that misbehaves.
struct UploadTests {

    /// A server of uploads that keeps parts, and does something else where it is told to.
    private final class Uploads: Sendable {
        let parts = Mutex<[Int: Int]>([:])
        let aborted = Mutex(0)
        let begun = Mutex(0)

        func server(
            _ mischief: @escaping @Sendable (MischievousServer.Call) -> MischievousServer.Reply?
        ) -> MischievousServer {
            MischievousServer { call in
                if let reply = mischief(call) { return reply }
                switch (call.method, call.query) {
                case ("POST", "uploads="):
                    self.begun.withLock { $0 += 1 }
                    let root = "InitiateMultipartUploadResult"
                    return .answer(200, [:], Array("<\(root)><UploadId>u</UploadId></\(root)>".utf8))
                case ("PUT", _):
                    let number = Int(call.query.dropFirst("partNumber=".count).prefix { $0 != "&" }) ?? 0
                    self.parts.withLock { $0[number] = call.body.count }
                    return .answer(200, ["ETag": "\"p\(number)\""])
                case ("DELETE", "uploadId=u"):
                    self.aborted.withLock { $0 += 1 }
                    return .answer(204)
                case ("POST", "uploadId=u"):
                    let root = "CompleteMultipartUploadResult"
                    return .answer(200, [:], Array("<\(root)><ETag>&quot;whole&quot;</ETag></\(root)>".utf8))
                default: return .answer(500)
                }
            }
        }
    }

    private static let size = 12 << 20
    private let content = [UInt8](repeating: 9, count: UploadTests.size)

    private func upload(
        _ uploads: Uploads, _ mischief: @escaping @Sendable (MischievousServer.Call) -> MischievousServer.Reply?
    ) async -> (Result<ObjectInfo, ObjectStoreError>, MischievousServer) {
        let server = uploads.server(mischief)
        guard let store = try? server.store(deadline: .seconds(5), change: { $0.partSize = 5 << 20 }) else {
            return (.failure(.cancelled), server)
        }
        let result: Result<ObjectInfo, ObjectStoreError>
        do throws(ObjectStoreError) {
            result = .success(
                try await store.upload(
                    "key", from: ObjectBytes(content), digest: ObjectDigest(of: content), if: .absent))
        } catch {
            result = .failure(error)
        }
        await store.shutdown()
        return (result, server)
    }

    @Test func partsAreSentAgainAndPutTogether() async throws {
        let uploads = Uploads()
        let isFirst = Mutex(true)
        let (result, server) = await upload(uploads) { call in
            guard call.query.hasPrefix("partNumber=2") else { return nil }
            return isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? .drop : nil
            }
        }
        #expect(try result.get().tag == "\"whole\"")
        #expect(uploads.parts.withLock { $0 } == [1: 5 << 20, 2: 5 << 20, 3: 2 << 20])
        #expect(uploads.aborted.withLock { $0 } == 0)
        let last = try #require(server.calls.last)
        #expect(last.headers["if-none-match"] == "*")
        #expect(
            String(decoding: last.body, as: UTF8.self).contains(
                "<Part><PartNumber>1</PartNumber><ETag>&quot;p1&quot;</ETag></Part><Part><PartNumber>2</PartNumber>"))
    }

    @Test func anUploadThatFailsIsAborted() async throws {
        let uploads = Uploads()
        let (result, _) = await upload(uploads) { call in
            call.query.hasPrefix("partNumber=3") ? .error(403, "AccessDenied") : nil
        }
        guard case .failure(.denied) = result else { throw ObjectStoreError.cancelled }
        #expect(uploads.aborted.withLock { $0 } == 1)
    }

    /// An answer that begins with 200 and ends with an error.
    @Test func anErrorThatComesLateIsOne() async throws {
        let uploads = Uploads()
        let tries = Mutex(0)
        let (result, _) = await upload(uploads) { call in
            guard call.method == "POST", call.query == "uploadId=u" else { return nil }
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            return number == 1
                ? .answer(200, [:], Array("<Error><Code>InternalError</Code><Message>x</Message></Error>".utf8)) : nil
        }
        #expect(try result.get().tag == "\"whole\"")
        #expect(tries.withLock { $0 } == 2)
    }

    @Test func aConflictBeginsTheUploadAnew() async throws {
        let uploads = Uploads()
        let tries = Mutex(0)
        let (result, _) = await upload(uploads) { call in
            guard call.method == "POST", call.query == "uploadId=u" else { return nil }
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            return number <= 2 ? .error(409, "ConditionalRequestConflict") : nil
        }
        #expect(try result.get().size == Self.size)
        #expect(uploads.begun.withLock { $0 } == 3 && uploads.aborted.withLock { $0 } == 2)
    }

    /// The upload ended, the answer was lost, and the server does not know it any more.
    @Test(arguments: [true, false]) func anEndThatWasNotAnsweredIsFoundByItsDigest(isOurs: Bool) async throws {
        let uploads = Uploads()
        let tries = Mutex(0)
        let digest = ObjectDigest(of: isOurs ? content : [1])
        let (result, _) = await upload(uploads) { call in
            if call.method == "HEAD" {
                return .head(
                    200,
                    [
                        "ETag": "\"h\"", "Content-Length": "\(Self.size)",
                        "x-amz-meta-strata-sha256": digest.hexadecimal,
                    ])
            }
            guard call.method == "POST", call.query == "uploadId=u" else { return nil }
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            return number == 1 ? .drop : .error(404, "NoSuchUpload")
        }
        switch result {
        case .success(let info): #expect(isOurs && info.tag == "\"h\"")
        case .failure(.unanswered): #expect(!isOurs)
        case .failure(let error): throw error
        }
    }

    @Test func bytesThatDoNotHaveTheDigestAreNotUploaded() async throws {
        let uploads = Uploads()
        let server = uploads.server { _ in nil }
        let store = try server.store(change: { $0.partSize = 5 << 20 })
        let error = await #expect(throws: ObjectStoreError.self) {
            try await store.upload("key", from: ObjectBytes(content), digest: ObjectDigest(of: [1]), if: .always)
        }
        guard case .source? = error else { throw error ?? .cancelled }
        #expect(uploads.aborted.withLock { $0 } == 1)
        #expect(!server.calls.contains { $0.method == "POST" && $0.query == "uploadId=u" })
        await store.shutdown()
    }
}
