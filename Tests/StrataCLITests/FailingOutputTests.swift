import Foundation
import Testing

/// What becomes of a command whose standard output cannot be written.
@Suite(.serialized) struct FailingOutputTests {
    /// Runs the command through a shell: with a device as its output, descriptors closed, limits.
    private func shell(_ fixture: CommandFixture, _ script: String) throws -> CommandResult {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", script, "sh", CommandFixture.command.path, fixture.store.path, fixture.directory.path,
        ]
        let messages = fixture.directory.appendingPathComponent("messages-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: messages.path, contents: nil)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: messages)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return CommandResult(
            code: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
            output: "", messages: String(decoding: try Data(contentsOf: messages), as: UTF8.self))
    }

    private static let verbs = [
        "info \"$2\"", "verify \"$2\"", "history \"$2\"", "dump \"$2\"", "dump \"$2\" --jsonl", "dump \"$2\" -f json",
        "get \"$2\" Person/p1", "query \"$2\" Person", "query \"$2\" Person --explain", "compact \"$2\"",
        "backup \"$2\" \"$3/backup\"", "export --jsonl \"$2\" -", "export --csv \"$2\" - --entity Person",
        "export --jsonl \"$2\" \"$3/all\"", "--help", "dump --help",
    ]

    @Test(arguments: verbs) func aFullDeviceIsReported(_ verb: String) throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        fixture.close()
        let full = try shell(fixture, "exec \"$1\" \(verb) > /dev/full")
        #expect(full.code == 1)
        #expect(
            full.messages.contains("Error: the standard output cannot be written: No space left"), "\(full.messages)")
    }

    @Test(arguments: ["dump \"$2\"", "dump \"$2\" --jsonl"]) func aClosedPipeIsTheQuietEnd(_ verb: String) throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        // Ignored, as services start their children, the signal becomes an error; otherwise it ends the process.
        // What reads has gone before the command begins.
        for (trap, code) in [("trap '' PIPE; ", "0"), ("", "141")] {
            let closed = try shell(
                fixture,
                "mkfifo \"$3/gone\"; \(trap)({ read line < \"$3/gone\"; \"$1\" \(verb); echo $? > \"$3/code\"; }) "
                    + "| { exec <&-; echo > \"$3/gone\"; }; rm \"$3/gone\"")
            #expect(closed.messages.isEmpty, "\(closed.messages)")
            let given = try String(contentsOf: fixture.directory.appendingPathComponent("code"), encoding: .utf8)
            #expect(given == code + "\n")
        }
        // Nobody has closed it to have less: results are lost.
        let none = try shell(fixture, "exec \"$1\" \(verb) >&-")
        #expect(none.code == 1)
        #expect(none.messages.contains("Error: the standard output cannot be written"), "\(none.messages)")
    }

    @Test func aFileThatMayNotGrowIsAnError() throws {
        let fixture = try CommandFixture()
        try fixture.save { context in
            for index in 0..<4_000 {
                fixture.insert("Person", ["name": "somebody with a name that takes room, \(index)"], context)
            }
        }
        fixture.close()
        let dump = try shell(fixture, "ulimit -f 64; exec \"$1\" dump \"$2\" > \"$3/out\"")
        #expect(dump.code == 1 && dump.messages.contains("File too large"), "\(dump)")
        let export = try shell(fixture, "ulimit -f 64; exec \"$1\" export --jsonl \"$2\" \"$3/all.jsonl\"")
        #expect(export.code == 1 && export.messages.contains("File too large"), "\(export)")
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
        #expect(!names.contains { $0.hasPrefix("all.jsonl") }, "\(names)")
    }

    /// A killed export has left nothing under its name; the next one removes its part.
    @Test(arguments: ["--jsonl", "--csv"]) func aKilledExportLeavesNothingUnderItsName(_ form: String) throws {
        let fixture = try CommandFixture()
        try fixture.save { context in
            for index in 0..<20_000 { fixture.insert("Person", ["name": "somebody \(index)"], context) }
        }
        fixture.close()
        let target = fixture.directory.appendingPathComponent("out")
        let part = fixture.directory.appendingPathComponent("out.strata-new")
        var isSeen = false
        for _ in 0..<20 where !isSeen {
            let process = try CommandFixture.start(
                ["export", form, fixture.store.path, target.path],
                output: fixture.directory.appendingPathComponent("o"),
                messages: fixture.directory.appendingPathComponent("m"))
            while process.isRunning, !FileManager.default.fileExists(atPath: part.path) { usleep(200) }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            isSeen = FileManager.default.fileExists(atPath: part.path)
            if !isSeen { try? FileManager.default.removeItem(at: target) }
        }
        #expect(isSeen)
        #expect(!FileManager.default.fileExists(atPath: target.path))
        let again = try fixture.run("export", [target.path, form])
        #expect(again.code == 0, "\(again.messages)")
        #expect(!FileManager.default.fileExists(atPath: part.path))
    }

    @Test func daysThatThereAreNotAreNoPoints() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        for text in ["2026-02-30", "2026-01-01T25:00", "2026-01-01T10:61", "2026-13-01", "-1"] {
            #expect(try fixture.run("dump", "--at", text).code == 64, "\(text)")
        }
        for text in ["2199-05-01", "2199-05-01T12:00", "2199-05-01 12:00:00.25", "2199-05-01T12:00:00+02:00"] {
            let dump = try fixture.run("dump", "--at", text)
            #expect(dump.code == 0, "\(text): \(dump.messages)")
        }
    }
}
