import CoreData
import Foundation
import Testing

/// What is done to very many objects at once takes time in proportion: 32 times as many objects take no more than 96
/// times as long, where comparing everything with everything would take 1,024 times as long. Measured is the time that
/// the context's thread has the processor, so that it does not matter what else runs; what a save hands to other
/// threads is not counted.
@Suite struct LargeGraphTests {
    private static let counts = [1_000, 32_000]

    /// The processor's time of each step, in nanoseconds.
    private final class Steps {
        private(set) var times: [String: UInt64] = [:]

        private static var now: UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }

        func measure(_ step: String, _ body: () throws -> Void) rethrows {
            let start = Self.now
            try body()
            times[step] = Self.now - start
        }
    }

    private func expectProportion(_ body: (_ count: Int, _ steps: Steps) throws -> Void) throws {
        var all: [[String: UInt64]] = []
        for count in Self.counts {
            let steps = Steps()
            try body(count, steps)
            all.append(steps.times)
        }
        #expect(!all[0].isEmpty && all[0].keys == all[1].keys)
        for (step, few) in all[0] {
            let many = try #require(all[1][step])
            // What takes half a millisecond may take any multiple of it.
            #expect(many < 96 * max(few, 500_000), "\(step): \(few) ns for few, \(many) ns for many")
        }
    }

    private func probes(_ count: Int, _ context: NSManagedObjectContext) throws -> [Probe] {
        let probes = (0..<count).map { _ in Probe(context: context) }
        try context.save()
        return probes
    }

    @Test func mergedDeletionsAmongChanges() throws {
        try expectProportion { count, steps in
            let store = try TestStore(.memory, Probe.model())
            let (context, other) = (store.context(), store.context())
            try context.performAndWait {
                let all = try probes(count, context)
                for probe in all { probe.count = 1 }
                let recorder = SaveRecorder(.NSManagedObjectContextDidSave, other)
                let ids = all.prefix(count / 2).map(\.objectID)
                try other.performAndWait {
                    for id in ids { other.delete(other.object(with: id)) }
                    try other.save()
                }
                steps.measure("merging") {
                    context.mergeChanges(
                        fromContextDidSave: Notification(
                            name: .NSManagedObjectContextDidSave, object: other, userInfo: recorder.infos.last))
                }
                #expect(context.updatedObjects.count == count / 2 && context.deletedObjects.count == count / 2)
                #expect(all[0].isDeleted)
            }
        }
    }

    @Test func deletionsThatAreUndone() throws {
        try expectProportion { count, steps in
            let store = try TestStore(.memory, Probe.model())
            let context = store.context()
            try context.performAndWait {
                let all = try probes(count, context)
                let manager = UndoManager()
                manager.groupsByEvent = false
                context.undoManager = manager
                for probe in all { probe.count = 9 }
                context.processPendingChanges()
                for probe in all { context.delete(probe) }
                context.processPendingChanges()
                steps.measure("undoing") { context.undo() }
                #expect(!all[0].isDeleted)
                steps.measure("redoing") { context.redo() }
                #expect(all[0].isDeleted)
            }
        }
    }

    @Test func objectsToDetectConflictsFor() throws {
        try expectProportion { count, steps in
            let store = try TestStore(.memory, Probe.model())
            let context = store.context()
            try context.performAndWait {
                let all = try probes(count, context)
                try steps.measure("detecting") {
                    for probe in all { context.detectConflicts(for: probe) }
                    for probe in all { context.detectConflicts(for: probe) }
                    try context.save()
                }
            }
        }
    }

    @Test func manySourcesOfOneDerivedAttribute() throws {
        try expectProportion { count, steps in
            let store = try TestStore(.memory, FetchDerivedTests.library())
            let context = store.context()
            try context.performAndWait {
                let author = insert("Author", context)
                let books = (0..<count / 4).map { _ in insert("Book", context).set(["pages": 2]) }
                for book in books { book.setValue(author, forKey: "author") }
                try steps.measure("deriving") { try context.save() }
                #expect(author.number("pageCount") == count / 2 && books[0].number("siblings") == count / 4)
            }
        }
    }

    @Test func membersOfAnOrderedRelationship() throws {
        try expectProportion { count, steps in
            let store = try TestStore(.memory, Probe.model())
            let (context, other) = (store.context(), store.context())
            try context.performAndWait {
                let holder = Probe(context: context)
                let all = try probes(count, context)
                let set = holder.mutableOrderedSetValue(forKey: "items")
                steps.measure("adding by proxy") { for probe in all { set.add(probe) } }
                #expect(holder.items == all)
                steps.measure("removing by proxy") { for probe in all.reversed() { set.remove(probe) } }
                #expect(holder.items.isEmpty && set.count == 0)
                steps.measure("adding") { for probe in all { probe.holder = holder } }
                try context.save()
                steps.measure("deleting members") {
                    for probe in all.shuffled().prefix(count / 2) { context.delete(probe) }
                    context.processPendingChanges()
                }
                #expect(holder.items == all.filter { !$0.isDeleted })
                steps.measure("rolling back") { context.rollback() }
                #expect(holder.items == all)
                // An order that was set, over members that came from elsewhere.
                holder.items = all.reversed()
                let id = holder.objectID
                let recorder = SaveRecorder(.NSManagedObjectContextDidSave, other)
                try other.performAndWait {
                    let holder = try #require(other.object(with: id) as? Probe)
                    for _ in 0..<count { Probe(context: other).holder = holder }
                    try other.save()
                }
                steps.measure("merging") {
                    context.mergeChanges(
                        fromContextDidSave: Notification(
                            name: .NSManagedObjectContextDidSave, object: other, userInfo: recorder.infos.last))
                    #expect(holder.items.count == 2 * count)
                }
                let known = Set(all)
                #expect(Array(holder.items.filter(known.contains).prefix(3)) == all.suffix(3).reversed())
            }
        }
    }
}
