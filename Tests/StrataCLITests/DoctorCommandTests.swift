import CoreData
import Foundation
import StrataIO
import StrataLog
import SystemPackage
import Testing

@testable import StrataCLI

/// `strata doctor`: each finding is one that was caused.
@Suite(.serialized) struct DoctorCommandTests {
    private func filled() throws -> CommandFixture {
        let fixture = try CommandFixture()
        try fixture.fill()
        return fixture
    }

    /// The findings of a check that are in a state.
    private func findings(_ result: CommandResult, _ check: String, _ state: String) -> [[String: Any]] {
        result.records.filter { $0["check"] as? String == check && $0["state"] as? String == state }
    }

    @Test func aSoundStoreHasNothingToDo() throws {
        let fixture = try filled()
        fixture.close()
        let result = try fixture.run("doctor", "-f", "json")
        #expect(result.code == 0, "\(result.output)")
        for check in ["permissions", "descriptors", "clock", "lock", "leftovers", "store", "space"] {
            #expect(findings(result, check, "ok").count == 1, "\(check): \(result.output)")
        }
        #expect(result.records.contains { $0["check"] as? String == "file system" })
        #expect(result.records.allSatisfy { $0["state"] as? String != "problem" })
        let empty = fixture.directory.appendingPathComponent("empty")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
        let place = try fixture.run("doctor", "-f", "json", on: empty)
        #expect(place.code == 0 && findings(place, "permissions", "ok").count == 1, "\(place)")
        #expect(findings(place, "store", "ok").isEmpty)
    }

    /// Who has the lock, and what that process has been started with.
    @Test func theHolderOfTheLockIsExamined() throws {
        let fixture = try filled()
        let result = try fixture.run("doctor", "-f", "json")
        #expect(result.code == 0, "\(result.output)")
        let lock = try #require(findings(result, "lock", "note").first?["finding"] as? String)
        #expect(lock.hasPrefix("process \(getpid()) ("), "\(lock)")
        let limit = try #require(result.records.first { $0["check"] as? String == "descriptors" })
        #expect((limit["finding"] as? String)?.contains("of process \(getpid())") == true, "\(limit)")
    }

    @Test func openPermissionsAndLeftoversAreFound() throws {
        let fixture = try filled()
        fixture.close()
        #expect(chmod(fixture.store.path, 0o755) == 0)
        #expect(chmod(fixture.store.appendingPathComponent("00000001.seg").path, 0o644) == 0)
        try Data().write(to: fixture.store.appendingPathComponent("notes.txt"))
        try FileManager.default.createDirectory(
            at: fixture.directory.appendingPathComponent("store.strata-copy"), withIntermediateDirectories: true)
        let result = try fixture.run("doctor", "-f", "json")
        #expect(result.code == 1)
        let texts = findings(result, "permissions", "problem").compactMap { $0["finding"] as? String }
        #expect(
            texts.contains { $0.contains("mode 755") } && texts.contains { $0.contains("00000001.seg") }, "\(texts)")
        #expect(findings(result, "permissions", "problem").allSatisfy { ($0["remedy"] as? String)?.isEmpty == false })
        #expect(findings(result, "leftovers", "problem").count == 1, "\(result.output)")
        #expect(
            findings(result, "leftovers", "note").contains { ($0["finding"] as? String)?.contains("notes.txt") == true }
        )
        let table = try fixture.run("doctor")
        #expect(
            table.code == 1 && table.output.contains("problem  permissions") && table.output.contains("→ chmod 700"))
    }

    @Test func damageAndWrongPathsAreFound() throws {
        let fixture = try filled()
        fixture.close()
        let manifest = fixture.store.appendingPathComponent("MANIFEST")
        let segment = fixture.store.appendingPathComponent("00000001.seg")
        var bytes = try Data(contentsOf: segment)
        bytes[0] ^= 0xFF
        try bytes.write(to: segment)
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.store.path) where name.hasSuffix(".chk")
        {
            try FileManager.default.removeItem(at: fixture.store.appendingPathComponent(name))
        }
        let damaged = try fixture.run("doctor", "-f", "json")
        #expect(damaged.code == 1 && findings(damaged, "store", "problem").count == 1, "\(damaged)")
        let nothing = try fixture.run("doctor", "-f", "json", on: fixture.directory.appendingPathComponent("nothing"))
        #expect(nothing.code == 1 && findings(nothing, "directory", "problem").count == 1)
        let file = try fixture.run("doctor", "-f", "json", on: manifest)
        #expect(file.code == 1 && findings(file, "directory", "problem").count == 1)
    }

    /// Limits are those that the command is started with, if no process has the store.
    @Test func lowLimitsAreFound() throws {
        let fixture = try filled()
        fixture.close()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "ulimit -n 64; ulimit -f 1000; exec \"$1\" doctor \"$2\" -f json >\"$3\"", "sh",
            CommandFixture.command.path, fixture.store.path, fixture.directory.appendingPathComponent("out").path,
        ]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
        let output = try String(contentsOf: fixture.directory.appendingPathComponent("out"), encoding: .utf8)
        let result = CommandResult(code: 1, output: output, messages: "")
        #expect(findings(result, "descriptors", "problem").count == 1, "\(output)")
        #expect(findings(result, "file size", "problem").count == 1, "\(output)")
    }

    /// Writes a file, in a folder that is made for it.
    private static func write(_ text: String, at path: String) throws {
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: url, atomically: true, encoding: .utf8)
    }

    /// The limit was that of the command's own group, in version 2 alone, and of the group itself alone.
    @Test func theLimitOfMemoryIsThatOfTheProcess() throws {
        let fixture = try CommandFixture()
        let root = fixture.directory.path
        func write(_ path: String, _ text: String) throws { try Self.write(text, at: root + path) }
        try write("/proc/7/cgroup", "0::/service/web\n")
        try write("/sys/fs/cgroup/service/web/memory.max", "max\n")
        #expect(ControlGroup.memoryLimit(of: "7", root: root) == nil)
        try write("/sys/fs/cgroup/service/memory.max", "1048576\n")
        #expect(ControlGroup.memoryLimit(of: "7", root: root) == 1_048_576)
        try write("/sys/fs/cgroup/service/web/memory.max", "524288\n")
        #expect(ControlGroup.memoryLimit(of: "7", root: root) == 524_288)
        // Another process has another group; in a container it is the root.
        try write("/proc/8/cgroup", "0::/\n")
        #expect(ControlGroup.memoryLimit(of: "8", root: root) == nil)
        try write("/sys/fs/cgroup/memory.max", "2097152\n")
        #expect(ControlGroup.memoryLimit(of: "8", root: root) == 2_097_152)
        #expect(ControlGroup.memoryLimit(of: "10", root: root) == nil)
    }

    @Test func limitsOfMemoryOfTheFirstVersionCount() throws {
        let fixture = try CommandFixture()
        let root = fixture.directory.path
        func write(_ path: String, _ text: String) throws { try Self.write(text, at: root + path) }
        try write("/proc/7/cgroup", "9:cpu,cpuacct:/a\n5:memory:/docker/1\n1:name=systemd:/b\n")
        try write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
        #expect(ControlGroup.memoryLimit(of: "7", root: root) == nil)
        try write("/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "4096\n")
        #expect(ControlGroup.memoryLimit(of: "7", root: root) == 4_096)
    }

    @Test func aClockBehindTheStoreIsFound() throws {
        let fixture = try filled()
        fixture.close()
        var options = LogOptions()
        options.createsIfMissing = false
        options.clock = { Int64((Date().timeIntervalSince1970 + 172_800) * 1e9) }
        let log = try LogStore.open(FilePath(fixture.store.path), in: PosixFileSystem(), options: options, schema: nil)
        let team = try #require(log.schema.entities.first { $0.name == "Team" })
        let transaction = log.makeTransaction()
        let writer = transaction.writer(for: team.id)
        writer.beginInsert(key: try log.allocateKeys(root: team.rootID, count: 1))
        _ = writer.endRow()
        _ = try log.commit(transaction)
        try log.close()
        let result = try fixture.run("doctor", "-f", "json")
        #expect(result.code == 1, "\(result)")
        let text = try #require(findings(result, "clock", "problem").first?["finding"] as? String)
        #expect(text.contains(" s before the newest transaction") && text.contains("17"), "\(text)")
    }
}
