import CoreData
import Foundation
import Testing

/// Each verb, run as people run it. The store is open for writing in this process meanwhile.
@Suite(.serialized) struct CommandTests {
    private func filled() throws -> CommandFixture {
        let fixture = try CommandFixture()
        try fixture.fill()
        return fixture
    }

    @Test func infoCountsAndMeasures() throws {
        let fixture = try filled()
        let result = try fixture.run("info", "--format", "json")
        #expect(result.code == 0, "\(result.messages)")
        let output = try #require(result.json as? [String: Any])
        #expect(output["entities"] as? [String: Int] == ["Team": 1, "Person": 1, "Boss": 1])
        #expect(output["transactions"] as? Int == 3)
        #expect(output["uuid"] as? String == fixture.coordinator?.persistentStores[0].identifier)
        let segments = try #require(output["segmentList"] as? [[String: Any]])
        let segment = try #require(segments.first)
        #expect(segments.count == 1)
        let parts = try ["live", "history", "dead"].map { try #require(segment[$0] as? Int) }
        #expect(segment["bytes"] as? Int == parts.reduce(0, +) && parts[0] > 0 && parts[1] > 0)
        #expect(segment["pinned"] as? Int == 0)
        #expect(output["liveBytes"] as? Int == parts[0] && output["deadBytes"] as? Int == parts[2])
        let table = try fixture.run("info")
        #expect(table.output.contains("Person") && !table.output.contains("\u{1B}"))
        #expect(try fixture.run("info", "--format", "csv").lines == ["entity,objects", "Boss,1", "Person,1", "Team,1"])
    }

    @Test func infoNamesTheUUIDThatACopyHasOfItsOwn() throws {
        let fixture = try filled()
        let first = fixture.coordinator?.persistentStores[0].identifier
        fixture.close()
        let aside = fixture.directory.appendingPathComponent("aside")
        try FileManager.default.copyItem(at: fixture.store, to: aside)
        try FileManager.default.removeItem(at: fixture.store)
        try FileManager.default.moveItem(at: aside, to: fixture.store)
        try fixture.open()
        let own = fixture.coordinator?.persistentStores[0].identifier
        #expect(own != nil && own != first)
        let output = try #require(try fixture.run("info", "--format", "json").json as? [String: Any])
        #expect(output["uuid"] as? String == own)
    }

    @Test func queriesFindSortAndLimit() throws {
        let fixture = try filled()
        let found = try fixture.run("query", "Person", "age > 20", "--sort", "-age", "--format", "json")
        #expect(found.code == 0, "\(found.messages)")
        #expect(found.records.map { $0["name"] as? String } == ["Cleo", "Ann"])
        #expect(found.record(1)["age"] as? Int == 31)
        #expect(found.record(1)["photo"] as? String == "AQID")
        #expect(found.record(1)["active"] as? Bool == true)
        #expect(found.record(0)["team"] is NSNull)
        let first = try fixture.run("query", "person", "--sort", "age", "--limit", "1", "--format", "csv")
        #expect(first.lines.count == 2)
        #expect(first.lines.last?.contains("Ann") == true)
        let explained = try fixture.run("query", "Person", "age > 20", "--explain", "--format", "json")
        #expect((explained.json as? [String: Any])?["results"] as? Int == 2)
        let past = try fixture.run(
            "query", "Person", "team.title == 'Red'", "--sort", "name", "--at", "1", "-f", "json")
        #expect(past.records.map { $0["name"] as? String } == ["Ann", "Bob, \"the\" builder"])
        #expect(past.records.map { $0["age"] as? Int } == [30, 40])
    }

    @Test(arguments: [
        ["Nobody"], ["Person", "age >"], ["Person", "nothing == 1"], ["Person", "--sort", "nothing"],
        ["Person", "--at", "99"],
    ]) func requestsThatMakeNoSenseAreErrors(_ arguments: [String]) throws {
        let fixture = try filled()
        let output = fixture.directory.appendingPathComponent("out")
        let messages = fixture.directory.appendingPathComponent("err")
        let process = try CommandFixture.start(
            ["query", fixture.store.path] + arguments, output: output, messages: messages)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 1)
        let text = try String(contentsOf: messages, encoding: .utf8)
        #expect(text.hasPrefix("Error: ") && text.split(whereSeparator: \.isNewline).count == 1, "\(text)")
    }

    @Test func getPrintsOneObject() throws {
        let fixture = try filled()
        let uri = try #require(
            try fixture.run("query", "Team", "-f", "json").records.first?["uri"] as? String)
        let team = try fixture.run("get", uri, "--format", "json")
        let now = try #require(team.json as? [String: Any])
        #expect(now["title"] as? String == "Red")
        #expect((now["members"] as? [String])?.count == 1)
        let then = try #require(try fixture.run("get", uri, "--at", "1", "-f", "json").json as? [String: Any])
        #expect((then["members"] as? [String])?.count == 2)
        #expect(try fixture.run("get", "Team/p1").output.contains("Red"))
        #expect(try fixture.run("get", uri, "--at", "0").code == 3)
        #expect(try fixture.run("get", "Team/p77").code == 3)
    }

    @Test func dumpPrintsEverything() throws {
        let fixture = try filled()
        let all = try fixture.run("dump", "--format", "json")
        #expect(all.code == 0, "\(all.messages)")
        #expect(all.records.map { $0["entity"] as? String } == ["Boss", "Person", "Team"])
        #expect((all.record(1)["values"] as? [String: Any])?["born"] as? String == "1970-01-01T00:00:00.000Z")
        #expect(try fixture.run("dump", "--at", "1", "-f", "json").records.count == 3)
        #expect(try fixture.run("dump", "--at", "0", "-f", "json").records.isEmpty)
        let past = try fixture.run("dump", "Person", "--at", "2", "--format", "csv")
        #expect(past.output.contains("\"Bob, \"\"the\"\" builder\""))
        #expect(try fixture.run("dump", "--format", "csv").code == 64)
        #expect(try fixture.run("dump").output.contains("Cleo"))
    }

    @Test func historyTellsChangesAndFilters() throws {
        let fixture = try filled()
        let all = try fixture.run("history", "--format", "json")
        #expect(all.code == 0, "\(all.messages)")
        #expect(all.records.map { $0["transaction"] as? Int } == [1, 1, 1, 2, 3, 3])
        let edit = try fixture.run("history", "--author", "edit", "-f", "json").records
        #expect(edit.count == 1 && edit.first?["properties"] as? [String] == ["age"])
        let deleted = try fixture.run("history", "--after", "2", "-f", "json").records.filter {
            $0["change"] as? String == "delete"
        }
        #expect(deleted.first?["tombstone"] as? String == "name=Bob, \"the\" builder")
        #expect(try fixture.run("history", "--entity", "Team", "-f", "json").records.count == 1)
        #expect(try fixture.run("history", "--entity", "Person", "-f", "json").records.count == 5)
        let time = try #require(edit.first?["time"] as? String)
        #expect(try fixture.run("history", "--after", "2099-01-01", "-f", "json").records.isEmpty)
        #expect(try fixture.run("history", "--after", "1970-01-01", "-f", "json").records.count == 6, "\(time)")
        #expect(try fixture.run("history", "--after", "17").code == 1)
    }

    /// What is saved while the command follows comes, each transaction once.
    @Test func historyFollows() throws {
        let fixture = try filled()
        let output = fixture.directory.appendingPathComponent("followed")
        let process = try CommandFixture.start(
            ["history", fixture.store.path, "--follow", "--after", "1", "--format", "json"], output: output,
            messages: fixture.directory.appendingPathComponent("messages"))
        defer { process.terminate() }
        func transactions() throws -> [Int] {
            try String(contentsOf: output, encoding: .utf8).split(separator: "\n").compactMap {
                (try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])?["transaction"] as? Int
            }
        }
        func wait(for count: Int) throws {
            let deadline = Date(timeIntervalSinceNow: 60)
            while try transactions().count < count, Date() < deadline { Thread.sleep(forTimeInterval: 0.02) }
        }
        try wait(for: 3)
        for index in 0..<5 {
            try fixture.save { fixture.insert("Team", ["title": "T\(index)"], $0) }
            if index == 2 { try wait(for: 6) }
        }
        try wait(for: 8)
        #expect(try transactions() == [2, 3, 3, 4, 5, 6, 7, 8])
    }

    @Test func compactTakesSpaceBack() throws {
        let fixture = try filled()
        try fixture.save { context in
            for _ in 0..<20 { fixture.insert("Person", ["name": "Dan", "photo": Data(count: 200_000)], context) }
        }
        try fixture.save { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "name == 'Dan'")
            for object in try context.fetch(request) { context.delete(object) }
        }
        let locked = try fixture.run("compact", "--wait", "0")
        #expect(locked.code == 1 && locked.messages.contains("process \(getpid()) ("), "\(locked.messages)")
        #expect(locked.messages.contains("compact(_:progress:)"))
        fixture.close()
        let result = try fixture.run(
            "compact", ["--format", "json"], environment: ["STRATA_PROGRESS_SECONDS": "0"])
        #expect(result.code == 0, "\(result.messages)")
        #expect(result.messages.contains("compacting"), "\(result.messages)")
        let report = try #require(result.json as? [String: Int])
        #expect(report["segments"] ?? 0 > 0)
        #expect(report["freedBytes"] ?? 0 > report["writtenBytes"] ?? 0)
        #expect(try fixture.run("verify").code == 0)
        #expect(try fixture.run("history", "--format", "json").records.count > 0)
        let found = try fixture.run("query", "Person", "--sort", "name", "--format", "json")
        #expect(found.records.map { $0["name"] as? String } == ["Ann", "Cleo"])
        #expect(try fixture.run("compact", "--format", "csv").lines.first == "what,value")
        try fixture.open()
        try fixture.save { context in
            let age = try fixture.find("Ann", context).value(forKey: "age") as? Int
            #expect(age == 31)
        }
    }

    @Test func verifyFindsDamageAndSalvages() throws {
        let fixture = try filled()
        let sound = try fixture.run("verify", "--format", "json")
        #expect(sound.code == 0, "\(sound.messages)")
        #expect((sound.json as? [String: Any])?["transactions"] as? Int == 3)
        fixture.close()
        // The second transaction's record is damaged: Ann's age goes back to what it was.
        let segment = fixture.store.appendingPathComponent("00000001.seg")
        var bytes = try Data(contentsOf: segment)
        let author = try #require(bytes.range(of: Data("edit".utf8)))
        bytes[author.lowerBound] ^= 0xFF
        try bytes.write(to: segment)
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.store.path) where name.hasSuffix(".chk")
        {
            try FileManager.default.removeItem(at: fixture.store.appendingPathComponent(name))
        }
        let damaged = try fixture.run("verify")
        #expect(damaged.code == 2)
        #expect(damaged.output.contains("damaged: "))
        let saved = fixture.directory.appendingPathComponent("saved")
        let salvaged = try fixture.run("verify", "--salvage", saved.path, "--format", "json")
        #expect(salvaged.code == 2, "\(salvaged.messages)")
        #expect((salvaged.json as? [String: Any])?["rows"] as? Int == 3)
        let people = try fixture.run("query", "Person", "--sort", "name", "-f", "json", on: saved)
        #expect(people.records.map { $0["name"] as? String } == ["Ann", "Cleo"])
        #expect(people.records.first?["age"] as? Int == 30)
        #expect(try fixture.run("verify", on: saved).code == 0)
        #expect(try fixture.run("verify", "--salvage", saved.path).code == 1)
    }

    /// Every damaged place is named, of a store that cannot be opened, too; it stopped at the first one.
    @Test func verifyNamesEveryDamagedPlace() throws {
        let fixture = try filled()
        fixture.close()
        let manifest = fixture.store.appendingPathComponent("MANIFEST")
        let sound = try Data(contentsOf: manifest)
        try Data(sound.map { ~$0 }).write(to: manifest)
        let garbage = try fixture.run("verify")
        #expect(garbage.code == 2 && garbage.output.contains("MANIFEST"))
        try sound.write(to: manifest)
        #expect(try fixture.run("verify").code == 0)

        let segment = fixture.store.appendingPathComponent("00000001.seg")
        var bytes = try Data(contentsOf: segment)
        for needle in ["edit", "Cleo"] {
            let range = try #require(bytes.range(of: Data(needle.utf8)))
            bytes[range.lowerBound] ^= 0xFF
        }
        try bytes.write(to: segment)
        for keepsCheckpoints in [true, false] {
            let names = try FileManager.default.contentsOfDirectory(atPath: fixture.store.path)
            for name in names where name.hasSuffix(".chk") && !keepsCheckpoints {
                try FileManager.default.removeItem(at: fixture.store.appendingPathComponent(name))
            }
            let damaged = try fixture.run("verify", "--format", "json")
            #expect(damaged.code == 2)
            let problems = try #require((damaged.json as? [String: Any])?["problems"] as? [String])
            let offsets = Set(problems.compactMap { $0.split(separator: "offset ").last })
            #expect(offsets.count >= 2, "\(problems)")
        }
    }

    #if !Inspect
    @Test func withoutTheTraitInspectSaysHowToGetIt() throws {
        let fixture = try CommandFixture()
        let result = try fixture.run("inspect")
        #expect(result.code == 1)
        #expect(result.messages.contains("build it with --traits Inspect"))
        #expect(try fixture.run("inspect", "--port", "65536").code == 64)
    }
    #endif

    @Test func wrongCommandLinesAreRefused() throws {
        let fixture = try CommandFixture()
        #expect(try fixture.run("nonsense").code == 64)
        #expect(try fixture.run("query").code == 64)
        #expect(try fixture.run("query", "Person", "--limit", "0").code == 64)
        #expect(try fixture.run("get", "x", "--at", "yesterday").code == 64)
        let missing = fixture.directory.appendingPathComponent("nothing")
        for verb in ["info", "verify", "history", "dump"] {
            let result = try fixture.run(verb, on: missing)
            #expect(result.code == 1 && result.messages.hasPrefix("Error: "), "\(verb): \(result.messages)")
        }
    }
}
