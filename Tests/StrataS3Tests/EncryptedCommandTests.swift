import Foundation
import Strata
import StrataObjectStore
import Testing

@testable import StrataS3

/// `strata ship`, `backup --to` and `restore` with keys, in processes of their own.
@Suite(.serialized) struct EncryptedCommandTests {
    private static let first = String(repeating: "1a", count: 32)
    private static let second = String(repeating: "2b", count: 32)

    private struct Answer {
        let code: Int32
        let output: String
        let messages: String

        /// Of the record that was printed.
        subscript(name: String) -> Int? {
            let record = try? JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
            return record?[name] as? Int
        }
    }

    /// A folder with a store of books, a bucket and keys.
    private final class Place {
        let folder: URL
        let writer: NSPersistentContainer

        init() async throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "strata-keys-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            writer = try FollowTests.container(
                NSPersistentStoreDescription(url: folder.appendingPathComponent("library")))
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
        var store: String { path("library") }
        var bucket: String { "file://" + path("bucket") }

        /// A file of keys, by number.
        func keys(_ name: String, _ keys: KeyValuePairs<Int, String>) throws -> String {
            let text = keys.map { "\($0.key) \($0.value)\n" }.joined()
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
            return path(name)
        }

        /// Starts the command, which lies beside the tests.
        func start(_ arguments: [String], _ environment: [String: String], _ name: String) throws -> Process {
            let tests =
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
                ?? CommandLine.arguments[0]
            let process = Process()
            process.executableURL = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(
                "strata")
            process.arguments = arguments
            // Keys of whoever runs the tests are none of theirs.
            process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "STRATA_KEYS" }
                .merging(environment) { $1 }
            for suffix in ["output", "messages"] {
                try Data().write(to: URL(fileURLWithPath: path("\(name)-\(suffix)")))
            }
            process.standardOutput = try FileHandle(forWritingTo: folder.appendingPathComponent("\(name)-output"))
            process.standardError = try FileHandle(forWritingTo: folder.appendingPathComponent("\(name)-messages"))
            process.standardInput = FileHandle.nullDevice
            try process.run()
            return process
        }

        func answer(_ process: Process, _ name: String) throws -> Answer {
            process.waitUntilExit()
            func text(_ suffix: String) throws -> String {
                String(decoding: try Data(contentsOf: URL(fileURLWithPath: path("\(name)-\(suffix)"))), as: UTF8.self)
            }
            return Answer(
                code: process.terminationStatus, output: try text("output"), messages: try text("messages"))
        }

        func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Answer {
            let name = UUID().uuidString
            return try answer(try start(arguments + ["-f", "json"], environment, name), name)
        }

        func count(in name: String) async throws -> Int {
            try await FollowTests.count(
                try FollowTests.container(NSPersistentStoreDescription(url: folder.appendingPathComponent(name))))
        }

        /// Whether a text is somewhere in the bucket.
        func isInBucket(_ text: String) throws -> Bool {
            let names = try FileManager.default.subpathsOfDirectory(atPath: path("bucket"))
            return names.contains { name in
                (FileManager.default.contents(atPath: path("bucket/\(name)")) ?? Data()).range(of: Data(text.utf8))
                    != nil
            }
        }

        /// A restore is refused, names what is missing, shows no key, and leaves nothing behind.
        func isRefused(_ message: String, _ arguments: [String], environment: [String: String] = [:]) throws {
            let name = UUID().uuidString
            let answer = try answer(
                try start(["restore", bucket, path("refused")] + arguments, environment, name), name)
            #expect(answer.code == 1 && answer.messages.contains(message), "\(answer.messages)")
            #expect(!answer.messages.contains(EncryptedCommandTests.first))
            #expect(!FileManager.default.fileExists(atPath: path("refused")))
        }
    }

    @Test func aStoreIsShippedAndRestoredWithKeys() async throws {
        let place = try await Place()
        try await FollowTests.add(1...20, place.writer)
        let keys = try place.keys("keys", [1: Self.first])
        let shipped = try place.run("ship", place.store, place.bucket, "--once", "--key-file", keys)
        #expect(shipped.code == 0, "\(shipped.messages)")
        let transaction = try #require(shipped["transaction"])
        #expect(try !place.isInBucket("Book") && !place.isInBucket(Self.first))
        let plan = try place.run("restore", place.bucket, place.path("copy"), "--dry-run", "--key-file", keys)
        #expect(plan.code == 0 && plan["transaction"] == transaction, "\(plan.messages)")
        let restored = try place.run("restore", place.bucket, place.path("copy"), "--key-file", keys)
        #expect(restored.code == 0 && restored["transaction"] == transaction, "\(restored.messages)")
        #expect(try await place.count(in: "copy") == 20)
        // The same keys from the environment.
        let again = try place.run(
            "restore", place.bucket, place.path("again"), environment: ["STRATA_KEYS": "1 \(Self.first)\n"])
        #expect(again.code == 0, "\(again.messages)")
        #expect(try await place.count(in: "again") == 20)

        try place.isRefused("no keys were given", [])
        try place.isRefused("no keys were given", [], environment: ["STRATA_KEYS": ""])
        try place.isRefused("another key 1", ["--key-file", try place.keys("wrong", [1: Self.second])])
        try place.isRefused("there is no key 1", ["--key-file", try place.keys("missing", [2: Self.first])])
        try place.isRefused(place.path("nowhere"), ["--key-file", place.path("nowhere")])
        try place.isRefused("line 1", ["--key-file", try place.keys("broken", [0: Self.first])])
        try place.isRefused("STRATA_KEYS", [], environment: ["STRATA_KEYS": "1 \(Self.first)00"])

        // Who ships has to have them, too.
        for (arguments, message) in [
            ([], "no keys were given"), (["--key-file", place.path("wrong")], "another key 1"),
        ] {
            let name = UUID().uuidString
            let refused = try place.answer(
                try place.start(["ship", place.store, place.bucket, "--once"] + arguments, [:], name), name)
            #expect(refused.code == 1 && refused.messages.contains(message), "\(refused.messages)")
        }
        // A bucket that is not encrypted does not become so.
        let plain = "file://" + place.path("plain")
        #expect(try place.run("backup", place.store, "--to", plain).code == 0)
        let mixed = try place.run("backup", place.store, "--to", plain, "--key-file", keys)
        #expect(mixed.code == 1 && mixed.messages.contains("not encrypted"), "\(mixed.messages)")
    }

    @Test func keysAreRotated() async throws {
        let place = try await Place()
        try await FollowTests.add(1...5, place.writer)
        let (old, new) = (
            try place.keys("old", [1: Self.first]), try place.keys("new", [1: Self.first, 2: Self.second])
        )
        let first = try place.run("backup", place.store, "--to", place.bucket, "--key-file", old)
        #expect(first.code == 0, "\(first.messages)")
        try await FollowTests.add(1...3, place.writer)
        let second = try place.run("backup", place.store, "--to", place.bucket, "--key-file", new)
        #expect(second.code == 0, "\(second.messages)")
        let (before, after) = (try #require(first["transaction"]), try #require(second["transaction"]))
        #expect(before < after)
        for (transaction, count) in [(before, 5), (after, 8)] {
            let restored = try place.run(
                "restore", place.bucket, place.path("at \(transaction)"), "--at", "\(transaction)", "--key-file", new)
            #expect(restored.code == 0 && restored["transaction"] == transaction, "\(restored.messages)")
            #expect(try await place.count(in: "at \(transaction)") == count)
        }
        // What was written with the other key needs it.
        try place.isRefused("there is no key 2", ["--key-file", old])
        try place.isRefused("there is no key 1", ["--key-file", try place.keys("late", [2: Self.second])])
    }

    @Test func aShipperWithKeysRunsUntilItIsStoppedAndIsTakenOverFrom() async throws {
        let place = try await Place()
        try await FollowTests.add(1...2, place.writer)
        let keys = try place.keys("keys", [7: Self.first])
        let shipper = try place.start(
            ["ship", place.store, place.bucket, "--interval", "0.02", "--key-file", keys, "-f", "json"], [:], "shipper")
        for _ in 0..<10 {
            try await FollowTests.add(1...2, place.writer)
            try await Task.sleep(for: .milliseconds(20))
        }
        shipper.terminate()
        let shipped = try place.answer(shipper, "shipper")
        #expect(shipped.code == 0, "\(shipped.messages)")
        let taken = try place.run(
            "restore", place.bucket, place.path("copy"), "--take-over", "--key-file", keys)
        #expect(taken.code == 0 && taken["transaction"] == shipped["transaction"], "\(taken.messages)")
        #expect(try await place.count(in: "copy") == 22)
        #expect(try place.run("ship", place.path("copy"), place.bucket, "--once", "--key-file", keys).code == 0)
        let old = try place.run("ship", place.store, place.bucket, "--once", "--key-file", keys)
        #expect(old.code == 1 && old.messages.contains("shipped to from elsewhere"), "\(old.messages)")
    }

    @Test(.enabled(if: TestServer.isThere(.seaweed))) func aServerOfS3GetsWhatIsEncrypted() async throws {
        let place = try await Place()
        try await FollowTests.add(1...30, place.writer)
        let keys = try place.keys("keys", [1: Self.first])
        let prefix = "command/" + UUID().uuidString
        let objects = try await TestServer.shared(.seaweed).store(prefix: prefix)
        let url =
            "s3://bucket/\(prefix)?endpoint=\(await TestServer.shared(.seaweed).endpoint)&region=us-east-1&style=path"
        let environment = [
            "AWS_ACCESS_KEY_ID": TestServer.keys.accessKeyID,
            "AWS_SECRET_ACCESS_KEY": TestServer.keys.secretAccessKey,
        ]
        let shipped = try place.run(
            "ship", place.store, url, "--once", "--key-file", keys, environment: environment)
        #expect(shipped.code == 0, "\(shipped.messages)")
        let listed = try await objects.list(prefix: "", after: nil, limit: 100).objects
        #expect(listed.contains { $0.key == "head" })
        for info in listed {
            let bytes = Data(try await objects.get(info.key, range: nil).bytes)
            #expect(bytes.range(of: Data("Book".utf8)) == nil, "\(info.key)")
        }
        let restored = try place.run(
            "restore", url, place.path("copy"), "--key-file", keys, environment: environment)
        #expect(restored.code == 0 && restored["transaction"] == shipped["transaction"], "\(restored.messages)")
        #expect(try await place.count(in: "copy") == 30)
        let refused = try place.run("restore", url, place.path("refused"), environment: environment)
        #expect(refused.code == 1 && refused.messages.contains("no keys were given"), "\(refused.messages)")
        await objects.shutdown()
    }
}
