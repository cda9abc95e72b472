import CoreData
import Foundation
import Testing

/// `strata ship`, `restore` and `backup --to`.
@Suite(.serialized) struct ShipCommandTests {
    private static func run(_ arguments: [String], _ fixture: CommandFixture) throws -> CommandResult {
        let output = fixture.directory.appendingPathComponent("output-\(UUID().uuidString)")
        let messages = fixture.directory.appendingPathComponent("messages-\(UUID().uuidString)")
        let process = try CommandFixture.start(arguments, output: output, messages: messages)
        process.waitUntilExit()
        return CommandResult(
            code: process.terminationStatus, output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            messages: String(decoding: try Data(contentsOf: messages), as: UTF8.self))
    }

    private static func bucket(_ fixture: CommandFixture, _ name: String = "bucket") -> String {
        "file://" + fixture.directory.appendingPathComponent(name).path
    }

    private static func names(_ fixture: CommandFixture, in store: URL) throws -> [String] {
        let result = try fixture.run("query", "Person", "-f", "json", on: store)
        #expect(result.code == 0, "\(result.messages)")
        return result.records.compactMap { $0["name"] as? String }.sorted()
    }

    @Test func aStoreIsRestoredAsItWasAfterAnyTransaction() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let bucket = Self.bucket(fixture)
        let shipped = try fixture.run("ship", bucket, "--once", "-f", "json")
        #expect(shipped.code == 0, "\(shipped.messages)")
        #expect((shipped.json as? [String: Any])?["transaction"] as? Int == 3)
        let expected = [1: ["Ann", "Bob, \"the\" builder"], 2: ["Ann", "Bob, \"the\" builder"], 3: ["Ann", "Cleo"]]
        for (transaction, names) in expected {
            let copy = fixture.directory.appendingPathComponent("at \(transaction)")
            let plan = try Self.run(
                ["restore", bucket, copy.path, "--at", "\(transaction)", "--dry-run", "-f", "json"], fixture)
            #expect((plan.json as? [String: Any])?["transaction"] as? Int == transaction, "\(plan.messages)")
            #expect(!FileManager.default.fileExists(atPath: copy.path))
            let restored = try Self.run(
                ["restore", bucket, copy.path, "--at", "\(transaction)", "-f", "json"], fixture)
            #expect(restored.code == 0, "\(restored.messages)")
            let report = try #require(restored.json as? [String: Any])
            #expect(report["transaction"] as? Int == transaction)
            #expect(report["nextTransaction"] as? Int == (transaction < 3 ? transaction + 1 : nil))
            #expect(try Self.names(fixture, in: copy) == names)
            #expect(try fixture.run("verify", on: copy).code == 0)
        }
    }

    @Test func aBackupIntoABucketIsIncremental() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let bucket = Self.bucket(fixture)
        let first = try fixture.run("backup", "--to", bucket, "-f", "json")
        #expect(first.code == 0, "\(first.messages)")
        try fixture.save { context in fixture.insert("Person", ["name": "Dan"], context) }
        let second = try fixture.run("backup", "--to", bucket, "-f", "json")
        let bytes = [first, second].compactMap { ($0.json as? [String: Any])?["bytes"] as? Int }
        #expect(bytes.count == 2 && bytes[0] > bytes[1] && bytes[1] > 0, "\(bytes)")
        let copy = fixture.directory.appendingPathComponent("copy")
        #expect(try Self.run(["restore", bucket, copy.path], fixture).code == 0)
        #expect(try Self.names(fixture, in: copy) == ["Ann", "Cleo", "Dan"])
    }

    @Test func aStoreThatTakesOverGoesOnAndTheOldOneIsFenced() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let bucket = Self.bucket(fixture)
        #expect(try fixture.run("ship", bucket, "--once").code == 0)
        let copy = fixture.directory.appendingPathComponent("copy")
        #expect(try Self.run(["restore", bucket, copy.path, "--take-over"], fixture).code == 0)
        // The restored store goes by the UUID of the one that it replaces.
        let infos = try [fixture.store, copy].map { store in
            (try fixture.run("info", "-f", "json", on: store).json as? [String: Any])?["uuid"] as? String
        }
        #expect(infos[0] != nil && infos[0] == infos[1], "\(infos)")
        #expect(try fixture.run("ship", bucket, "--once", on: copy).code == 0)
        let old = try fixture.run("ship", bucket, "--once")
        #expect(old.code == 1 && old.messages.contains("shipped to from elsewhere"), "\(old.messages)")
        let fork = fixture.directory.appendingPathComponent("fork")
        #expect(try Self.run(["restore", bucket, fork.path, "--at", "2"], fixture).code == 0)
        let refused = try fixture.run("ship", bucket, "--once", on: fork)
        #expect(refused.code == 1 && refused.messages.contains("prefix of its own"), "\(refused.messages)")
        #expect(try fixture.run("ship", Self.bucket(fixture, "other"), "--once", on: fork).code == 0)
    }

    @Test func aShipperRunsBesideAWriterUntilItIsStopped() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let bucket = Self.bucket(fixture)
        let output = fixture.directory.appendingPathComponent("shipping")
        let messages = fixture.directory.appendingPathComponent("shipping-messages")
        let process = try CommandFixture.start(
            ["ship", fixture.store.path, bucket, "--interval", "0.02", "-f", "json"], output: output,
            messages: messages)
        for number in 0..<20 {
            try fixture.save { context in fixture.insert("Person", ["name": "person \(number)"], context) }
            usleep(20_000)
        }
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let report =
            try JSONSerialization.jsonObject(with: Data(contentsOf: output)) as? [String: Any]
        #expect(report?["transaction"] as? Int == 23)
        let copy = fixture.directory.appendingPathComponent("copy")
        #expect(try Self.run(["restore", bucket, copy.path], fixture).code == 0)
        #expect(try Self.names(fixture, in: copy).count == 22)
    }

    @Test func whatCannotBeDoneIsSaid() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let bucket = Self.bucket(fixture)
        let copy = fixture.directory.appendingPathComponent("copy")
        let cases: [([String], Int32, String)] = [
            (["ship", fixture.store.path, "s3://bucket/prefix", "--once"], 1, "no S3"),
            (["ship", fixture.store.path, "ftp://host/x", "--once"], 1, "no kind of bucket"),
            (["ship", fixture.store.path, "nowhere", "--once"], 1, "no URL"),
            (["ship", fixture.store.path, "file://host/path", "--once"], 1, "host"),
            (["ship", fixture.directory.appendingPathComponent("no").path, bucket, "--once"], 1, "no store"),
            (["restore", Self.bucket(fixture, "empty"), copy.path], 1, "no bucket"),
            (["restore", bucket, copy.path, "--fork", "--take-over"], 64, "exclude"),
            (["restore", bucket, copy.path, "--at", "yesterday"], 64, "yesterday"),
            (["backup", fixture.store.path], 64, "either"),
            (["backup", fixture.store.path, copy.path, "--to", bucket], 64, "either"),
            (["ship", fixture.store.path, bucket, "--interval", "0"], 64, "interval"),
            (["ship", fixture.store.path, bucket, "--once", "--interval", "2"], 64, "exclude"),
            (["ship", fixture.store.path, bucket, "--keep-days", "0"], 64, "days"),
            (["backup", fixture.store.path, "--to", bucket, "--keep-mebibytes", "0"], 64, "mebibytes"),
            (["backup", fixture.store.path, copy.path, "--keep-days", "3"], 64, "for --to"),
            (["restore", bucket, copy.path, "--only-writer"], 64, "for --take-over"),
            (["restore", bucket, copy.path, "--dry-run", "--take-over"], 64, "--dry-run"),
            (["restore", bucket, copy.path, "--dry-run", "--take-over", "--only-writer"], 64, "--dry-run"),
            (["restore", bucket, copy.path, "--dry-run", "--fast"], 64, "--dry-run"),
        ]
        for (arguments, code, message) in cases {
            let result = try Self.run(arguments, fixture)
            #expect(result.code == code && result.messages.contains(message), "\(arguments): \(result.messages)")
        }
        #expect(try fixture.run("ship", bucket, "--once").code == 0)
        let later: [([String], String)] = [
            (["restore", bucket, fixture.store.path], "already"),
            (["restore", bucket, copy.path, "--at", "4"], "last is 3"),
            (["restore", bucket, copy.path, "--at", "0"], "empty store"),
            (["restore", bucket, copy.path, "--at", "1999-01-01"], "oldest state there is that of transaction 1"),
        ]
        for (arguments, message) in later {
            let result = try Self.run(arguments, fixture)
            #expect(result.code == 1 && result.messages.contains(message), "\(arguments): \(result.messages)")
        }
        #expect(!FileManager.default.fileExists(atPath: copy.path))
        #expect(try Self.names(fixture, in: fixture.store) == ["Ann", "Cleo"])
    }
}
