import CoreData
import Foundation
import StrataSupport
import Synchronization
import Testing

@testable import Strata

/// What the library's one hook hears.
@Suite struct EventTests {
    @Test(arguments: EventFixture.Kind.allCases) func fetchesAndCountsTellTheirPlanAndRows(
        _ kind: EventFixture.Kind
    ) throws {
        let store = try EventFixture(kind)
        store.listen(.fetch) { [entity = store.entity] event in
            guard case .fetch(let fetch) = event, fetch.entity == entity else { return nil }
            let name = fetch.isCount ? "count" : "fetch"
            return "\(name) \(fetch.results) of \(fetch.rowsScanned) by \(fetch.path ?? "-") "
                + "\(fetch.work.duration > .zero) \(fetch.work.error == nil)"
        }
        let context = store.container.newBackgroundContext()
        try context.performAndWait {
            store.add(40, to: context)
            try context.save()
            #expect(try context.fetch(store.request()).count == 40)
            #expect(store.take() == ["fetch 40 of 0 by all rows true true"])
            let some = store.request(NSPredicate(format: "title CONTAINS %@", "T1"))
            #expect(try context.fetch(some).count == 11)
            #expect(store.take() == ["fetch 11 of 40 by compiled scan true true"])
            #expect(try context.count(for: some) == 11)
            #expect(store.take() == ["count 11 of 40 by compiled scan true true"])
            #expect(try context.count(for: store.request()) == 40)
            #expect(store.take() == ["count 40 of 0 by counters true true"])
            let indexed = store.request(NSPredicate(format: "pages == %d", 7))
            #expect(try context.fetch(indexed).count == 1)
            #expect(store.take().first?.contains("by ordered index") == true)
            #expect(throws: (any Error).self) { try context.fetch(store.request(NSPredicate(format: "colour == 1"))) }
            #expect(store.take() == ["fetch 0 of 0 by - true false"])
            store.stop()
            #expect(try context.fetch(store.request()).count == 40)
            #expect(store.take() == [])
        }
    }

    @Test func anAsynchronousFetchIsToldOnce() async throws {
        let store = try EventFixture()
        store.listen(.fetch) { [entity = store.entity] event in
            guard case .fetch(let fetch) = event, fetch.entity == entity else { return nil }
            return "\(fetch.results)"
        }
        let context = store.container.newBackgroundContext()
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            context.performAndWait {
                store.add(3, to: context)
                let request = NSAsynchronousFetchRequest(fetchRequest: store.request()) { _ in done.resume() }
                #expect(throws: Never.self) {
                    try context.save()
                    try context.execute(request)
                }
            }
        }
        #expect(store.take() == ["3"])
    }

    @Test func savesTellTheirObjectsAndTransaction() throws {
        let store = try EventFixture()
        store.listen(.save) { [entity = store.entity] event in
            guard case .save(let save) = event, save.changes.entity == entity else { return nil }
            let error = save.work.error.map { EventErrorText.type(of: $0) } ?? "done"
            return
                "\(save.changes.inserted)+\(save.changes.updated)-\(save.changes.deleted) \(save.sequence != nil) \(save.isToParent) \(error)"
        }
        let context = store.container.newBackgroundContext()
        try context.performAndWait {
            store.add(3, to: context)
            try context.save()
            #expect(store.take() == ["3+0-0 true false done"])
            let books = try context.fetch(store.request())
            books[0].setValue("New", forKey: "title")
            context.delete(books[1])
            try context.save()
            #expect(store.take() == ["0+1-1 true false done"])
            try context.save()
            #expect(store.take() == [], "nothing was written")
            // A save that fails in validation has no parts yet.
            store.stop()
            let failures = LockedBox<[String]>([])
            let number = EventHub.add(
                EventListener(kinds: .save) { [path = store.path] event in
                    guard case .save(let save) = event, let error = save.work.error, save.work.store == path else {
                        return
                    }
                    failures.change { $0.append(EventErrorText.type(of: error)) }
                })
            defer { EventHub.remove(number) }
            _ = NSEntityDescription.insertNewObject(forEntityName: store.entity, into: context)
            #expect(throws: (any Error).self) { try context.save() }
            #expect(failures.value == ["NSCocoaErrorDomain:1570"])
        }
    }

    @Test func aChildsSaveGoesToItsParent() throws {
        let store = try EventFixture()
        store.listen(.save) { [entity = store.entity] event in
            guard case .save(let save) = event, save.changes.entity == entity else { return nil }
            return "\(save.changes.inserted) \(save.isToParent) \(save.sequence == nil)"
        }
        let parent = store.container.newBackgroundContext()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        try child.performAndWait {
            store.add(2, to: child)
            try child.save()
        }
        #expect(store.take() == ["2 true true"])
    }

    @Test func conflictsTellWhetherThePolicyResolvedThem() throws {
        let store = try EventFixture()
        store.listen(.conflict) { [path = store.path] event in
            guard case .conflict(let conflict) = event, conflict.store.path == path else { return nil }
            return "\(conflict.objects) \(conflict.attempt) \(conflict.isResolved)"
        }
        let (one, other) = (store.container.newBackgroundContext(), store.container.newBackgroundContext())
        try one.performAndWait {
            store.add(1, to: one)
            try one.save()
        }
        func change(_ context: NSManagedObjectContext) throws {
            try context.performAndWait {
                let book = try #require(try context.fetch(store.request()).first)
                _ = book.value(forKey: "title")
                book.setValue("Changed", forKey: "title")
            }
        }
        try change(one)
        try change(other)
        try one.performAndWait { try one.save() }
        #expect(throws: (any Error).self) { try other.performAndWait { try other.save() } }
        #expect(store.take() == ["1 1 false"])
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try other.performAndWait { try other.save() }
        #expect(store.take() == ["1 1 true"])
    }

    @Test func batchRequestsTellHowManyObjectsTheyTouched() throws {
        let store = try EventFixture()
        store.listen(.batch) { [entity = store.entity] event in
            guard case .batch(let batch) = event, batch.entity == entity else { return nil }
            return "\(batch.operation.rawValue) \(batch.objects) \(batch.work.error == nil)"
        }
        let context = store.container.newBackgroundContext()
        try context.performAndWait {
            let rows = (0..<5).map { ["title": "T\($0)", "pages": $0] as [String: Any] }
            try context.execute(NSBatchInsertRequest(entityName: store.entity, objects: rows))
            let update = NSBatchUpdateRequest(entityName: store.entity)
            update.predicate = NSPredicate(format: "pages > 2")
            update.propertiesToUpdate = ["pages": 9]
            try context.execute(update)
            let all = NSFetchRequest<any NSFetchRequestResult>(entityName: store.entity)
            try context.execute(NSBatchDeleteRequest(fetchRequest: all))
            #expect(throws: (any Error).self) {
                try context.execute(NSBatchInsertRequest(entityName: store.entity, objects: [["pages": 1]]))
            }
        }
        #expect(store.take() == ["insert 5 true", "update 2 true", "delete 5 true", "insert 0 false"])
    }

    /// Many writers share flushes: all their transactions are in some flush, and each wait is measured.
    @Test func flushesOfManyWritersHaveAllTransactions() async throws {
        let store = try EventFixture()
        store.listen([.flush, .save]) { [path = store.path, entity = store.entity] event in
            switch event {
            case .flush(let flush) where flush.work.store == path: "flush \(flush.records)"
            case .save(let save) where save.changes.entity == entity: "save"
            default: nil
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let context = store.container.newBackgroundContext()
                    for _ in 0..<10 {
                        try await context.perform {
                            store.add(1, to: context)
                            try context.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let heard = store.take()
        #expect(heard.count { $0 == "save" } == 80)
        let records = heard.compactMap { $0.hasPrefix("flush ") ? Int($0.dropFirst(6)) : nil }.reduce(0, +)
        #expect(records >= 80)
    }

    /// It is told with the save, by itself to those who do not hear of saves, and when there is no save.
    @Test(arguments: [EventKinds.flush, [.flush, .save], [.flush, .save, .fault, .batch]])
    func whoeverHearsOfFlushesHearsOfEachOnce(_ kinds: EventKinds) throws {
        let store = try EventFixture()
        let others = EventHub.add(EventListener(kinds: [.save, .fault]) { _ in })
        defer { EventHub.remove(others) }
        store.listen(kinds) { [path = store.path, entity = store.entity] event in
            switch event {
            case .flush(let flush) where flush.work.store == path:
                "flush \(flush.records) \(flush.work.nanoseconds > 0)"
            case .save(let save) where save.changes.entity == entity: save.work.error == nil ? "save" : "failed"
            case .batch(let batch) where batch.entity == entity: "batch"
            default: nil
            }
        }
        let saves = kinds.contains(.save)
        let context = store.container.newBackgroundContext()
        try context.performAndWait {
            store.add(2, to: context)
            try context.save()
            #expect(store.take() == (saves ? ["flush 1 true", "save"] : ["flush 1 true"]))
            try context.save()
            #expect(store.take() == [], "nothing to write")
            for book in try context.fetch(store.request()) { book.setValue("same", forKey: "code") }
            #expect(throws: (any Error).self) { try context.save() }
            #expect(store.take() == (saves ? ["failed"] : []))
            context.rollback()
            let insert = NSBatchInsertRequest(entityName: store.entity, objects: [["title": "T"]])
            _ = try context.execute(insert)
            #expect(store.take() == (kinds.contains(.batch) ? ["flush 1 true", "batch"] : ["flush 1 true"]))
        }
    }

    /// A log handler that keeps its log in a store, without waiting for it, is not told of that, and so ends.
    @Test(arguments: [false, true]) func whatAListenerHandsToAContextIsNotTold(_ guardsCalls: Bool) async throws {
        let store = try EventFixture()
        let context = store.container.newBackgroundContext()
        let count = LockedBox(0)
        let number = EventHub.add(
            EventListener(kinds: [.fetch, .taskLocals], guardsCalls: guardsCalls) { [entity = store.entity] event, _ in
                guard case .fetch(let fetch) = event, fetch.entity == entity else { return }
                count.change { $0 += 1 }
                context.perform { _ = try? context.fetch(store.request()) }
            })
        defer { EventHub.remove(number) }
        _ = try await context.perform { try context.fetch(store.request()).count }
        for _ in 0..<20 { await context.perform(schedule: .enqueued) {} }
        #expect(count.value == 1)
    }

    /// The same by way of a task, which knows nothing of the listener's thread.
    @Test(arguments: [false, true]) func whatATaskOfAListenerDoesIsNotTold(_ guardsCalls: Bool) async throws {
        let store = try EventFixture()
        let context = store.container.newBackgroundContext()
        let tasks = LockedBox<[Task<Int, any Error>]>([])
        let number = EventHub.add(
            EventListener(kinds: [.fetch, .taskLocals], guardsCalls: guardsCalls) { [entity = store.entity] event, _ in
                guard case .fetch(let fetch) = event, fetch.entity == entity else { return }
                func begin() {
                    tasks.change { tasks in
                        tasks.append(Task { try await context.perform { try context.fetch(store.request()).count } })
                    }
                }
                if guardsCalls { EventHub.callingOut(begin) } else { begin() }
            })
        defer { EventHub.remove(number) }
        _ = try await context.perform { try context.fetch(store.request()).count }
        for task in tasks.value { #expect(try await task.value == 0) }
        #expect(tasks.value.count == 1)
    }

    /// A listener that fetches is not told of that.
    @Test func whatAListenerDoesIsNotTold() throws {
        let store = try EventFixture()
        let context = store.container.newBackgroundContext()
        let count = Mutex(0)
        let number = EventHub.add(
            EventListener(kinds: .fetch) { [entity = store.entity] event in
                guard case .fetch(let fetch) = event, fetch.entity == entity else { return }
                count.withLock { $0 += 1 }
                _ = try? context.fetch(store.request())
            })
        defer { EventHub.remove(number) }
        let found = try context.performAndWait { try context.fetch(store.request()).count }
        #expect(found == 0)
        #expect(count.withLock { $0 } == 1)
    }
}
