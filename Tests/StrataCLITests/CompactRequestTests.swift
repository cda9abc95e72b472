import CoreData
import Foundation
import StrataIO
import StrataLog
import SystemPackage
import Testing

/// `strata compact` beside a program that has the store open for writing: these tests.
@Suite(.serialized) struct CompactRequestTests {
    /// A store of which most is garbage, open.
    private func garbage() throws -> CommandFixture {
        let fixture = try CommandFixture()
        try fixture.fill()
        try fixture.save { context in
            for _ in 0..<20 { fixture.insert("Person", ["name": "Dan", "photo": Data(count: 200_000)], context) }
        }
        try fixture.save { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "name == 'Dan'")
            for object in try context.fetch(request) { context.delete(object) }
        }
        return fixture
    }

    private func start(_ fixture: CommandFixture, _ arguments: String...) throws -> Process {
        try CommandFixture.start(
            ["compact", fixture.store.path, "--format", "json"] + arguments,
            output: fixture.directory.appendingPathComponent("out"),
            messages: fixture.directory.appendingPathComponent("messages"))
    }

    private func text(_ fixture: CommandFixture, _ name: String) throws -> String {
        try String(contentsOf: fixture.directory.appendingPathComponent(name), encoding: .utf8)
    }

    private func reader(_ fixture: CommandFixture) throws -> LogStore {
        var options = LogOptions()
        options.access = .readOnly
        options.createsIfMissing = false
        return try LogStore.open(FilePath(fixture.store.path), in: PosixFileSystem(), options: options, schema: nil)
    }

    /// The number of the writer that is asked, as `TAIL` has it.
    private func askedWriter(_ fixture: CommandFixture) throws -> UInt64 {
        let tail = try Data(contentsOf: fixture.store.appendingPathComponent("TAIL"))
        return tail[56..<64].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    @Test func aProgramThatWritesCompactsWhenItIsAsked() throws {
        let fixture = try garbage()
        let process = try start(fixture, "--wait", "600")
        var saves = 0
        while process.isRunning {
            try fixture.save { context in fixture.insert("Person", ["name": "Eve \(saves)"], context) }
            saves += 1
            usleep(10_000)
        }
        let messages = try text(fixture, "messages")
        #expect(process.terminationStatus == 0, "\(messages)")
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(try text(fixture, "out").utf8)) as? [String: Int])
        #expect(report["segments"] ?? 0 > 0)
        #expect(report["freedBytes"] ?? 0 > report["writtenBytes"] ?? 0)
        #expect(!FileManager.default.fileExists(atPath: fixture.store.appendingPathComponent("00000001.seg").path))
        #expect(try askedWriter(fixture) == 0)
        let found = try fixture.run("query", "Person", "name BEGINSWITH 'Eve'", "--format", "json")
        #expect(found.records.count == saves, "\(found.messages)")
        fixture.close()
        #expect(try fixture.run("verify").code == 0)
    }

    @Test func whatIsNotWantedAnyMoreIsNotDone() throws {
        let fixture = try garbage()
        let reader = try reader(fixture)
        defer { try? reader.close() }
        let withdrawn = try #require(reader.askForCompaction())
        withdrawn.withdraw()
        try fixture.save { context in fixture.insert("Person", ["name": "Eve"], context) }
        #expect(withdrawn.answer == nil)
        let wanted = try #require(reader.askForCompaction())
        try fixture.save { context in fixture.insert("Person", ["name": "Eve"], context) }
        #expect(wanted.answer != nil)
        while true {
            if case .done(let report) = wanted.answer {
                #expect(report.freedByteCount > report.writtenByteCount)
                break
            }
            guard case .running = wanted.answer else {
                Issue.record("the answer is \(String(describing: wanted.answer))")
                break
            }
            usleep(10_000)
        }
        #expect(withdrawn.answer == nil)
        // A writer that comes later was not asked.
        _ = reader.askForCompaction()
        fixture.close()
        try fixture.open()
        let late = try self.reader(fixture)
        defer { try? late.close() }
        let before = try late.segmentSummaries().map(\.number)
        try fixture.save { context in fixture.insert("Person", ["name": "Eve"], context) }
        #expect(try askedWriter(fixture) != 0)
        try late.refresh()
        #expect(try late.segmentSummaries().map(\.number) == before)
    }

    @Test func anInterruptedCommandLeavesNothingThatIsAskedFor() throws {
        let fixture = try garbage()
        let process = try start(fixture, "--wait", "600")
        while process.isRunning, try askedWriter(fixture) == 0 { usleep(10_000) }
        #expect(try askedWriter(fixture) != 0)
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGINT)
        #expect(try askedWriter(fixture) == 0)
    }

    @Test func aProgramThatHasNothingToDoCompactsWhenItIsAsked() throws {
        let fixture = try garbage()
        // What the process has held and used meanwhile is given back, and nothing happens any more.
        MemoryBudget.shared.intervalMilliseconds = 100
        defer { MemoryBudget.shared.intervalMilliseconds = MemoryBudget.defaultIntervalMilliseconds }
        usleep(500_000)
        let result = try fixture.run("compact", "--format", "json", "--wait", "600")
        #expect(result.code == 0, "\(result.messages)")
        #expect(!FileManager.default.fileExists(atPath: fixture.store.appendingPathComponent("00000001.seg").path))
        #expect(try askedWriter(fixture) == 0)
    }

    @Test func aProgramThatHasNotBegunIsNamed() throws {
        let fixture = try garbage()
        let result = try fixture.run("compact", "--wait", "0")
        #expect(result.code == 1 && result.messages.contains("process \(getpid()) ("), "\(result.messages)")
        #expect(result.messages.contains("it looks when it saves"), "\(result.messages)")
        #expect(try askedWriter(fixture) == 0)
        #expect(try fixture.run("compact", "--wait", "-1").code == 64)
    }

    @Test func aProgramThatEndsIsNotWaitedFor() throws {
        let fixture = try garbage()
        let process = try start(fixture, "--wait", "600")
        while process.isRunning, try askedWriter(fixture) == 0 { usleep(10_000) }
        fixture.close()
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
        #expect(try text(fixture, "messages").contains("ended before it had compacted"))
    }
}
