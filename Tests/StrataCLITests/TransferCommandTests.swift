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

    @Test func aCommandLineThatIsWrongIsRefused() throws {
        let fixture = try CommandFixture()
        #expect(try fixture.run("export", "x").code == 64)
        #expect(try fixture.run("export", "x", "--jsonl", "--csv").code == 64)
        #expect(try fixture.run("dump", "--jsonl", "--at", "1").code == 64)
        #expect(try fixture.run("export", "-", "--csv", "--entity", "Team", "--key", "title").code == 64)
    }
}
