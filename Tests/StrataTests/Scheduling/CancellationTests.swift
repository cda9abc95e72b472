import CoreData
import Foundation
import StrataTestKit
import Testing

/// What a cancelled task waits for stops. What is counted is rows, not time.
@Suite struct CancellationTests {
    enum Form: CaseIterable, Sendable {
        case objects, sortedObjects, objectIDs, count, dictionaries, lazily
    }

    /// Rows that may be looked at after the one that cancels.
    private static let slack = 64

    private static func run(_ form: Form, _ predicate: NSPredicate, _ context: NSManagedObjectContext) throws -> Int {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
        request.predicate = predicate
        switch form {
        case .objects: break
        case .sortedObjects: request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        case .objectIDs: request.resultType = .managedObjectIDResultType
        case .count: return try context.count(for: request)
        case .dictionaries:
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["name"]
        case .lazily:
            let typed = NSFetchRequest<Employee>(entityName: "Employee")
            typed.predicate = predicate
            return try context.fetchLazily(typed).count
        }
        return try context.fetch(request).count
    }

    @Test(arguments: StoreKind.allCases, Form.allCases)
    func fetchesOfCancelledTasksStop(_ kind: StoreKind, _ form: Form) async throws {
        let store = try LimitsFixture.filled(kind, 3_000)
        let context = store.context()
        let canceller = Canceller()
        let trigger = Trigger(at: 1_000) { canceller.cancel() }
        let task = inTask(context) { try Self.run(form, trigger.predicate, context) }
        canceller.set(task)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(trigger.count >= 1_000 && trigger.count < 1_000 + Self.slack)
        // The context goes on as before.
        #expect(try LimitsFixture.count("Employee", context, "age < 200") == 3_000)
    }

    @Test(arguments: StoreKind.allCases) func fetchesOfChildrenStop(_ kind: StoreKind) async throws {
        let store = try LimitsFixture.filled(kind, 3_000)
        let child = NSManagedObjectContext(.privateQueue)
        let parent = store.context()
        child.parent = parent
        let canceller = Canceller()
        let trigger = Trigger(at: 1_000) { canceller.cancel() }
        let task = inTask(child) { try Self.run(.objects, trigger.predicate, child) }
        canceller.set(task)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(trigger.count < 1_000 + Self.slack)
        #expect(try LimitsFixture.count("Employee", child, "age < 200") == 3_000)
    }

    /// Without a `perform` of its own the request runs on the thread of the task, and asks it.
    @Test(arguments: StoreKind.allCases) func fetchesOnATasksOwnThreadStop(_ kind: StoreKind) async throws {
        let store = try LimitsFixture.filled(kind, 3_000)
        let context = store.context()
        let canceller = Canceller()
        let trigger = Trigger(at: 1_000) { canceller.cancel() }
        let carried = Carried(context)
        let task = Task {
            try Self.waitingly(carried.value) { try Self.run(.objects, trigger.predicate, carried.value) }
        }
        canceller.set(task)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(trigger.count < 1_000 + Self.slack)
    }

    /// The main queue, on which the parent looks, has no task.
    @Test(arguments: StoreKind.allCases, [true, false])
    func whatAChildAsksItsParentStops(_ kind: StoreKind, _ hasMainParent: Bool) async throws {
        let store = try LimitsFixture.filled(kind, 3_000)
        let parent = NSManagedObjectContext(hasMainParent ? .mainQueue : .privateQueue)
        parent.persistentStoreCoordinator = store.coordinator
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        let canceller = Canceller()
        // Cancelled before half of the rows; the thread that waits looks each few milliseconds.
        let trigger = Trigger(at: 100) { canceller.cancel() }
        let carried = Carried(child)
        let task = Task {
            let slow = NSPredicate { _, _ in
                Thread.sleep(forTimeInterval: 0.001)
                trigger.step()
                return true
            }
            return try Self.waitingly(carried.value) { try Self.run(.objects, slow, carried.value) }
        }
        canceller.set(task)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(trigger.count < 3_000)
    }

    private static func waitingly<T>(_ context: NSManagedObjectContext, _ block: () throws -> T) throws -> T {
        try context.performAndWait(block)
    }

    @Test(arguments: StoreKind.allCases) func backgroundTasksStop(_ kind: StoreKind) async throws {
        let container = NSPersistentContainer(name: "limits", managedObjectModel: GraphModel.company())
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        try LimitsFixture.insert(3_000, into: container.newBackgroundContext())
        let canceller = Canceller()
        let trigger = Trigger(at: 1_000) { canceller.cancel() }
        let task = Task {
            try await container.performBackgroundTask { try Self.run(.objects, trigger.predicate, $0) }
        }
        canceller.set(task)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(trigger.count < 1_000 + Self.slack)
    }

    /// The names of the sections are asked of every object, after the fetch.
    @Test(arguments: StoreKind.allCases) func fetchedResultsStopAndStayAsTheyWere(_ kind: StoreKind) async throws {
        let store = try LimitsFixture.filled(kind, 3_000)
        let context = store.context()
        let canceller = Canceller()
        let trigger = Trigger(at: 4_000) { canceller.cancel() }
        let task = inTask(context) {
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.predicate = NSPredicate(format: "age < 10")
            request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "age", cacheName: nil)
            try results.performFetch()
            let before = results.fetchedObjects?.count
            request.predicate = trigger.predicate
            do {
                // The first one is not cancelled yet.
                try results.performFetch()
                try results.performFetch()
            } catch is CancellationError {
                #expect(results.fetchedObjects?.count == 3_000 && before == 340)
                throw CancellationError()
            }
        }
        canceller.set(task)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(trigger.count < 4_000 + Self.slack)
    }

    // MARK: Blocks

    @Test func queuedBlocksOfCancelledTasksDoNotRun() async throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let (isBlocked, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ran = Trigger(at: 0) {}
        Self.block(context, isBlocked, mayGoOn)
        let task = inTask(context) { () throws in ran.step() }
        task.cancel()
        // Its turn has not come, and does not come before this returns.
        await #expect(throws: CancellationError.self) { try await task.value }
        mayGoOn.signal()
        await context.perform {}
        #expect(ran.count == 0)
    }

    @Test func queuedBlocksThatCannotThrowRun() async throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let (isBlocked, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Self.block(context, isBlocked, mayGoOn)
        let carried = Carried(context)
        let task = Task { await carried.value.perform { 7 } }
        task.cancel()
        mayGoOn.signal()
        #expect(await task.value == 7)
    }

    /// Whenever it is cancelled: a block has run if and only if its result arrives.
    @Test func blocksOfTasksCancelledAtRandomRunOnceOrNotAtAll() async throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let ran = Trigger(at: 0) {}
        let carried = Carried(context)
        var random = SeededGenerator(seed: 41)
        var tasks: [(task: Task<Int, any Error>, delay: UInt64?)] = []
        for number in 0..<2_000 {
            let task = Task {
                try await carried.value.perform { () throws -> Int in
                    ran.step()
                    return number
                }
            }
            if random.next() % 4 == 0 { task.cancel() }
            tasks.append((task, random.next() % 2 == 0 ? random.next() % 50_000 : nil))
        }
        let cancelling = tasks
        let canceller = Task.detached {
            for entry in cancelling {
                guard let delay = entry.delay else { continue }
                try await Task.sleep(nanoseconds: delay)
                entry.task.cancel()
            }
        }
        var arrived = 0
        for (number, entry) in tasks.enumerated() {
            switch await entry.task.result {
            case .success(let result):
                #expect(result == number)
                arrived += 1
            case .failure(let error): #expect(error is CancellationError)
            }
        }
        try await canceller.value
        await context.perform {}
        #expect(ran.count == arrived)
    }

    /// Has the context's queue wait; returns when it does.
    private static func block(
        _ context: NSManagedObjectContext, _ isBlocked: DispatchSemaphore, _ mayGoOn: DispatchSemaphore
    ) {
        context.perform {
            isBlocked.signal()
            mayGoOn.wait()
        }
        isBlocked.wait()
    }

    @Test(arguments: StoreKind.allCases) func savesOfCancelledTasksKeepTheChanges(_ kind: StoreKind) async throws {
        let store = try TestStore(kind)
        let context = store.context()
        let canceller = Canceller()
        let task = inTask(context) {
            _ = insert("Department", context)
            canceller.cancel()
            try context.save()
        }
        canceller.set(task)
        // The task may be cancelled before the block begins.
        await #expect(throws: CancellationError.self) { try await task.value }
        try await context.perform {
            if context.insertedObjects.isEmpty { _ = insert("Department", context) }
            #expect(context.hasChanges)
            try context.save()
        }
        #expect(try LimitsFixture.count("Department", store.context()) == 1)
    }

    enum SaveForm: CaseIterable, Sendable {
        case waiting, awaited, waitingInChild, awaitedInChild

        var waits: Bool { self == .waiting || self == .waitingInChild }
        var isInChild: Bool { self == .waitingInChild || self == .awaitedInChild }
    }

    /// What a save asks for is part of it, on a task's own thread as on the context's.
    @Test(arguments: StoreKind.allCases, SaveForm.allCases)
    func requestsInTheMiddleOfSavesDoNotStop(_ kind: StoreKind, _ form: SaveForm) async throws {
        let store = try LimitsFixture.filled(kind, 100)
        var context = store.context()
        if form.isInChild {
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            context = child
        }
        let canceller = Canceller()
        let counts = Trigger(at: 0) {}
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextWillSave, object: context, queue: nil
        ) { [carried = Carried(context)] _ in
            canceller.cancel()
            // The canceller may not know the task yet.
            while !Task.isCancelled { Thread.sleep(forTimeInterval: 0.001) }
            #expect(throws: Never.self) {
                if try LimitsFixture.count("Employee", carried.value, "age >= 0") == 100 { counts.step() }
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let carried = Carried(context)
        let change: @Sendable () throws -> Void = {
            _ = insert("Department", carried.value)
            try carried.value.save()
        }
        let task = Task {
            if form.waits { try Self.waitingly(carried.value, change) } else { try await carried.value.perform(change) }
        }
        canceller.set(task)
        // In an awaited block the commit itself may still be stopped: its turn has not come.
        _ = await task.result
        #expect(counts.count == 1)
    }

    // MARK: Other requests

    @Test(arguments: StoreKind.allCases) func batchUpdatesStopAndStoreNothing(_ kind: StoreKind) async throws {
        let store = try LimitsFixture.filled(kind, 2_000)
        let context = store.context()
        let canceller = Canceller()
        let trigger = Trigger(at: 500) { canceller.cancel() }
        let task = inTask(context) {
            let request = NSBatchUpdateRequest(entityName: "Employee")
            request.predicate = trigger.predicate
            request.propertiesToUpdate = ["age": 1_000]
            _ = try context.execute(request)
        }
        canceller.set(task)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(trigger.count < 500 + Self.slack)
        #expect(try LimitsFixture.count("Employee", context, "age == 1000") == 0)
    }

    @Test(arguments: StoreKind.allCases) func batchDeletesStopAndStoreNothing(_ kind: StoreKind) async throws {
        let store = try LimitsFixture.filled(kind, 2_000)
        let context = store.context()
        let canceller = Canceller()
        let trigger = Trigger(at: 500) { canceller.cancel() }
        let task = inTask(context) {
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
            fetch.predicate = trigger.predicate
            _ = try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        }
        canceller.set(task)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(trigger.count < 500 + Self.slack)
        #expect(try LimitsFixture.count("Employee", context) == 2_000)
    }

    @Test(arguments: StoreKind.allCases, [1 << 20, 200])
    func batchInsertsStopAndStoreWholeParts(_ kind: StoreKind, _ part: Int) async throws {
        let store = try TestStore(kind)
        let context = store.context()
        let canceller = Canceller()
        let trigger = Trigger(at: 500) { canceller.cancel() }
        let task = inTask(context) {
            let request = NSBatchInsertRequest(entityName: "Employee") { (values: NSMutableDictionary) in
                trigger.step()
                values["name"] = "n"
                return trigger.count == 5_000
            }
            request.maximumObjectsPerTransaction = part
            _ = try context.execute(request)
        }
        canceller.set(task)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(trigger.count < 500 + 2 * Self.slack)
        #expect(try LimitsFixture.count("Employee", context) == (part == 200 ? 400 : 0))
    }

    @Test(arguments: StoreKind.allCases) func historyRequestsStop(_ kind: StoreKind) async throws {
        let store = try LimitsFixture.filled(kind, 2_000)
        let context = store.context()
        let canceller = Canceller()
        let trigger = Trigger(at: 500) { canceller.cancel() }
        let task = inTask(context) {
            let entity = try #require(NSPersistentHistoryChange.entityDescription(with: context))
            let fetch = NSFetchRequest<any NSFetchRequestResult>()
            fetch.entity = entity
            fetch.predicate = trigger.predicate
            _ = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch))
        }
        canceller.set(task)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(trigger.count < 500 + 2 * Self.slack)
    }
}
