import CoreData
import Foundation
import Synchronization
import Testing

/// `strata backup`, while this process goes on saving.
@Suite(.serialized) struct BackupCommandTests {
    /// Saves pairs of persons, on a thread of its own, until it is told to stop.
    private final class Saving: Sendable {
        private let state = Mutex((saved: 0, allowed: 0, stops: false))
        private let ended = DispatchSemaphore(value: 0)

        init(_ coordinator: NSPersistentStoreCoordinator) {
            Thread.detachNewThread { [self] in
                defer { ended.signal() }
                let context = NSManagedObjectContext(.privateQueue)
                context.persistentStoreCoordinator = coordinator
                while !state.withLock({ $0.stops }) {
                    guard state.withLock({ $0.saved < $0.allowed }) else {
                        usleep(1_000)
                        continue
                    }
                    do {
                        try context.performAndWait { try Self.savePair(context) }
                        state.withLock { $0.saved += 1 }
                    } catch {
                        Issue.record(error)
                        return state.withLock { $0.stops = true }
                    }
                }
            }
        }

        private static func savePair(_ context: NSManagedObjectContext) throws {
            for _ in 0..<2 {
                let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                person.setValue("pair", forKey: "name")
                person.setValue(Data(count: 10_000), forKey: "photo")
            }
            try context.save()
        }

        var saved: Int { state.withLock { $0.saved } }

        /// Lets it save so many more, so that the store does not grow as fast as it is copied, and waits for the first.
        func allow(_ count: Int) {
            let goal = state.withLock { state in
                state.allowed = state.saved + count
                return state.saved + 3
            }
            while saved < goal, !state.withLock({ $0.stops }) { usleep(1_000) }
        }

        func stop() {
            state.withLock { $0.stops = true }
            ended.wait()
        }
    }

    @Test func aStoreThatIsWrittenIsCopiedWhole() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let saving = Saving(try #require(fixture.coordinator))
        defer { saving.stop() }
        var pairs: [Int] = []
        for number in 0..<5 {
            let copy = fixture.directory.appendingPathComponent("copy \(number)")
            saving.allow(200)
            let before = saving.saved
            let result = try fixture.run("backup", copy.path, "-f", "json")
            #expect(result.code == 0, "\(result.messages)")
            let report = try #require(result.json as? [String: Int])
            let sound = try fixture.run("verify", "-f", "json", on: copy)
            #expect(sound.code == 0, "\(sound.output)")
            #expect((sound.json as? [String: Any])?["transactions"] as? Int == report["transaction"])
            let found = try fixture.run("query", "Person", "-f", "json", on: copy).records
            let names = found.map { $0["name"] as? String ?? "" }.sorted()
            #expect(names.prefix(2) == ["Ann", "Cleo"])
            #expect(names.count % 2 == 0, "half a save is in the copy")
            #expect((names.count - 2) / 2 >= before)
            #expect(report["bytes"] ?? 0 > (names.count - 2) * 10_000 / 200)
            pairs.append((names.count - 2) / 2)
        }
        #expect(pairs == pairs.sorted() && Set(pairs).count == 5, "\(pairs)")
    }

    @Test func aBackupTakesThePlaceOfNothing() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let copy = fixture.directory.appendingPathComponent("copy")
        #expect(try fixture.run("backup", copy.path).code == 0)
        try fixture.save { context in fixture.insert("Person", ["name": "Dan"], context) }
        let again = try fixture.run("backup", copy.path)
        #expect(again.code == 1 && again.messages.contains("there already"), "\(again.messages)")
        #expect(try fixture.run("query", "Person", "-f", "json", on: copy).records.count == 2)
        let nothing = fixture.directory.appendingPathComponent("nothing")
        let other = fixture.directory.appendingPathComponent("other")
        let failed = try fixture.run("backup", other.path, on: nothing)
        #expect(failed.code == 1 && failed.messages.contains("nothing"), "\(failed.messages)")
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
        #expect(names.filter { $0.hasPrefix("other") } == [])
    }

    @Test func aMissingDirectoryIsNamedOnce() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let missing = fixture.directory.appendingPathComponent("missing")
        let failed = try fixture.run("backup", missing.appendingPathComponent("copy").path)
        #expect(failed.code == 1)
        #expect(failed.messages.components(separatedBy: "is missing").count == 2, "\(failed.messages)")
        #expect(failed.messages.contains("(\(missing.path))"), "\(failed.messages)")
    }
}
