import CoreData
import Foundation
import StrataSchema
import StrataSupport
import Testing

@testable import Strata

/// `STRATA_DEBUG` and `-com.apple.CoreData.SQLDebug`.
@Suite struct DebugOutputTests {
    @Test func settingsOfEnvironmentAndArguments() {
        func settings(_ variable: String?, _ arguments: String...) -> DebugSettings {
            DebugSettings(arguments: ["program"] + arguments, variable: variable)
        }
        #expect(settings(nil).kinds.isEmpty)
        #expect(settings("fetch, save").kinds == [.fetch, .save])
        #expect(settings("fetch,2").kinds == .fetch)
        #expect(settings("2,Fetch") == settings("fetch,2"))
        #expect(settings("fetch").level == 1)
        #expect(settings("9").level == 4)
        #expect(settings("0").kinds.isEmpty)
        #expect(settings("3").kinds.isSuperset(of: [.fetch, .save, .batch]))
        #expect(settings("fetch,sav").unknown == ["sav"])
        #expect(settings("all").kinds.isSuperset(of: [.checkpoint, .wait, .fetch]))
        #expect(settings(nil, "-com.apple.CoreData.SQLDebug", "1").kinds.contains(.fetch))
        #expect(settings(nil, "-com.apple.CoreData.SQLDebug", "0").kinds.isEmpty)
        #expect(settings(nil, "-com.apple.CoreData.SQLDebug").kinds.isEmpty)
        #expect(settings("flush", "-com.apple.CoreData.SQLDebug", "3").kinds.isSuperset(of: [.flush, .fetch]))
        #expect(settings("flush", "-com.apple.CoreData.SQLDebug", "3").level == 3)
    }

    private static func print(_ variable: String) throws {
        setenv(DebugSettings.variable, variable, 1)
        let store = try EventFixture()
        let context = store.container.newBackgroundContext()
        try context.performAndWait {
            store.add(3, to: context)
            try context.save()
            let request = store.request(NSPredicate(format: "pages >= %d AND title != %@", 1, "Secret"))
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
            request.fetchLimit = 5
            _ = try context.fetch(request)
        }
    }

    @Test func levelOneShowsRequestPlanAndTimeButNoValues() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try Self.print("1")
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("WHERE pages >= ? AND title != ? ORDER BY title DESC LIMIT 5\n"), "\(text)")
        #expect(text.contains("CoreData: annotation: plan: "))
        #expect(text.contains("CoreData: annotation: total fetch execution time: "))
        #expect(text.contains(" for 2 rows.\n"))
        #expect(text.contains(": 3 inserted, 0 updated, 0 deleted, transaction "))
        #expect(!text.contains("Secret") && !text.contains("details:"))
    }

    @Test func levelFourShowsValuesResultsAndTheWholePlan() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try Self.print("4,fetch,sav")
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("WHERE pages >= 1 AND title != \"Secret\""), "\(text)")
        #expect(text.contains("details: blocks: ") && text.contains("details: x-coredata://"))
        #expect(!text.contains("inserted"), "saves were not asked for")
        #expect(text.contains("STRATA_DEBUG has sav."), "what is misspelt is said")
    }

    private static func meetConflict(deletes: Bool) throws {
        setenv(DebugSettings.variable, "conflict", 1)
        let store = try EventFixture()
        let (one, other) = (store.container.newBackgroundContext(), store.container.newBackgroundContext())
        let id = try one.performAndWait {
            store.add(1, to: one)
            try one.save()
            return try #require(try one.fetch(store.request()).first).objectID
        }
        for context in [one, other] {
            try context.performAndWait { try context.existingObject(with: id).setValue("Secret", forKey: "title") }
        }
        try one.performAndWait {
            let object = try one.existingObject(with: id)
            object.setValue(7, forKey: "pages")
            if deletes { one.delete(object) }
            try one.save()
        }
        try? other.performAndWait { try other.save() }
    }

    @Test func aConflictNamesItsObjectsPropertiesAndTransaction() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try Self.meetConflict(deletes: false)
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let line = /not resolved: Book\w*\/p\d+: others set pages and title until transaction 2, this save sets title/
        #expect(text.contains(line), "\(text)")
        #expect(!text.contains("Secret"))
    }

    private static func takeTheSameCode() throws {
        setenv(DebugSettings.variable, "conflict", 1)
        let store = try EventFixture()
        for _ in 0..<2 {
            let context = store.container.newBackgroundContext()
            try? context.performAndWait {
                store.add(1, to: context)
                for object in context.insertedObjects { object.setValue("Secret", forKey: "code") }
                try context.save()
            }
        }
    }

    @Test func aTakenValueNamesItsHolder() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try Self.takeTheSameCode()
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let line = /conflict, attempt 1, not resolved: Book\w*\/p\d+: code is taken by Book\w*\/p\d+/
        #expect(text.contains(line), "\(text)")
        #expect(!text.contains("Secret"))
    }

    @Test func aConflictWithADeletionSaysSo() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try Self.meetConflict(deletes: true)
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains(": others deleted it, this save sets title"), "\(text)")
    }

    @Test(arguments: [
        ("name == 'Ann'", "name == ?"),
        ("name IN {'Ann', 'Bob'} OR age > 30", "name IN ? OR age > ?"),
        ("NOT (name BEGINSWITH[cd] 'A')", "NOT name BEGINSWITH[cd] ?"),
        ("ANY books.title LIKE 'x*'", "ANY books.title LIKE ?"),
        ("age BETWEEN {1, 2}", "age BETWEEN ?"),
        ("SUBQUERY(books, $b, $b.pages > 5).@count > 3", "SUBQUERY(books, $b, $b.pages > ?).@count > ?"),
        ("age + 5 > pages * 2", "(age + ?) > (pages * ?)"),
        ("name == $NAME", "name == $NAME"),
        ("name == '$?'", "name == ?"),
        ("TRUEPREDICATE", "TRUEPREDICATE"),
    ])
    func predicatesWithoutTheirConstants(_ format: String, _ expected: String) {
        #expect(PredicateRedaction.text(NSPredicate(format: format)) == expected)
    }
}
