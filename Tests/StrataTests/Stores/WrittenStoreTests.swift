import CoreData
import Foundation
import StrataIO
import StrataSupport
import StrataTestKit
import SystemPackage
import Testing

@testable import Strata
@testable import StrataLog

/// The stores that each version of the format wrote, in `Written`: today's program reads, follows and writes them.
@Suite struct WrittenStoreTests {
    private static let files = FileManager.default

    /// The folder is a resource, and in the sources when it is written.
    private static func folder(_ version: Int, in root: URL? = Bundle.module.resourceURL) throws -> URL {
        try #require(root).appendingPathComponent("Written/format-\(version)")
    }

    private static func copy(_ version: Int, withCheckpoints: Bool = true) throws -> WrittenStoreCopy {
        try WrittenStoreCopy(try folder(version), version: version, withCheckpoints: withCheckpoints)
    }

    /// Every version that there is a folder of.
    private static let kept: [Int] = {
        guard let root = Bundle.module.resourceURL?.appendingPathComponent("Written"),
            let names = try? files.contentsOfDirectory(atPath: root.path)
        else { return [] }
        return names.compactMap { Int($0.dropFirst("format-".count)) }.sorted()
    }()

    /// The log, its newest checkpoint and the manifest; the rest is made again.
    private static func names(_ fileSystem: SimulatedFileSystem) throws -> [String] {
        let names = try fileSystem.list(WrittenStore.path)
        let checkpoints = names.filter { $0.hasSuffix(".chk") }
        return names.filter { $0.hasSuffix(".seg") || $0 == "MANIFEST" } + checkpoints.suffix(1)
    }

    /// Writes the folders of versions that have none: `STRATA_WRITE_STORES=1 swift test --filter WrittenStoreTests`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["STRATA_WRITE_STORES"] != nil))
    func writesWhatIsNotThereYet() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        for version in WrittenStore.versions {
            let folder = try Self.folder(version, in: sources)
            guard !Self.files.fileExists(atPath: folder.path) else { continue }
            try Self.files.createDirectory(at: folder, withIntermediateDirectories: true)
            let fileSystem = try WrittenStore.write(version)
            for name in try Self.names(fileSystem) {
                let bytes = try fileSystem.contents(of: WrittenStore.path.appending(name))
                try Data(bytes).write(to: folder.appendingPathComponent(name))
            }
        }
    }

    @Test func everyVersionThatIsWrittenIsKept() {
        #expect(Set(Self.kept).isSuperset(of: WrittenStore.versions), "write the missing folder: docs/testing.md")
    }

    // MARK: Reading

    /// With its checkpoints, and from the log alone.
    @Test(arguments: kept, [true, false]) func everyValueIsRead(_ version: Int, withCheckpoints: Bool) throws {
        let copy = try Self.copy(version, withCheckpoints: withCheckpoints)
        try copy.with(readOnly: true) { context throws in
            try expectThings(context, version)
            try expectPeople(context, version)
            let tasks = try #require(context.all("Person", "code == 'c0'").first?.value(forKey: "tasks"))
            #expect(try names(#require(tasks as? NSOrderedSet), "text") == ["c", "d", "a", "b"])
            for (title, codes) in ["red": ["two", "one"], "blue": ["one"]] {
                let team = try #require(context.all("Team", "title == '\(title)'").first)
                #expect(try names(#require(team.value(forKey: "projects") as? NSOrderedSet), "code") == codes)
            }
            let one = try #require(context.all("Project", "code == 'one'").first)
            #expect(one.targets("teams").count == 2)
            if version == 1 { #expect(try context.all("Note").map { $0.text("text") } == ["note 0"]) }
            let metadata = try #require(context.persistentStoreCoordinator?.persistentStores.first?.metadata)
            #expect(metadata["purpose"] as? String == "kept" && metadata["list"] as? [Int] == [1, 2])
            #expect(metadata[NSStoreUUIDKey] as? String == WrittenStore.uuid)
        }
    }

    private func names(_ objects: NSOrderedSet, _ key: String) -> [String?] {
        objects.array.map { ($0 as? NSManagedObject)?.value(forKey: key) as? String }
    }

    private func expectThings(_ context: NSManagedObjectContext, _ version: Int) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
        let found = try context.fetch(request).sorted { $0.uri() < $1.uri() }
        var things = WrittenStore.things
        things[0]["int32"] = Int32(71_000)
        if version > 1 { things.append(["string": "new"]) }
        #expect(found.count == things.count)
        for (object, wanted) in zip(found, things) {
            for name in object.entity.attributesByName.keys where name != "place" {
                #expect(object.value(forKey: name) as? AnyHashable == wanted[name] as? AnyHashable, "\(name)")
            }
            let place = object.value(forKey: "place") as? [String: Any]
            let wantedPlace = wanted["place"] as? [String: Any]
            #expect(place?["street"] as? String == wantedPlace?["street"] as? String)
            #expect(place?["number"] as? Int32 == wantedPlace?["number"] as? Int32)
        }
        #expect(found.first?.entity.attributesByName["float"] == nil || version == 1)
    }

    /// Names, ages, teams and friends, by code.
    private func expectPeople(_ context: NSManagedObjectContext, _ version: Int) throws {
        let (name, gone) = (version == 1 ? "name" : "fullName", version == 1 ? [2, 4] : [2, 4, 6])
        var wanted: [String: String] = [:]
        for index in 0..<20 where !gone.contains(index) {
            let names = version == 1 ? [0: "zero"] : [0: "zero", 5: "five"]
            let age = index == 3 ? 50 : WrittenStore.age(index)
            let team = index == 1 ? "red" : WrittenStore.team(index)
            let friend = index % 2 == 0 && !gone.contains(index + 1) ? "c\(index + 1)" : "-"
            wanted["c\(index)"] = [
                names[index] ?? WrittenStore.name(index), age.map { "\($0)" } ?? "-", team ?? "-", friend,
                version == 1 ? "-" : index == 5 ? "9" : "7",
            ].joined(separator: " ")
        }
        let level = version == 1 ? "-" : "7"
        wanted["p0"] = "pilot 0 - blue - \(level)"
        wanted["p1"] = "pilot 1 - blue - \(level)"
        wanted["late"] = "late 60 - - \(level)"
        if version > 1 { wanted["last"] = "last - - - 7" }
        var found: [String: String] = [:]
        for person in try context.all("Person") {
            let friends = (person.value(forKey: "friends") as? Set<NSManagedObject> ?? []).map { $0.text("code") ?? "" }
            found[person.text("code") ?? ""] = [
                person.text(name) ?? "-", (person.value(forKey: "age") as? Int16).map { "\($0)" } ?? "-",
                (person.value(forKey: "team") as? NSManagedObject)?.text("title") ?? "-",
                friends.isEmpty ? "-" : friends.joined(separator: ","),
                version == 1 ? "-" : (person.value(forKey: "level") as? Int16).map { "\($0)" } ?? "none",
            ].joined(separator: " ")
        }
        #expect(found == wanted)
        #expect(try context.all("Pilot", sortedBy: "licence").map { $0.text("licence") } == ["L0", "L1"])
        for title in ["red", "blue"] {
            let team = try #require(context.all("Team", "title == '\(title)'").first)
            #expect(team.targets("members").count == wanted.values.count { $0.contains(" \(title) ") })
        }
    }

    @Test(arguments: kept, [true, false]) func theHistoryIsRead(_ version: Int, withCheckpoints: Bool) throws {
        let copy = try Self.copy(version, withCheckpoints: withCheckpoints)
        let name = version == 1 ? "name" : "fullName"
        var wanted = [
            "importer first \(version == 1 ? "+30 Note " : "")"
                + "+20 Person +2 Pilot +2 Project +4 Task +2 Team +4 Thing",
            "editor ? ~2 Person ~2 Task ~1 Thing \(["int32", name, "person", "team"].sorted().joined(separator: " "))",
            "? ? \(version == 1 ? "-29 Note " : "")-1 Person 'person 2'",
            "after ? ~1 Person age",
            "segments ? +1 Person ~1 Person friendOf -1 Person 'person 4'",
        ]
        if version > 1 {
            wanted += [
                "migrated ? +1 Thing ~1 Person \(name) level",
                "last end +1 Person ~1 Person friendOf -1 Person 'person 6'",
            ]
        }
        try copy.with(readOnly: true) { context throws in
            let transactions = try history(context)
            #expect(transactions.map(describe) == wanted)
            #expect(transactions.map(\.transactionNumber) == (1...transactions.count).map { Int64($0) })
            let time = Date(timeIntervalSince1970: WrittenStore.timeSeconds)
            #expect(transactions.allSatisfy { $0.timestamp == time && $0.storeID == transactions[0].storeID })
        }
    }

    private func history(_ context: NSManagedObjectContext) throws -> [NSPersistentHistoryTransaction] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        return try #require(result?.result as? [NSPersistentHistoryTransaction])
    }

    /// Author and context; counts by kind and entity, the properties that were updated, and the values that are
    /// preserved of what was deleted.
    private func describe(_ transaction: NSPersistentHistoryTransaction) -> String {
        let changes = transaction.changes ?? []
        var parts = [transaction.author, transaction.contextName].map { $0 ?? "?" }
        for (type, sign) in [(NSPersistentHistoryChangeType.insert, "+"), (.update, "~"), (.delete, "-")] {
            let own = changes.filter { $0.changeType == type }
            let entities = Dictionary(grouping: own) { $0.changedObjectID.entity.name ?? "" }
            parts += entities.sorted { $0.key < $1.key }.map { "\(sign)\($0.value.count) \($0.key)" }
            parts += Set(own.flatMap { $0.updatedProperties?.map(\.name) ?? [] }).sorted()
            parts += own.flatMap { $0.tombstone?.values.map { "'\($0)'" } ?? [] }.sorted()
        }
        return parts.joined(separator: " ")
    }

    @Test(arguments: kept) func theIndexesAreUsed(_ version: Int) throws {
        try Self.copy(version).with(readOnly: true) { context throws in
            for (format, index, count) in [
                ("age == 50", "Person.byAge", 1), ("age BETWEEN {20, 21}", "Person.byAge", version == 1 ? 7 : 6),
                ("code == 'c7'", "Person.code", 1),
            ] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.predicate = NSPredicate(format: format)
                let explanation = try IndexUse.setting.withValue(.always) { try context.explain(request) }
                #expect(explanation.path == .orderedIndex && explanation.index == index, "\(format): \(explanation)")
                #expect(explanation.results == count, "\(format)")
            }
        }
    }

    @Test(arguments: kept) func readingChangesNoByte(_ version: Int) throws {
        let copy = try Self.copy(version)
        let before = try copy.contents()
        #expect(before.count > 3)
        try copy.with(readOnly: true) { context throws in
            try expectThings(context, version)
            try expectPeople(context, version)
            _ = try history(context)
        }
        #expect(try copy.contents() == before)
    }

    @Test(arguments: kept) func nothingIsFoundWrong(_ version: Int) throws {
        let copy = try Self.copy(version)
        var options = LogOptions()
        options.access = .readOnly
        let log = try LogStore.open(FilePath(copy.url.path), in: PosixFileSystem(), options: options, schema: nil)
        let report = try withExtendedLifetime(copy) { try log.verify() }
        #expect(report.isSound, "\(report.problems + report.damagedCaches)")
        #expect(report.transactions > 1 && report.rows > 40)
    }

    // MARK: Writing

    @Test(arguments: kept) func theStoreIsWritten(_ version: Int) throws {
        let copy = try Self.copy(version)
        let name = version == 1 ? "name" : "fullName"
        try copy.with { context throws in
            // A copy that is written is a store of its own.
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
            #expect(store.identifier != WrittenStore.uuid)
            let person = context.insert("Person", [name: "written", "code": "c7"])
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.errorCode == NSManagedObjectConstraintMergeError)
            person.setValue("written", forKey: "code")
            let red = try #require(context.all("Team", "title == 'red'").first)
            person.setValue(red, forKey: "team")
            context.delete(try #require(context.all("Person", "code == 'c8'").first))
            try #require(context.all("Thing", "string == ''").first).setValue("filled", forKey: "string")
            try context.save()
            try context.persistentStoreCoordinator?.compact(store)
        }
        try copy.with { context throws in
            #expect(try context.all("Person", "team.title == 'red' AND code == 'written'").count == 1)
            #expect(try context.all("Person", "code == 'c8'").isEmpty)
            #expect(try context.all("Thing", "string == 'filled'").first?.value(forKey: "int16") as? Int16 == .min)
            let told = try history(context).last.map(describe)
            // The compaction has removed the row of the friendship that went with the person.
            #expect(told == "? ? +1 Person ~1 Person ~1 Thing friendOf string -1 Person 'person 8'")
        }
    }

    /// The store of the first model is migrated to today's.
    @Test func theOldestStoreIsMigrated() throws {
        try Self.copy(1).with(model: 2) { context throws in
            #expect(try context.all("Person", "level == 7").count == 21)
            #expect(try context.all("Person", "fullName == 'zero'").count == 1)
        }
    }

    // MARK: The same again

    /// Whoever changes what is stored without noticing learns of it here. Times and names of programs are left out, and
    /// archives, whose entries come in any order.
    @Test(arguments: WrittenStore.versions) func theSameContentIsStoredTheSame(_ version: Int) throws {
        let folder = try Self.folder(version)
        let kept = try StoredForm(try Self.files.contentsOfDirectory(atPath: folder.path)) { name in
            [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
        }
        let fileSystem = try WrittenStore.write(version)
        let today = try StoredForm(try Self.names(fileSystem)) { name in
            try fileSystem.contents(of: WrittenStore.path.appending(name))
        }
        let advice: Comment = "if this is wanted, raise the format's version and keep the old folder"
        #expect(kept.records == today.records, advice)
        let differing = kept.rows.filter { today.rows[$0.key] != $0.value }.keys.sorted()
        #expect(differing.isEmpty && kept.rows.count == today.rows.count, advice)
        let hasSameModels = kept.models == today.models
        #expect(hasSameModels, advice)
        #expect(kept.metadataKeys == today.metadataKeys, advice)
        #expect(kept.rows.count > 40 && kept.models.count == version && kept.records.count > 8)
    }
}
