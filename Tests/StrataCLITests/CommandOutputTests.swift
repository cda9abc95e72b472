import CoreData
import Foundation
import Testing

/// The forms in which the verbs print, and what a terminal gets.
@Suite(.serialized) struct CommandOutputTests {
    private func filled() throws -> CommandFixture {
        let fixture = try CommandFixture()
        try fixture.fill()
        return fixture
    }

    @Test func tablesNameObjectsAsGetTakesThem() throws {
        let fixture = try filled()
        let table = try fixture.run("query", "Person", "age == 31", "--sort", "name")
        #expect(table.code == 0, "\(table.messages)")
        #expect(table.lines.count == 2)
        let columns = try #require(table.lines.last).split(separator: " ").map(String.init)
        #expect(columns.first == "Person/p1" && columns.last == "Team/p1")
        let person = try fixture.run("get", "Person/p1")
        #expect(person.code == 0)
        #expect(person.output.contains("<3 bytes>"))
        let uri = try #require(fixture.coordinator?.persistentStores[0].identifier)
        #expect(person.output.contains("x-coredata://\(uri)/Person/p1"))
        #expect(try fixture.run("get", "Team/p1").output.contains("Person/p1"))
        let json = try fixture.run("query", "Person", "age == 31", "-f", "json").record(0)
        #expect(json["team"] as? String == "x-coredata://\(uri)/Team/p1")
    }

    @Test func everyVerbPrintsEveryForm() throws {
        let fixture = try filled()
        let verbs = [
            ["info"], ["verify"], ["history"], ["history", "--after", "1", "--entity", "Person"], ["dump", "Person"],
            ["get", "Person/p1"], ["query", "Person"], ["query", "Person", "age > 1", "--explain"],
            ["query", "Person", "--group-by", "team.title"], ["stats"], ["diff", "1"], ["diff", "1", "--summary"],
            ["doctor"],
        ]
        for verb in verbs {
            let rest = Array(verb.dropFirst())
            let table = try fixture.run(verb[0], rest + ["--format", "table"])
            #expect(table.code == 0 && table.messages.isEmpty && table.lines.count > 1, "\(verb): \(table)")
            let json = try fixture.run(verb[0], rest + ["--format", "json"])
            #expect(json.code == 0 && json.json != nil, "\(verb): \(json)")
            let csv = try fixture.run(verb[0], rest + ["--format", "csv"])
            #expect(csv.code == 0 && csv.lines.count > 1, "\(verb): \(csv)")
            #expect(csv.output.hasSuffix("\r\n") && csv.lines[0].contains(","), "\(verb): \(csv)")
            let ndjson = try fixture.run(verb[0], rest + ["--format", "ndjson"])
            #expect(ndjson.code == 0 && !ndjson.lines.isEmpty, "\(verb): \(ndjson)")
            for line in ndjson.lines {
                let record = try? JSONSerialization.jsonObject(with: Data(line.utf8))
                #expect(record is [String: Any], "\(verb): \(line)")
            }
            for result in [table, json, csv, ndjson] { #expect(!result.output.contains("\u{1B}"), "\(verb)") }
        }
    }

    /// Texts may hold what moves a terminal's cursor.
    @Test func controlCharactersAreShown() throws {
        let fixture = try CommandFixture()
        let name = "a\u{1B}[31m\nb\r\nc\td\u{7F}"
        try fixture.save { fixture.insert("Person", ["name": name], $0) }
        let table = try fixture.run("query", "Person")
        #expect(table.output.contains("a␛[31m⏎b⏎c␉d␡"), "\(table.output)")
        #expect(try fixture.run("query", "Person", "-f", "json").record(0)["name"] as? String == name)
        #expect(try fixture.run("query", "Person", "-f", "csv").output.contains("\"\(name)\""))
    }

    @Test func onlyTerminalsGetColoursAndBars() throws {
        let fixture = try filled()
        let terminal = try CommandTerminal()
        let info = try terminal.run(["info", fixture.store.path])
        #expect(info.code == 0)
        #expect(info.text.contains("\u{1B}[1mentity"), "\(info.text)")
        let plain = try terminal.run(["info", fixture.store.path], environment: ["NO_COLOR": "1"])
        #expect(plain.text.contains("entity") && !plain.text.contains("\u{1B}"))
        #expect(try !terminal.run(["info", fixture.store.path], environment: ["TERM": "dumb"]).text.contains("\u{1B}"))
        let output = fixture.directory.appendingPathComponent("dumped")
        let atOnce = ["STRATA_PROGRESS_SECONDS": "0"]
        let bar = try terminal.run(["dump", fixture.store.path, "Person"], environment: atOnce, output: output)
        #expect(bar.text.contains("Person ··"), "\(bar.text)")
        #expect(bar.text.hasSuffix("\r\u{1B}[K"))
        #expect(try String(contentsOf: output, encoding: .utf8).contains("Ann"))
        // Where the results are seen there is no bar between them.
        #expect(try !terminal.run(["dump", fixture.store.path, "Person"], environment: atOnce).text.contains("··"))
        // What is done in a moment needs no bar.
        #expect(try !terminal.run(["verify", fixture.store.path]).text.contains("··"))
        let verified = try terminal.run(["verify", fixture.store.path], environment: atOnce)
        #expect(verified.text.contains("verifying") && verified.text.contains("the store is sound"))
    }

    /// The filters hold for what comes later, too, and tables keep their objects whole.
    @Test(arguments: ["table", "csv", "json"]) func followingFiltersAndPrintsEveryForm(_ format: String) throws {
        let fixture = try filled()
        let output = fixture.directory.appendingPathComponent("followed")
        let process = try CommandFixture.start(
            ["history", fixture.store.path, "--follow", "--author", "me", "--entity", "team", "-f", format],
            output: output, messages: fixture.directory.appendingPathComponent("messages"))
        defer { process.terminate() }
        func lines() throws -> [String] {
            try String(contentsOf: output, encoding: .utf8).split(whereSeparator: \.isNewline).map(String.init)
        }
        for (author, title) in [("you", "a"), ("me", "b"), ("me", "c")] {
            try fixture.save(author: author) {
                fixture.insert("Team", ["title": title], $0)
                fixture.insert("Person", ["name": title], $0)
            }
        }
        let titleLines = format == "json" ? 0 : 1
        let deadline = Date(timeIntervalSinceNow: 60)
        while try lines().count < titleLines + 2, Date() < deadline { Thread.sleep(forTimeInterval: 0.02) }
        let found = try lines()
        #expect(found.count == titleLines + 2, "\(found)")
        #expect(found.dropFirst(titleLines).allSatisfy { $0.contains("Team/p") && $0.contains("me") }, "\(found)")
        #expect(process.isRunning)
    }
}
