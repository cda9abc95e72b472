import CoreData
import Foundation
import Testing

/// Stores that are removed or closed while contexts and objects of them live: fetches were empty then.
@Suite struct ClosingTests {
    private func filled(
        _ kind: StoreKind
    ) throws -> (store: TestStore, context: NSManagedObjectContext, id: NSManagedObjectID) {
        let store = try TestStore(kind)
        let context = store.context()
        let id = try context.performAndWait {
            let department = Department(context: context)
            department.title = "open"
            let employee = Employee(context: context)
            employee.name = "Ann"
            employee.department = department
            try context.save()
            context.reset()
            return department.objectID
        }
        return (store, context, id)
    }

    /// Nothing that a context does of a store that is gone comes back empty or without an error.
    private func expectRefusals(
        _ context: NSManagedObjectContext, _ held: Department, _ id: NSManagedObjectID
    ) {
        context.performAndWait {
            let request = NSFetchRequest<Department>(entityName: "Department")
            #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(throws: CocoaError.self) { try context.count(for: request) }
            #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
            let update = NSBatchUpdateRequest(entityName: "Department")
            update.propertiesToUpdate = ["budget": 1]
            #expect(throws: CocoaError.self) { try context.execute(update) }
            let named = NSFetchRequest<any NSFetchRequestResult>(entityName: "Department")
            #expect(throws: CocoaError.self) { try context.execute(NSBatchDeleteRequest(fetchRequest: named)) }
            #expect(throws: CocoaError.self) {
                try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
            }
            // A fault reads as empty, and says so by refusing the next save; it is not taken for deleted.
            #expect(held.title == nil && !held.isDeleted && context.deletedObjects.isEmpty)
            held.budget = 3
            #expect(throws: CocoaError.self) { try context.save() }
            context.rollback()
            // A child's changes go to its parent.
            if context.parent != nil { return }
            Department(context: context).title = "new"
            #expect(throws: CocoaError.self) { try context.save() }
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func contextsOfARemovedStoreSaySo(_ kind: StoreKind, _ isChild: Bool) throws {
        let (store, root, id) = try filled(kind)
        let context: NSManagedObjectContext
        if isChild {
            context = NSManagedObjectContext(.privateQueue)
            context.parent = root
        } else {
            context = root
        }
        let held = try context.performAndWait { try #require(context.object(with: id) as? Department) }
        try store.coordinator.remove(store.store)
        expectRefusals(context, held, id)
    }

    @Test func whatIsInMemoryStaysReadable() throws {
        let (store, context, id) = try filled(.log)
        let held = try context.performAndWait { try #require(context.existingObject(with: id) as? Department) }
        try store.coordinator.remove(store.store)
        context.performAndWait {
            #expect(held.title == "open")
            held.title = "changed"
            #expect(throws: CocoaError.self) { try context.save() }
        }
    }

    /// With two stores, objects of the one that was removed were saved to the one that was left.
    @Test func objectsOfARemovedStoreGoToNoOther() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let first = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let second = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            var made: [Department] = []
            for store in [first, second] {
                let department = Department(context: context)
                department.title = store === first ? "first" : "second"
                context.assign(department, to: store)
                made.append(department)
            }
            try context.save()
            try coordinator.remove(first)
            made[0].title = "changed"
            #expect(throws: CocoaError.self) { try context.save() }
            context.reset()
            let left = try context.fetch(NSFetchRequest<Department>(entityName: "Department"))
            #expect(left.map(\.title) == ["second"])
        }
    }

    // MARK: close()

    private func container(_ url: URL) async throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Closing", managedObjectModel: GraphModel.company())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { failure = failure ?? $1 }
        if let failure { throw failure }
        return container
    }

    /// Twenty saves on the context's queue, which nobody waits for.
    private func saveLater(_ number: Int, _ context: NSManagedObjectContext) {
        context.perform {
            for index in 0..<20 {
                Department(context: context).title = "\(number) \(index)"
                do { try context.save() } catch { Issue.record("save: \(error)") }
            }
        }
    }

    private func place() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("strata-closing-\(UUID().uuidString)")
    }

    @Test func closingWaitsForWhatRunsAndIsDoneOnce() async throws {
        let url = place()
        defer { removeStore(at: url) }
        let container = try await container(url)
        let contexts = (0..<4).map { _ in container.newBackgroundContext() }
        for (number, context) in contexts.enumerated() { saveLater(number, context) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await container.close() } }
            try await group.waitForAll()
        }
        #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
        for context in contexts {
            await context.perform {
                _ = #expect(throws: CocoaError.self) {
                    try context.fetch(NSFetchRequest<Department>(entityName: "Department"))
                }
            }
        }
        try await container.close()
        // Everything is there, and nothing had to be replayed.
        #expect(try FileManager.default.contentsOfDirectory(atPath: url.path).contains { $0.hasSuffix(".chk") })
        let again = try await self.container(url)
        let reader = again.newBackgroundContext()
        let count = try await reader.perform {
            try reader.count(for: NSFetchRequest<Department>(entityName: "Department"))
        }
        #expect(count == 80)
        try await again.close()
    }

    @Test func aCancelledTaskStillCloses() async throws {
        let url = place()
        defer { removeStore(at: url) }
        let container = try await container(url)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await container.close()
        }
        try await task.value
        #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
        // The lock is free.
        try await self.container(url).close()
    }

    @Test func anotherCoordinatorKeepsItsStore() async throws {
        let url = place()
        defer { removeStore(at: url) }
        let (first, second) = (try await container(url), try await container(url))
        try await first.close()
        let context = second.newBackgroundContext()
        try await context.perform {
            Department(context: context).title = "still"
            try context.save()
            #expect(try context.count(for: NSFetchRequest<Department>(entityName: "Department")) == 1)
        }
        try await second.close()
    }

    /// A store that was being opened meanwhile was open when `close()` had returned.
    @Test func storesThatAreBeingAddedAreClosedToo() async throws {
        let urls = (0..<6).map { _ in place() }
        defer { for url in urls { removeStore(at: url) } }
        let container = NSPersistentContainer(name: "Closing", managedObjectModel: GraphModel.company())
        container.persistentStoreDescriptions = urls.map { url in
            let description = NSPersistentStoreDescription(url: url)
            description.shouldAddStoreAsynchronously = true
            return description
        }
        container.loadPersistentStores { _, _ in }
        try await container.close()
        #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
        // Everything was opened, and is free again.
        for url in urls { try await self.container(url).close() }
    }

    // MARK: What begins while the stores are being closed

    private func code(_ body: () throws -> Any) -> Int? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as NSError).code
        }
    }

    /// What a block that came too late is told, by what it asked.
    private func refusals(_ context: NSManagedObjectContext, _ id: NSManagedObjectID) -> [String: Int?] {
        let request = NSFetchRequest<Department>(entityName: "Department")
        let update = NSBatchUpdateRequest(entityName: "Department")
        update.propertiesToUpdate = ["budget": 1]
        let history = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let later = NSAsynchronousFetchRequest(fetchRequest: request) { _ in }
        var codes = [
            "fetch": code { try context.fetch(request) }, "count": code { try context.count(for: request) },
            "batch": code { try context.execute(update) }, "history": code { try context.execute(history) },
            "asynchronous": code { try context.execute(later) },
            "existing": code { try context.existingObject(with: id) },
        ]
        Department(context: context).title = "too late"
        codes["save"] = code { try context.save() }
        context.rollback()
        return codes
    }

    /// They were answered, and what they had fetched read as empty when the store was gone.
    @Test func blocksThatComeWhileStoresAreBeingClosedAreRefused() async throws {
        let url = place()
        defer { removeStore(at: url) }
        let container = try await container(url)
        let coordinator = container.persistentStoreCoordinator
        let (running, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        let id = try await running.perform {
            let department = Department(context: running)
            department.title = "open"
            try running.save()
            return department.objectID
        }
        let begun = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        async let finished: Int = running.perform {
            begun.signal()
            mayEnd.wait()
            // This block was there before, and so were those that it has others run.
            Department(context: running).title = "accepted"
            try running.save()
            return try other.performAndWait {
                try other.count(for: NSFetchRequest<Department>(entityName: "Department"))
            }
        }
        await Task.detached { begun.wait() }.value
        async let closed: Void = container.close()
        var codes: [String: Int?] = [:]
        repeat {
            codes = await container.performBackgroundTask { refusals($0, id) }
        } while codes["fetch"] == .some(nil)
        // The store is still there, for those who are waited for.
        #expect(coordinator.persistentStores.count == 1)
        #expect(codes.count == 7)
        for (what, code) in codes { #expect(code == NSPersistentStoreOperationError, "\(what)") }
        let (child, childCodes) = await container.performBackgroundTask { context in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            return (child, child.performAndWait { refusals(child, id) })
        }
        for (what, code) in childCodes { #expect(code == NSPersistentStoreOperationError, "child: \(what)") }
        mayEnd.signal()
        #expect(try await finished >= 2)
        try await closed
        #expect(coordinator.persistentStores.isEmpty)
        // With a store again, everybody may go on.
        let description = try #require(container.persistentStoreDescriptions.first)
        await withCheckedContinuation { continuation in
            coordinator.addPersistentStore(with: description) { _, error in
                #expect(error == nil)
                continuation.resume()
            }
        }
        for context in [running, other, child, container.newBackgroundContext()] {
            let titles = try await context.perform {
                context.reset()
                return try context.fetch(NSFetchRequest<Department>(entityName: "Department")).compactMap(\.title)
            }
            #expect(titles.contains("accepted") && titles.contains("open"))
        }
        try await container.close()
    }

    @Test func whatIsFetchedWhileStoresAreBeingClosedIsRead() async throws {
        for round in 0..<6 {
            let url = place()
            defer { removeStore(at: url) }
            let container = try await container(url)
            try await container.performBackgroundTask { context in
                for index in 0..<500 { Department(context: context).title = "\(index)" }
                try context.save()
            }
            _ = try await withThrowingTaskGroup(of: Int.self) { group in
                for client in 0..<8 {
                    group.addTask {
                        for answers in 0... {
                            let titles: [String?]? = await container.performBackgroundTask { context in
                                let request = NSFetchRequest<Department>(entityName: "Department")
                                request.fetchBatchSize = client % 2 == 0 ? 20 : 0
                                return try? context.fetch(request).map(\.title)
                            }
                            guard let titles else { return answers }
                            #expect(titles.count == 500 && !titles.contains(nil))
                        }
                        return 0
                    }
                }
                try await Task.sleep(for: .milliseconds(5 * round))
                try await container.close()
                return try await group.reduce(0, +)
            }
        }
    }

    /// What an asynchronous fetch had found could not be read any more when it was handed over.
    @Test func closingWaitsForAsynchronousFetches() async throws {
        let url = place()
        defer { removeStore(at: url) }
        let container = try await container(url)
        let context = container.newBackgroundContext()
        try await context.perform {
            for index in 0..<2_000 { Department(context: context).title = "\(index)" }
            try context.save()
            context.reset()
        }
        let titles = Titles()
        try await context.perform {
            let request = NSFetchRequest<Department>(entityName: "Department")
            _ = try context.execute(
                NSAsynchronousFetchRequest(fetchRequest: request) { result in
                    Thread.sleep(forTimeInterval: 0.05)
                    titles.set(result.finalResult?.map(\.title))
                })
        }
        try await container.close()
        let found = try #require(titles.all)
        #expect(found.count == 2_000 && !found.contains(nil))
    }

    private final class Titles: @unchecked Sendable {
        // Unchecked: `lock` guards it.
        private let lock = NSLock()
        private var titles: [String?]?

        var all: [String?]? { lock.withLock { titles } }

        func set(_ new: [String?]?) { lock.withLock { titles = new } }
    }
}
