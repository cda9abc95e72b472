import CoreData
import Foundation
import Testing

/// `strata stats`, and how sizes and empty values are printed.
@Suite(.serialized) struct StatsCommandTests {
    @Test func propertiesAreMeasured() throws {
        let fixture = try CommandFixture()
        try fixture.save { context in
            for number in 0..<2_000 {
                // Names shrink, photos do not, and one is stored by itself.
                var photo = Data((0..<50).map { _ in UInt8.random(in: 0...255) })
                if number == 7 { photo = Data((0..<100_000).map { _ in UInt8.random(in: 0...255) }) }
                fixture.insert(
                    "Person", ["name": String(repeating: "Smith ", count: 10), "photo": photo, "age": 3], context)
            }
        }
        let result = try fixture.run("stats", "-f", "json")
        #expect(result.code == 0, "\(result.messages)")
        let json = try #require(result.json as? [String: Any])
        let entities = try #require(json["entities"] as? [[String: Any]])
        #expect(entities.count == 1 && entities[0]["objects"] as? Int == 2_000)
        let stored = try #require(entities[0]["stored"] as? Int)
        let properties = try #require(json["properties"] as? [[String: Any]])
        func property(_ name: String) throws -> [String: Any] {
            try #require(properties.first { $0["property"] as? String == name })
        }
        let name = try property("name")
        #expect(name["values"] as? Int == 2_000 && name["size"] as? Int == 120_000)
        #expect(try #require(name["stored"] as? Int) < 30_000)
        let photo = try property("photo")
        #expect(photo["size"] as? Int == 1_999 * 50 + 100_000)
        #expect(try #require(photo["stored"] as? Int) >= 1_999 * 50 + 100_000)
        #expect(photo["largeValues"] as? Int == 1)
        #expect(try property("born")["values"] as? Int == 0)
        let sum = properties.compactMap { $0["stored"] as? Int }.reduce(0, +)
        #expect(sum < stored && stored < sum + 60_000, "\(sum) of \(stored)")
        #expect(json["values"] as? Int == properties.compactMap { $0["size"] as? Int }.reduce(0, +))
        let segments = try #require(json["segmentList"] as? [[String: Any]])
        #expect(segments.count == 1 && segments[0]["transactions"] as? Int == 1)
        #expect(try #require(json["saved"] as? Int) >= stored && json["movedByCompaction"] as? Int == 0)
        // Replaced rows do not count.
        try fixture.save { context in
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
                object.setValue(nil, forKey: "name")
                object.setValue(nil, forKey: "photo")
            }
        }
        let later = try #require(try fixture.run("stats", "-f", "json").json as? [String: Any])
        #expect(try #require(later["values"] as? Int) <= 2_000 * 4)
        #expect(try #require(later["withKeysAndHeaders"] as? Int) < stored / 4)
    }

    @Test func theCacheIsThatOfTheProgramThatTells() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let file = fixture.directory.appendingPathComponent("store.strata-status")
        func stats() throws -> [String: Any] {
            let result = try fixture.run("stats", "-f", "json")
            #expect(result.code == 0, "\(result.messages)")
            return try #require(result.json as? [String: Any])
        }
        #expect(try stats()["cache"] == nil)
        let counters = "\"cacheHits\":3,\"cacheMisses\":1"
        let status = "\"process\":7,\"program\":\"web\\u001B[31m\",\"time\":0,\"cacheBytes\":4096"
        try "{\"version\":1,\(status),\"counters\":{\(counters)}}".write(to: file, atomically: true, encoding: .utf8)
        let told = try stats()
        #expect(told["cache"] as? Int == 4_096 && told["cacheHitsInPercent"] as? Double == 75, "\(told)")
        let table = try fixture.run("stats")
        #expect(table.output.contains("cache: 4.1 kB\ncache hits in percent: 75.0\n"), "\(table.output)")
        #expect(table.output.contains("process 7, at 1970-01-01T00:00:00.000Z"))
        #expect(!table.output.contains("\u{1B}"))
        for text in ["", "{", "{\"version\":2,\(status),\"counters\":{\(counters)}}"] {
            try text.write(to: file, atomically: true, encoding: .utf8)
            #expect(try stats()["cache"] == nil)
        }
    }

    @Test func compactionIsToldFromSaves() throws {
        let fixture = try CommandFixture()
        try fixture.save { context in
            for _ in 0..<300 {
                fixture.insert(
                    "Person", ["name": "Dan", "photo": Data((0..<900).map { _ in UInt8.random(in: 0...255) })], context)
            }
        }
        try fixture.save { context in
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).dropFirst(20) {
                context.delete(object)
            }
        }
        fixture.close()
        #expect(try fixture.run("compact").code == 0)
        let json = try #require(try fixture.run("stats", "-f", "json").json as? [String: Any])
        #expect(try #require(json["movedByCompaction"] as? Int) > 20 * 900)
        #expect((json["entities"] as? [[String: Any]])?.first?["objects"] as? Int == 20)
    }

    @Test func sizesAreForReadingUnlessBytesAreAskedFor() throws {
        let fixture = try CommandFixture()
        try fixture.save { fixture.insert("Person", ["name": "", "photo": Data(count: 7)], $0) }
        let info = try fixture.run("info")
        #expect(
            info.output.range(of: #"\nlog: [0-9.]+ [kM]?B\n"#, options: .regularExpression) != nil, "\(info.output)")
        let exact = try fixture.run("info", "--bytes")
        let bytes = try #require((try fixture.run("info", "-f", "json").json as? [String: Any])?["logBytes"] as? Int)
        #expect(exact.output.contains("\nlog bytes: \(bytes)\n"), "\(exact.output)")
        // No value is not an empty text.
        let table = try fixture.run("query", "Person", "--select", "name, age, photo")
        #expect(table.lines.last?.split(separator: " ") == ["\"\"", "NULL", "<7", "bytes>"], "\(table.output)")
        let csv = try fixture.run("query", "Person", "--select", "name, age", "-f", "csv")
        #expect(csv.lines.last == "\"\",")
        try fixture.save { fixture.insert("Person", ["name": "NULL"], $0) }
        #expect(try fixture.run("query", "Person", "--select", "name").lines == ["name", "\"\"", "\"NULL\""])
    }

    @Test func numbersAndTheirTitlesAreAtTheRight() throws {
        let fixture = try CommandFixture()
        try fixture.save { context in
            for age in [7, 12_345] { fixture.insert("Person", ["name": "漢字 \(age)", "age": age], context) }
        }
        let table = try fixture.run("query", "Person", "--select", "age, name", "--sort", "age")
        #expect(table.lines == ["  age  name", "    7  漢字 7", "12345  漢字 12345"], "\(table.output)")
        // Signs that take two columns.
        let names = try fixture.run("query", "Person", "--select", "name, age", "--sort", "age")
        #expect(names.lines == ["name          age", "漢字 7          7", "漢字 12345  12345"], "\(names.output)")
    }

    @Test func tablesFitTheTerminal() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let name = String(repeating: "long ", count: 40)
        try fixture.save { fixture.insert("Person", ["name": name, "age": 1], $0) }
        let terminal = try CommandTerminal()
        let query = ["query", fixture.store.path, "Person", "--select", "name, age, born", "--sort", "age"]
        for width in [40, 60, 100] {
            try terminal.setWidth(width)
            let text = try terminal.run(query, environment: ["NO_COLOR": "1"]).text
            let lines = text.split(whereSeparator: \.isNewline)
            #expect(lines.allSatisfy { $0.count <= width }, "\(width): \(text)")
            #expect(text.contains("long …") || text.contains("…"), "\(text)")
        }
        // Too narrow for the columns: a line for each.
        try terminal.setWidth(20)
        let narrow = try terminal.run(query, environment: ["NO_COLOR": "1"]).text
        #expect(narrow.contains("name  long long"), "\(narrow)")
        #expect(narrow.contains("age   1\r\n"), "\(narrow)")
    }

    /// Without a terminal there is a line now and then, and none for what is done in a moment.
    @Test func logsGetLinesOfProgress() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        #expect(try fixture.run("verify").messages.isEmpty)
        let told = try fixture.run("verify", [], environment: ["STRATA_PROGRESS_SECONDS": "0"])
        #expect(told.code == 0)
        let line = try #require(told.messages.split(separator: "\n").last)
        let form = #"^strata: verifying: \d+ %, [0-9.]+ [kMG]?B/s, \d+ s left$"#
        #expect(line.range(of: form, options: .regularExpression) != nil, "\(told.messages)")
    }

    /// Work of which nobody knows the end counts what is done.
    @Test(arguments: [
        (["backup", "STORE", "COPY"], #"strata: copying: \d+ %"#),
        (["export", "--jsonl", "STORE", "COPY"], #"strata: exporting: 3 objects, \d+ objects/s"#),
        (["export", "--csv", "STORE", "COPY"], #"strata: exporting: 3 objects, \d+ objects/s"#),
        (["dump", "STORE", "--jsonl"], #"strata: dumping: 3 objects, \d+ objects/s"#),
    ]) func longVerbsTellHowFarTheyAre(_ arguments: [String], _ form: String) throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let copy = fixture.directory.appendingPathComponent("copied").path
        let (output, messages) = (
            fixture.directory.appendingPathComponent("out"), fixture.directory.appendingPathComponent("err")
        )
        let process = try CommandFixture.start(
            arguments.map { $0 == "STORE" ? fixture.store.path : $0 == "COPY" ? copy : $0 }, output: output,
            messages: messages, environment: ["STRATA_PROGRESS_SECONDS": "0"])
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let text = try String(contentsOf: messages, encoding: .utf8)
        #expect(text.range(of: form, options: .regularExpression) != nil, "\(text)")
    }
}
