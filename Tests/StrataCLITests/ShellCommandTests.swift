import CoreData
import Foundation
import Testing

/// `strata shell`, on a terminal and without one.
@Suite(.serialized) struct ShellCommandTests {
    private func filled() throws -> CommandFixture {
        let fixture = try CommandFixture()
        try fixture.fill()
        return fixture
    }

    private func lines(_ fixture: CommandFixture, _ text: String) throws -> CommandResult {
        let input = fixture.directory.appendingPathComponent("input")
        try text.write(to: input, atomically: true, encoding: .utf8)
        let (output, messages) = (
            fixture.directory.appendingPathComponent("output"), fixture.directory.appendingPathComponent("messages")
        )
        for url in [output, messages] { _ = FileManager.default.createFile(atPath: url.path, contents: nil) }
        let process = Process()
        process.executableURL = CommandFixture.command
        process.arguments = ["shell", fixture.store.path]
        process.standardInput = try FileHandle(forReadingFrom: input)
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: messages)
        try process.run()
        process.waitUntilExit()
        return CommandResult(
            code: process.terminationStatus, output: try String(contentsOf: output, encoding: .utf8),
            messages: try String(contentsOf: messages, encoding: .utf8))
    }

    @Test func linesAreVerbsOrQueries() throws {
        let fixture = try filled()
        let result = try lines(
            fixture,
            """
            Person age > 30 AND name == "Ann" --select name,age -f csv

            query Person 'age > 45' --select name -f csv
            explain Person name == 'Ann'
            history --last 1 -f csv
            get Person/p1 -f csv
            quit
            info
            """)
        #expect(result.code == 0 && result.messages.isEmpty, "\(result)")
        #expect(result.lines.prefix(4) == ["name,age", "Ann,31", "name", "Cleo"], "\(result.output)")
        #expect(result.output.contains("results: 1 in"))
        #expect(result.output.contains(",delete,Person,") && result.output.contains("uri,active,age"))
        // What comes after quit is not run.
        #expect(!result.output.contains("history from"))
    }

    /// Each line sees what was saved until then, and one that fails keeps none from being run.
    @Test func linesFailOneByOne() throws {
        let fixture = try filled()
        let result = try lines(fixture, "Person age >\nnonsense\nPerson name == 'x\nPerson --select count(*) -f csv\n")
        #expect(result.code == 1)
        #expect(result.lines == ["count(*)", "2"], "\(result)")
        let messages = result.messages.split(separator: "\n")
        #expect(messages.count == 3 && messages[0].contains("cannot be read"), "\(messages)")
        #expect(messages[1].contains("nonsense") && messages[2].contains("quotation mark"))
        let nothing = try fixture.run("shell", on: fixture.directory.appendingPathComponent("nothing"))
        #expect(nothing.code == 1)
    }

    @Test func keysEditCompleteAndRecall() throws {
        let fixture = try filled()
        let history = fixture.directory.appendingPathComponent("state/history")
        let environment = ["STRATA_HISTORY": history.path, "PAGER": "cat", "NO_COLOR": "1"]
        let terminal = try CommandTerminal()
        try terminal.setWidth(100)
        let session = try terminal.start(["shell", fixture.store.path], environment: environment)
        defer { session.terminate() }
        try terminal.expect("strata> ")
        // An entity and a key by Tab, an é too much, and a number put right in the middle of the line.
        terminal.type("Pe\tag\t> 330é\u{7F}\u{1B}[D\u{1B}[D\u{7F}\u{1B}[F --select name,age\r")
        let first = try terminal.expect("strata> ", after: "Cleo   50")
        #expect(first.contains("Ann    31") && first.contains("Cleo   50"), "\(first)")
        // All there is for a word that has several ends.
        terminal.type("Person \t")
        let candidates = try terminal.expect("strata> Person ", after: "born")
        #expect(candidates.contains("active  age"), "\(candidates)")
        // Given up; then the line before, with another number.
        terminal.type("\u{3}")
        try terminal.expect("strata> ")
        terminal.type("\u{1B}[A\u{1}\u{1B}[B\u{1B}[A")
        terminal.type(" --limit 1\r")
        let second = try terminal.expect("strata> ", after: "Ann    31")
        #expect(!second.contains("Cleo"), "\(second)")
        terminal.type("\u{4}")
        try terminal.expectEnd(of: session)
        #expect(session.terminationStatus == 0)
        let kept = try String(contentsOf: history, encoding: .utf8).split(separator: "\n")
        #expect(
            kept == ["Person age > 30 --select name,age", "Person age > 30 --select name,age --limit 1"], "\(kept)")
        let mode = try FileManager.default.attributesOfItem(atPath: history.path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
    }

    /// What is no file of lines stays as it is, and nobody waits for what will not come.
    @Test(arguments: ["bytes", "pipe", "link"]) func whatIsNoHistoryIsLeftAlone(_ kind: String) throws {
        let fixture = try filled()
        let history = fixture.directory.appendingPathComponent("history")
        let bytes = Data([0xFF, 0xFE, 0x0A])
        let target = fixture.directory.appendingPathComponent("target")
        switch kind {
        case "bytes": try bytes.write(to: history)
        case "pipe": #expect(mkfifo(history.path, 0o600) == 0)
        default:
            try bytes.write(to: target)
            try FileManager.default.createSymbolicLink(at: history, withDestinationURL: target)
        }
        let terminal = try CommandTerminal()
        try terminal.setWidth(100)
        let session = try terminal.start(
            ["shell", fixture.store.path],
            environment: ["STRATA_HISTORY": history.path, "PAGER": "cat", "NO_COLOR": "1"])
        defer { session.terminate() }
        try terminal.expect("strata> ")
        terminal.type("Person age > 40\r")
        try terminal.expect("strata> ", after: "Cleo")
        terminal.type("\u{4}")
        try terminal.expectEnd(of: session)
        let type = try FileManager.default.attributesOfItem(atPath: history.path)[.type] as? FileAttributeType
        switch kind {
        case "bytes": #expect(try Data(contentsOf: history) == bytes)
        case "pipe": #expect(type != .typeRegular)
        default: #expect(try type == .typeSymbolicLink && Data(contentsOf: target) == bytes)
        }
    }

    /// The pager gets results that know the terminal, and may go before it has seen all.
    @Test func resultsGoThroughThePager() throws {
        let fixture = try filled()
        try fixture.save { context in
            for age in 0..<3_000 { fixture.insert("Person", ["name": "x", "age": age], context) }
        }
        let terminal = try CommandTerminal()
        try terminal.setWidth(100)
        let session = try terminal.start(
            ["shell", fixture.store.path], environment: ["STRATA_HISTORY": "", "PAGER": "head -2; echo paged"])
        defer { session.terminate() }
        try terminal.expect("strata> ")
        terminal.type("Person --sort age\r")
        let shown = try terminal.expect("strata> ", after: "paged")
        #expect(shown.contains("\u{1B}[1muri") && shown.split(separator: "\n").count < 8, "\(shown)")
        terminal.type("quit\r")
        try terminal.expectEnd(of: session)
        #expect(session.terminationStatus == 0)
    }
}
