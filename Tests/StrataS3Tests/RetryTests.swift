import Foundation
import StrataObjectStore
import Synchronization
import Testing

@testable import StrataS3

/// What becomes of requests to a server that misbehaves.
struct RetryTests {
    static let ok: [String: String] = ["ETag": "\"t\""]
    private let bytes = pattern(1000)
    private var digest: ObjectDigest { ObjectDigest(of: bytes) }
    private var full: [String: String] { Self.ok.merging(["x-amz-meta-strata-sha256": digest.hexadecimal]) { $1 } }

    private func failure(_ call: () async throws(ObjectStoreError) -> some Any) async -> ObjectStoreError? {
        do throws(ObjectStoreError) {
            _ = try await call()
            return nil
        } catch {
            return error
        }
    }

    /// What goes wrong once, and goes well when it is tried again.
    enum Passing: CaseIterable, Sendable {
        case drop, half, error500, error502, error503, error504, slowDown, tooMany, timeout, conflict, slow, trickle
        case garbage, incomplete

        func reply(_ body: [UInt8]) -> MischievousServer.Reply {
            switch self {
            case .drop: .drop
            case .half: .half(200, RetryTests.ok, body)
            case .error500: .error(500, "InternalError")
            case .error502: .answer(502, [:], Array("<html>Bad gateway</html>".utf8))
            case .error503: .answer(503)
            case .error504: .answer(504)
            case .slowDown: .error(503, "SlowDown")
            case .tooMany: .error(429, "TooManyRequests")
            case .timeout: .error(400, "RequestTimeout")
            case .conflict: .error(409, "OperationAborted")
            case .slow: .slow(120, 200, RetryTests.ok, body)
            case .trickle: .trickle(0.01, 200, RetryTests.ok, body)
            case .garbage: .raw("SSH-2.0-OpenSSH\r\n\r\n")
            case .incomplete: .raw("HTTP/1.1 200 OK\r\nContent-Le")
            }
        }
    }

    @Test(arguments: Passing.allCases)
    func readsAreTriedAgain(_ passing: Passing) async throws {
        let server = MischievousServer { [bytes, full] call in
            call.number == 0 ? passing.reply(bytes) : .answer(200, full, bytes)
        }
        let store = try server.store(attempt: .seconds(2))
        let found = try await store.get("key", range: nil)
        #expect(found.bytes == bytes && found.info.digest == digest)
        #expect(server.calls.count >= 2)
        await store.shutdown()
    }

    @Test(arguments: Passing.allCases)
    func writesAreTriedAgain(_ passing: Passing) async throws {
        let server = MischievousServer { call in call.number == 0 ? passing.reply([1]) : .answer(200, Self.ok) }
        let store = try server.store(attempt: .seconds(2))
        let written = try await store.put("key", bytes, digest: digest, if: .absent)
        #expect(written.tag == "\"t\"" && written.size == 1000)
        // What has all come, if late, has come.
        #expect(server.calls.count >= (passing == .trickle ? 1 : 2))
        for call in server.calls {
            #expect(call.body == bytes)
            #expect(call.headers["if-none-match"] == "*")
            #expect(call.headers["x-amz-content-sha256"] == digest.hexadecimal)
            #expect(call.headers["content-length"] == "1000")
            #expect(call.headers["transfer-encoding"] == nil && call.headers["x-amz-trailer"] == nil)
        }
        await store.shutdown()
    }

    @Test func retryAfterIsKeptTo() async throws {
        let server = MischievousServer { call in
            call.number == 0 ? .error(503, "SlowDown", ["Retry-After": "1"]) : .answer(200, Self.ok)
        }
        let store = try server.store()
        _ = try await store.put("key", bytes, digest: digest, if: .always)
        let calls = server.calls
        #expect(calls.count == 2)
        #expect(calls[0].time.duration(to: calls[1].time) >= .seconds(1))
        await store.shutdown()
    }

    @Test func aRetryAfterThatIsTooLongEndsItAtOnce() async throws {
        let server = MischievousServer { _ in .error(503, "SlowDown", ["Retry-After": "3600"]) }
        let store = try server.store()
        let start = ContinuousClock.now
        let error = await failure { () async throws(ObjectStoreError) in
            try await store.put("key", bytes, digest: digest, if: .always)
        }
        guard case .unavailable("key", let message) = error else { throw error ?? .cancelled }
        #expect(message.contains("503 SlowDown: no luck"))
        #expect(start.duration(to: .now) < .seconds(60) && server.calls.count == 1)
        await store.shutdown()
    }

    @Test func pausesGrowWithJitterAndHaveAnEnd() {
        let policy = RetryPolicy(deadline: .seconds(60))
        for failures in 1...80 {
            let pauses = (0..<200).map { _ in policy.pause(after: failures, retryAfter: nil) }
            let ceiling = min(Duration.seconds(10), .milliseconds(100) * (1 << min(failures - 1, 10)))
            #expect(pauses.allSatisfy { $0 >= .zero && $0 <= ceiling })
            #expect(pauses.max()! > ceiling * 0.8 && pauses.min()! < ceiling * 0.2)
        }
        #expect(policy.pause(after: 1, retryAfter: .seconds(7)) >= .seconds(7))
        #expect(policy.pause(after: 30, retryAfter: .seconds(7)) <= .seconds(8))
    }

    @Test(.timeLimit(.minutes(2))) func whatNeverWorksEndsAtTheDeadline() async throws {
        let server = MischievousServer { _ in .error(500, "InternalError") }
        let store = try server.store(deadline: .seconds(1))
        let read = await failure { () async throws(ObjectStoreError) in try await store.get("key", range: nil) }
        guard case .unavailable = read else { throw read ?? .cancelled }
        #expect(!server.calls.isEmpty)
        await store.shutdown()
    }

    @Test func aServerThatIsNotThereIsSaidToBe() async throws {
        let port = MischievousServer.freePort()
        var configuration = S3Configuration(bucket: "bucket", endpoint: "http://127.0.0.1:\(port)")
        configuration.retryDeadline = .milliseconds(100)
        let connections = S3Connections(connectTimeout: .milliseconds(500))
        let store = try S3ObjectStore(
            configuration, credentials: StaticCredentials(testKeys), connections: connections)
        let error = await failure { () async throws(ObjectStoreError) in
            try await store.put("key", bytes, digest: digest, if: .always)
        }
        // Not `unanswered`: nobody has seen the request.
        guard case .unavailable = error else { throw error ?? .cancelled }
        await connections.shutdown()
        let late = await failure { () async throws(ObjectStoreError) in try await store.head("key") }
        guard case .unavailable(_, let message) = late else { throw late ?? .cancelled }
        #expect(message.contains("shut down"))
    }

    /// The write is carried out, its answer lost, and the next try meets what it wrote.
    @Test(arguments: [true, false], [PutCondition.absent, .matching("\"old\"")])
    func aWriteThatMeetsItselfHasSucceeded(isOurs: Bool, condition: PutCondition) async throws {
        let other = isOurs ? digest : ObjectDigest(of: [1])
        let server = MischievousServer { call in
            if call.method == "HEAD" {
                return .head(
                    200,
                    ["ETag": "\"new\"", "Content-Length": "1000", "x-amz-meta-strata-sha256": other.hexadecimal])
            }
            return call.number == 0 ? .drop : .error(412, "PreconditionFailed")
        }
        let store = try server.store()
        let error = await failure { () async throws(ObjectStoreError) in
            let written = try await store.put("key", bytes, digest: digest, if: condition)
            #expect(written.tag == "\"new\"")
            return written
        }
        #expect(error == (isOurs ? nil : .preconditionFailed(key: "key")))
        #expect(server.calls.map(\.method) == ["PUT", "PUT", "HEAD"])
        await store.shutdown()
    }

    @Test func aConditionThatDoesNotHoldAtOnceIsNotLookedInto() async throws {
        let server = MischievousServer { _ in .error(412, "PreconditionFailed") }
        let store = try server.store()
        let error = await failure { () async throws(ObjectStoreError) in
            try await store.put("key", bytes, digest: digest, if: .absent)
        }
        #expect(error == .preconditionFailed(key: "key") && server.calls.count == 1)
        await store.shutdown()
    }

    @Test func aWriteThatIsNeverAnsweredIsFoundAllTheSame() async throws {
        let isThere = Mutex(false)
        let server = MischievousServer { [digest] call in
            guard call.method == "HEAD" else { return .drop }
            return isThere.withLock { $0 }
                ? .head(
                    200, ["ETag": "\"n\"", "Content-Length": "1000", "x-amz-meta-strata-sha256": digest.hexadecimal])
                : .head(404, [:])
        }
        let store = try server.store(deadline: .milliseconds(300))
        let error = await failure { () async throws(ObjectStoreError) in
            try await store.put("key", bytes, digest: digest, if: .absent)
        }
        guard case .unanswered("key", _) = error else { throw error ?? .cancelled }
        isThere.withLock { $0 = true }
        #expect(try await store.put("key", bytes, digest: digest, if: .absent).tag == "\"n\"")
        await store.shutdown()
    }

    /// Whatever comes after it, a write that may have been carried out is never said not to have been.
    @Test(arguments: [(403, "AccessDenied"), (400, "InvalidArgument"), (403, "InvalidAccessKeyId"), (503, "SlowDown")])
    func aWriteThatMayBeDoneIsNotSaidToHaveFailed(_ status: Int, _ code: String) async throws {
        let server = MischievousServer { call in
            call.method == "HEAD" ? .head(404, [:]) : call.number == 0 ? .drop : .error(status, code)
        }
        let store = try server.store(deadline: .milliseconds(500))
        let error = await failure { () async throws(ObjectStoreError) in
            try await store.put("key", bytes, digest: digest, if: .absent)
        }
        guard case .unanswered("key", _) = error else { throw error ?? .cancelled }
        await store.shutdown()
    }

    @Test func conflictsBetweenConditionalWritesAreTriedAgain() async throws {
        let server = MischievousServer { call in
            call.number < 2 ? .error(409, "ConditionalRequestConflict") : .answer(200, Self.ok)
        }
        let store = try server.store()
        _ = try await store.put("key", bytes, digest: digest, if: .matching("\"x\""))
        #expect(server.calls.count == 3 && server.calls.allSatisfy { $0.headers["if-match"] == "\"x\"" })
        await store.shutdown()
    }

    @Test func theClockIsSetByTheServersOnce() async throws {
        let server = MischievousServer { call in
            let isRight = call.headers["x-amz-date"]?.hasPrefix("20261129T01") == true
            return isRight
                ? .answer(200, Self.ok) : .error(403, "RequestTimeTooSkewed", ["Date": "Sun, 29 Nov 2026 01:02:03 GMT"])
        }
        // An hour and more behind; and it does not run.
        let store = try server.store(clock: { 1_795_900_000 })
        _ = try await store.put("key", bytes, digest: digest, if: .always)
        _ = try await store.put("key", bytes, digest: digest, if: .always)
        #expect(server.calls.count == 3)
        await store.shutdown()
    }

    @Test func aServerThatNeverLikesTheTimeIsTurnedFrom() async throws {
        let server = MischievousServer { _ in
            .error(403, "RequestTimeTooSkewed", ["Date": "Sun, 29 Nov 2026 01:02:03 GMT"])
        }
        let store = try server.store(clock: { 1_000_000_000 })
        let error = await failure { () async throws(ObjectStoreError) in try await store.get("key", range: nil) }
        guard case .denied(_, let message) = error else { throw error ?? .cancelled }
        #expect(message.contains("RequestTimeTooSkewed") && server.calls.count == 2)
        await store.shutdown()
    }

    /// The answer to HEAD has no body, so that only its date tells.
    @Test func headsAreSignedAnewForTheServersClock() async throws {
        let server = MischievousServer { call in
            call.headers["x-amz-date"]?.hasPrefix("20261129") == true
                ? .head(200, ["ETag": "\"t\"", "Content-Length": "5"])
                : .head(403, ["Date": "Sun, 29 Nov 2026 01:02:03 GMT"])
        }
        let store = try server.store(clock: { 1_000_000_000 })
        #expect(try await store.head("key")?.size == 5)
        await store.shutdown()
    }

    @Test func requestsFollowTheBucketToItsRegion() async throws {
        let server = MischievousServer { call in
            call.headers["authorization"]?.contains("/eu-west-3/s3/") == true
                ? .answer(200, Self.ok)
                : .error(
                    call.number == 0 ? 301 : 400,
                    call.number == 0 ? "PermanentRedirect" : "AuthorizationHeaderMalformed",
                    ["x-amz-bucket-region": "eu-west-3"])
        }
        let store = try server.store()
        _ = try await store.put("key", bytes, digest: digest, if: .always)
        _ = try await store.put("key", bytes, digest: digest, if: .always)
        #expect(server.calls.count == 3)
        await store.shutdown()
    }

    @Test func redirectionsElsewhereAreErrors() async throws {
        let server = MischievousServer { _ in .error(307, "TemporaryRedirect", ["Location": "http://127.0.0.1:1/"]) }
        let store = try server.store()
        let error = await failure { () async throws(ObjectStoreError) in try await store.get("key", range: nil) }
        guard case .unsupported(_, let message) = error else { throw error ?? .cancelled }
        #expect(message.contains("another address") && server.calls.count == 1)
        await store.shutdown()
    }

    @Test(arguments: [
        (403, "AccessDenied"), (404, "NoSuchBucket"), (404, "NoSuchKey"), (400, "InvalidArgument"),
        (501, "NotImplemented"), (405, "MethodNotAllowed"), (403, "SignatureDoesNotMatch"),
    ])
    func errorsThatStayAreNotTriedAgain(_ status: Int, _ code: String) async throws {
        let server = MischievousServer { _ in .error(status, code) }
        let store = try server.store()
        let error = await failure { () async throws(ObjectStoreError) in try await store.get("key", range: nil) }
        switch (status, code) {
        case (403, _): guard case .denied = error else { throw error ?? .cancelled }
        case (404, "NoSuchKey"): #expect(error == .notFound(key: "key"))
        default: guard case .unsupported = error else { throw error ?? .cancelled }
        }
        #expect(server.calls.count == 1)
        if code != "NoSuchKey" { #expect(error.map { "\($0)".contains(code) } == true) }
        await store.shutdown()
    }

    @Test func objectsThatAreNotWhatWasWrittenAreDamaged() async throws {
        let server = MischievousServer { [full] call in
            switch call.path {
            case "/bucket/flipped": .answer(200, full, pattern(1000, seed: 8))
            case "/bucket/other":
                .answer(206, Self.ok.merging(["Content-Range": "bytes 5-9/1000"]) { $1 }, pattern(5))
            case "/bucket/short":
                .answer(206, Self.ok.merging(["Content-Range": "bytes 0-9/1000"]) { $1 }, pattern(5))
            case "/bucket/digest": .answer(200, Self.ok.merging(["x-amz-meta-strata-sha256": "no"]) { $1 }, [1])
            case "/bucket/tagless": .answer(200, [:], [1])
            default: .answer(206, Self.ok, [1])
            }
        }
        let store = try server.store()
        for (key, range) in [
            ("flipped", nil), ("other", 0..<10), ("short", 0..<10), ("digest", nil), ("tagless", nil), ("bare", 0..<1),
        ] as [(String, Range<Int64>?)] {
            let error = await failure { () async throws(ObjectStoreError) in try await store.get(key, range: range) }
            guard case .damaged(key, _) = error else {
                Issue.record("\(key): \(String(describing: error))")
                continue
            }
        }
        await store.shutdown()
    }

    @Test func bytesThatAreGarbledOnTheirWayAreSentAgain() async throws {
        let server = MischievousServer { call in
            call.number == 0 ? .error(400, "XAmzContentSHA256Mismatch") : .answer(200, Self.ok)
        }
        let store = try server.store()
        _ = try await store.put("key", bytes, digest: digest, if: .always)
        #expect(server.calls.count == 2)
        let bad = MischievousServer { _ in .error(400, "BadDigest") }
        let other = try bad.store()
        let error = await failure { () async throws(ObjectStoreError) in
            try await other.put("key", bytes, digest: digest, if: .always)
        }
        guard case .damaged = error else { throw error ?? .cancelled }
        #expect(bad.calls.count == 3)
        await store.shutdown()
        await other.shutdown()
    }

    @Test func rangesThatAServerDoesNotKnowAreCut() async throws {
        let server = MischievousServer { [bytes, full] _ in .answer(200, full, bytes) }
        let store = try server.store()
        #expect(try await store.get("key", range: 10..<20).bytes == Array(bytes[10..<20]))
        #expect(try await store.get("key", range: 990..<2000).bytes == Array(bytes[990...]))
        let error = await failure { () async throws(ObjectStoreError) in
            try await store.get("key", range: 1000..<1001)
        }
        #expect(error == .rangeNotSatisfiable(key: "key", size: 1000))
        await store.shutdown()
    }

    @Test func cancellingEndsARequestAtOnce() async throws {
        let server = MischievousServer { _ in .slow(90, 200, Self.ok, []) }
        let store = try server.store(attempt: .seconds(100))
        let start = ContinuousClock.now
        let task = Task {
            await failure { () async throws(ObjectStoreError) in try await store.get("key", range: nil) }
        }
        while server.calls.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(start.duration(to: .now) < .seconds(60))
        await store.shutdown()
    }

    @Test func noMoreRequestsThanAllowedAreUnderWay() async throws {
        let active = Mutex((now: 0, most: 0))
        let server = MischievousServer { _ in
            active.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            Thread.sleep(forTimeInterval: 0.02)
            active.withLock { $0.now -= 1 }
            return .head(404, [:])
        }
        let store = try server.store(change: { $0.mostRequests = 3 })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 { group.addTask { _ = try await store.head("key\(number)") } }
            try await group.waitForAll()
        }
        #expect(active.withLock { $0.most } == 3)
        #expect(server.calls.count == 40)
        await store.shutdown()
    }

    @Test func whoeverWaitsForATurnMayGiveUp() async throws {
        let gate = RequestGate(limit: 1)
        #expect(await gate.enter())
        let tasks = (0..<50).map { _ in Task { await gate.enter() } }
        for task in tasks.dropLast() { task.cancel() }
        for task in tasks.dropLast() { #expect(await task.value == false) }
        gate.leave()
        #expect(await tasks.last!.value)
        gate.leave()
        #expect(await gate.enter())
    }

    @Test(arguments: ["a b+c~d//e=f&g%h", "übung/日本/😀", "/first", "last/", "(a)!*,;:@$'"])
    func keysAreSentAsTheyWereSigned(_ key: String) async throws {
        let server = MischievousServer { _ in .answer(200, Self.ok) }
        let store = try server.store(prefix: "pre fix")
        _ = try await store.put(key, bytes, digest: digest, if: .always)
        #expect(
            server.calls[0].path == "/bucket/pre%20fix/" + URIEncoding.encoded(key, keepsSlashes: true))
        await store.shutdown()
    }

    @Test func queriesAreSentAsTheyWereSigned() async throws {
        let server = MischievousServer { _ in
            .answer(200, [:], Array("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>".utf8))
        }
        let store = try server.store()
        _ = try await store.list(prefix: "a b+ü", after: "a b+ü/&=", limit: 5000)
        #expect(
            server.calls[0].query
                == "list-type=2&max-keys=1000&prefix=a%20b%2B%C3%BC&start-after=a%20b%2B%C3%BC%2F%26%3D")
        #expect(server.calls[0].path == "/bucket")
        await store.shutdown()
    }

    @Test(arguments: ["", "a/../b", "..", "a/.", "nul\u{0}", String(repeating: "x", count: 1021)])
    func keysThatNoServerTakesAreSentToNone(_ key: String) async throws {
        let server = MischievousServer { _ in .answer(200, Self.ok) }
        let store = try server.store(prefix: "pre/")
        let error = await failure { () async throws(ObjectStoreError) in try await store.head(key) }
        guard case .unsupported = error else { throw error ?? .cancelled }
        let removal = await failure { () async throws(ObjectStoreError) in try await store.delete(["a", key]) }
        guard case .unsupported = removal else { throw removal ?? .cancelled }
        #expect(server.calls.isEmpty)
        await store.shutdown()
    }

    @Test func listsGoOnWhereAServerCutsThemBeforeTheFirstObject() async throws {
        let server = MischievousServer { call in
            let rest =
                call.query.contains("continuation-token=n%2F1")
                ? "<IsTruncated>false</IsTruncated><Contents><Key>p/k</Key><ETag>e</ETag><Size>1</Size></Contents>"
                : "<IsTruncated>true</IsTruncated><NextContinuationToken>n/1</NextContinuationToken>"
            return .answer(200, [:], Array("<ListBucketResult>\(rest)</ListBucketResult>".utf8))
        }
        let store = try server.store(prefix: "p")
        let page = try await store.list(prefix: "", after: nil, limit: 10)
        #expect(page.objects.map(\.key) == ["k"] && !page.isTruncated)
        await store.shutdown()
    }

    @Test(arguments: ["b a", "a a", "c"])
    func listsOutOfOrderAreRefused(_ keys: String) async throws {
        let entries = keys.split(separator: " ")
            .map { "<Contents><Key>\($0)</Key><ETag>e</ETag><Size>1</Size></Contents>" }.joined()
        let server = MischievousServer { _ in
            .answer(
                200, [:],
                Array("<ListBucketResult><IsTruncated>false</IsTruncated>\(entries)</ListBucketResult>".utf8))
        }
        let store = try server.store()
        let after = keys == "c" ? "d" : nil
        let error = await failure { () async throws(ObjectStoreError) in
            try await store.list(prefix: "", after: after, limit: 10)
        }
        guard case .unsupported = error else { throw error ?? .cancelled }
        await store.shutdown()
    }

    @Test func removalsGoInBatchesWhereThereAreAny() async throws {
        let keys = (0..<1500).map { "k&\($0)" }
        let server = MischievousServer { call in
            call.method == "POST" ? .answer(200, [:], Array("<DeleteResult/>".utf8)) : .answer(204)
        }
        let store = try server.store()
        try await store.delete(keys)
        #expect(server.calls.map(\.method) == ["POST", "POST"])
        let body = String(decoding: server.calls[1].body, as: UTF8.self)
        #expect(body.contains("<Key>k&amp;1000</Key>") && body.contains("<Key>k&amp;1499</Key>"))
        #expect(server.calls[0].headers["content-md5"]?.count == 24)
        await store.shutdown()
    }

    @Test(arguments: [501, 405])
    func removalsGoOneByOneWhereThereAreNoBatches(_ status: Int) async throws {
        let server = MischievousServer { call in
            call.method == "POST" ? .error(status, "NotImplemented") : .answer(204)
        }
        let store = try server.store()
        try await store.delete((0..<40).map { "k\($0)" })
        #expect(server.calls.count { $0.method == "DELETE" } == 40)
        #expect(Set(server.calls.dropFirst().map(\.path)).count == 40)
        await store.shutdown()
    }

    @Test func whatCouldNotBeRemovedIsSaid() async throws {
        let server = MischievousServer { call in
            call.method == "DELETE"
                ? .answer(204)
                : .answer(
                    200, [:],
                    Array(
                        """
                        <DeleteResult><Error><Key>k1</Key><Code>InternalError</Code></Error>\
                        <Error><Key>k2</Key><Code>NoSuchKey</Code></Error>\
                        \(call.number == 0 ? "" : "<Error><Key>k3</Key><Code>AccessDenied</Code></Error>")\
                        </DeleteResult>
                        """.utf8))
        }
        let store = try server.store()
        try await store.delete(["k1", "k2", "k3"])
        #expect(server.calls.map(\.method) == ["POST", "DELETE"] && server.calls[1].path == "/bucket/k1")
        let error = await failure { () async throws(ObjectStoreError) in try await store.delete(["k1", "k2", "k3"]) }
        guard case .denied("k3", _) = error else { throw error ?? .cancelled }
        await store.shutdown()
    }
}
