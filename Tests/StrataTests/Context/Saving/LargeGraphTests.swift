import CoreData
import Foundation
import Testing

/// What is done to very many objects at once takes time in proportion. The limits are far above what it takes and far
/// below what comparing everything with everything would.
@Suite(.serialized) struct LargeGraphTests {
    private static let count = 60_000
    private static let limit = Duration.seconds(30)

    private func isQuick(_ what: String, _ body: () throws -> Void) rethrows {
        let time = try ContinuousClock().measure(body)
        #expect(time < Self.limit, "\(what) took \(time)")
    }

    private func probes(_ context: NSManagedObjectContext) throws -> [Probe] {
        let probes = (0..<Self.count).map { _ in Probe(context: context) }
        try context.save()
        return probes
    }

    @Test func mergedDeletionsAmongChanges() throws {
        let store = try TestStore(.memory, Probe.model())
        let (context, other) = (store.context(), store.context())
        try context.performAndWait {
            let all = try probes(context)
            for probe in all { probe.count = 1 }
            let recorder = SaveRecorder(.NSManagedObjectContextDidSave, other)
            let ids = all.prefix(Self.count / 2).map(\.objectID)
            try other.performAndWait {
                for id in ids { other.delete(other.object(with: id)) }
                try other.save()
            }
            isQuick("merging") {
                context.mergeChanges(
                    fromContextDidSave: Notification(
                        name: .NSManagedObjectContextDidSave, object: other, userInfo: recorder.infos.last))
            }
            #expect(context.updatedObjects.count == Self.count / 2 && context.deletedObjects.count == Self.count / 2)
            #expect(all[0].isDeleted)
        }
    }

    @Test func deletionsThatAreUndone() throws {
        let store = try TestStore(.memory, Probe.model())
        let context = store.context()
        try context.performAndWait {
            let all = try probes(context)
            let manager = UndoManager()
            manager.groupsByEvent = false
            context.undoManager = manager
            for probe in all { probe.count = 9 }
            context.processPendingChanges()
            for probe in all { context.delete(probe) }
            context.processPendingChanges()
            isQuick("undoing") { context.undo() }
            #expect(!all[0].isDeleted)
            isQuick("redoing") { context.redo() }
            #expect(all[0].isDeleted)
        }
    }

    @Test func objectsToDetectConflictsFor() throws {
        let store = try TestStore(.memory, Probe.model())
        let context = store.context()
        try context.performAndWait {
            let all = try probes(context)
            try isQuick("detecting") {
                for probe in all { context.detectConflicts(for: probe) }
                for probe in all { context.detectConflicts(for: probe) }
                try context.save()
            }
        }
    }

    @Test func manySourcesOfOneDerivedAttribute() throws {
        let store = try TestStore(.memory, FetchDerivedTests.library())
        let context = store.context()
        try context.performAndWait {
            let author = insert("Author", context)
            let books = (0..<Self.count / 4).map { _ in insert("Book", context).set(["pages": 2]) }
            for book in books { book.setValue(author, forKey: "author") }
            try isQuick("deriving") { try context.save() }
            #expect(author.number("pageCount") == Self.count / 2 && books[0].number("siblings") == Self.count / 4)
        }
    }

    @Test func membersOfAnOrderedRelationship() throws {
        let store = try TestStore(.memory, Probe.model())
        let (context, other) = (store.context(), store.context())
        try context.performAndWait {
            let holder = Probe(context: context)
            let all = try probes(context)
            let set = holder.mutableOrderedSetValue(forKey: "items")
            isQuick("adding by proxy") { for probe in all { set.add(probe) } }
            #expect(holder.items == all)
            isQuick("removing by proxy") { for probe in all.reversed() { set.remove(probe) } }
            #expect(holder.items.isEmpty && set.count == 0)
            isQuick("adding") { for probe in all { probe.holder = holder } }
            try context.save()
            isQuick("deleting members") {
                for probe in all.shuffled().prefix(Self.count / 2) { context.delete(probe) }
                context.processPendingChanges()
            }
            #expect(holder.items == all.filter { !$0.isDeleted })
            isQuick("rolling back") { context.rollback() }
            #expect(holder.items == all)
            // An order that was set, over members that came from elsewhere.
            holder.items = all.reversed()
            let id = holder.objectID
            let recorder = SaveRecorder(.NSManagedObjectContextDidSave, other)
            try other.performAndWait {
                let holder = try #require(other.object(with: id) as? Probe)
                for _ in 0..<Self.count { Probe(context: other).holder = holder }
                try other.save()
            }
            isQuick("merging") {
                context.mergeChanges(
                    fromContextDidSave: Notification(
                        name: .NSManagedObjectContextDidSave, object: other, userInfo: recorder.infos.last))
                #expect(holder.items.count == 2 * Self.count)
            }
            let known = Set(all)
            #expect(Array(holder.items.filter(known.contains).prefix(3)) == all.suffix(3).reversed())
        }
    }
}
