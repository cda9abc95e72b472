import Foundation
import Testing

/// `strata import` and `strata export`, run as people run them.
@Suite(.serialized) struct TransferCommandTests {
    @Test(arguments: ["--jsonl", "--csv", "--core-data"]) func whatIsExportedIsImported(_ form: String) throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let file = fixture.directory.appendingPathComponent("out").path
        let copy = fixture.directory.appendingPathComponent("copy")
        let written = try fixture.run("export", file, form, "--format", "json")
        #expect(written.code == 0, "\(written.messages)")
        #expect((written.json as? [String: Any])?["objects"] as? Int == 3)
        if form == "--core-data" {
            // A store that was made here has no model of Core Data's: the file does not keep one.
            let read = try fixture.run("import", copy.path, form, on: URL(fileURLWithPath: file))
            #expect(read.code == 1 && read.messages.contains("name one"), "\(read.messages)")
            return
        }
        let read = try fixture.run("import", copy.path, form, on: URL(fileURLWithPath: file))
        #expect(read.code == 0, "\(read.messages)")
        let dump = try fixture.run("dump", "--jsonl")
        #expect(dump.code == 0 && dump.lines.count == 5)
        #expect(try fixture.run("dump", "--jsonl", on: copy).output == dump.output)
        let again = try fixture.run("import", copy.path, form, on: URL(fileURLWithPath: file))
        #expect(again.code == 1 && again.messages.contains("is there already"), "\(again.messages)")
    }

    @Test func theHistoryIsExportedWhenItIsAskedFor() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        for (name, options) in [("plain", []), ("whole", ["--history"])] as [(String, [String])] {
            let file = fixture.directory.appendingPathComponent(name).path
            let written = try fixture.run("export", [file, "--core-data", "--format", "json"] + options)
            #expect(written.code == 0, "\(written.messages)")
            let output = written.json as? [String: Any]
            #expect((output?["transactions"] as? Int ?? 0 > 0) == !options.isEmpty)
        }
        for form in ["--jsonl", "--csv"] {
            let refused = try fixture.run("export", "x", form, "--history")
            #expect(refused.code == 64 && refused.messages.contains("--core-data only"), "\(refused.messages)")
        }
    }

    @Test func objectsAreNamedByAKey() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let file = fixture.directory.appendingPathComponent("all.jsonl")
        let copy = fixture.directory.appendingPathComponent("copy")
        let key = ["--key", "Team.title"]
        let written = try fixture.run("export", [file.path, "--jsonl"] + key)
        #expect(written.code == 0, "\(written.messages)")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains("\"team\":\"Red\"") || text.contains("\"team\": \"Red\""), "\(text)")
        let bare = try fixture.run("import", [copy.path, "--jsonl"], on: file)
        #expect(bare.code == 1, "\(bare.messages)")
        let read = try fixture.run("import", [copy.path, "--jsonl"] + key, on: file)
        #expect(read.code == 0, "\(read.messages)")
        let found = try fixture.run("query", "Person", "team.title == 'Red'", "--format", "json", on: copy)
        #expect(found.records.compactMap { $0["name"] as? String } == ["Ann"], "\(found)")
    }

    @Test func referencesToNobodyAreLeftOutWhenThatIsAskedFor() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let file = fixture.directory.appendingPathComponent("people.jsonl")
        let copy = fixture.directory.appendingPathComponent("copy")
        let written = try fixture.run("export", file.path, "--jsonl", "--entity", "Person", "--format", "json")
        #expect((written.json as? [String: Any])?["objects"] as? Int == 2, "\(written)")
        let refused = try fixture.run("import", copy.path, "--jsonl", on: file)
        #expect(refused.code == 1 && !FileManager.default.fileExists(atPath: copy.path), "\(refused.messages)")
        let read = try fixture.run("import", copy.path, "--jsonl", "--dangling", "--format", "json", on: file)
        #expect(read.code == 0, "\(read.messages)")
        let figures = read.json as? [String: Any]
        #expect(figures?["objects"] as? Int == 2 && figures?["dangling"] as? Int == 1, "\(read.output)")
    }

    /// They were ignored.
    @Test(arguments: [
        ("import", "--jsonl", ["--partial"]), ("import", "--csv", ["--partial"]),
        ("import", "--core-data", ["--dangling"]), ("import", "--core-data", ["--entity", "Team"]),
        ("import", "--core-data", ["--key", "Team.title"]), ("import", "--jsonl", ["--entity", "Team"]),
        ("import", "--csv", ["--entity", "Team", "--entity", "Person"]), ("import", "--csv", ["--entity", "Team"]),
        ("export", "--core-data", ["--entity", "Team"]),
        ("export", "--core-data", ["--key", "Team.title"]),
    ])
    func optionsOfOtherFormsAreRefused(_ verb: String, _ form: String, _ options: [String]) throws {
        let fixture = try CommandFixture()
        let target = fixture.directory.appendingPathComponent("target")
        let refused = try fixture.run(verb, [target.path, form] + options)
        // What is imported here is a directory.
        #expect(refused.code == 64 && refused.messages.contains("Error: --"), "\(refused.messages)")
        #expect(!FileManager.default.fileExists(atPath: target.path))
    }

    @Test func aCommandLineThatIsWrongIsRefused() throws {
        let fixture = try CommandFixture()
        #expect(try fixture.run("export", "x").code == 64)
        #expect(try fixture.run("export", "x", "--jsonl", "--csv").code == 64)
        #expect(try fixture.run("dump", "--jsonl", "--at", "1").code == 64)
        #expect(try fixture.run("export", "-", "--csv", "--entity", "Team", "--key", "title").code == 64)
    }
}
