import CoreData
import Foundation
import StrataService
import Synchronization
import Testing

@Suite struct PoolTests {
    private func pool(_ fixture: ServiceFixture, readers: Int = 2, writers: Int = 2) -> StrataContextPool {
        var options = StrataContextPool.Options()
        (options.readers, options.writers) = (readers, writers)
        options.timeLimit = ServiceFixture.patience
        return StrataContextPool(fixture.container, options)
    }

    @Test func writersSaveAndReadersSee() async throws {
        let fixture = try ServiceFixture()
        let (pool, entity) = (pool(fixture), fixture.entity)
        try await pool.withContext(.writing) { ServiceFixture.add(3, entity, $0) }
        #expect(try await pool.withContext(.reading) { try $0.count(for: ServiceFixture.request(entity)) } == 3)
    }

    @Test func whatFailsChangesNothingAndTheContextIsUsedAgain() async throws {
        struct Failure: Error {}
        let fixture = try ServiceFixture()
        let (pool, entity) = (pool(fixture, readers: 1, writers: 1), fixture.entity)
        await #expect(throws: Failure.self) {
            try await pool.withContext(.writing) { context in
                ServiceFixture.add(3, entity, context)
                throw Failure()
            }
        }
        // A title is missing.
        await #expect(throws: CocoaError.self) {
            try await pool.withContext(.writing) { context in
                _ = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            }
        }
        let error = await #expect(throws: StrataPoolError.self) {
            try await pool.withContext(.reading) { ServiceFixture.add(1, entity, $0) }
        }
        #expect(error?.code == .changedWhileReading)
        try await pool.withContext(.writing) { ServiceFixture.add(2, entity, $0) }
        #expect(try await pool.withContext(.reading) { try $0.count(for: ServiceFixture.request(entity)) } == 2)
        #expect(pool.holders.isEmpty)
    }

    /// Another request's author must not be in the history, nor the past that it looked at be what the next one reads.
    @Test func whatABlockSetsOfItsContextEndsWithIt() async throws {
        struct Failure: Error {}
        let fixture = try ServiceFixture()
        let entity = fixture.entity
        var options = StrataContextPool.Options()
        (options.readers, options.writers) = (1, 1)
        options.prepare = { context in
            context.transactionAuthor = "service"
            context.userInfo["kept"] = 1
        }
        let pool = StrataContextPool(fixture.container, options)
        for access in StrataContextPool.Access.allCases {
            await #expect(throws: Failure.self) {
                try await pool.withContext(access) { context in
                    context.transactionAuthor = "Ann"
                    context.mergePolicy = NSMergePolicy.overwrite
                    context.automaticallyMergesChangesFromParent = true
                    context.undoManager = UndoManager()
                    context.name = "of Ann"
                    context.userInfo["Ann"] = 2
                    context.retainsRegisteredObjects = true
                    context.isObservationEnabled.toggle()
                    try context.setQueryGenerationFrom(.current)
                    #expect(try context.count(for: ServiceFixture.request(entity)) == 0)
                    throw Failure()
                }
            }
            try await pool.withContext(access) { context in
                #expect(context.transactionAuthor == "service")
                #expect(context.mergePolicy as? NSMergePolicy === NSMergePolicy.error)
                #expect(!context.automaticallyMergesChangesFromParent && context.undoManager == nil)
                #expect(context.queryGenerationToken == nil)
                #expect(context.name != "of Ann" && !context.retainsRegisteredObjects && !context.isObservationEnabled)
                #expect(context.userInfo as? [String: Int] == ["kept": 1])
            }
        }
        try await pool.withContext(.writing) { ServiceFixture.add(1, entity, $0) }
        let coordinator = fixture.container.persistentStoreCoordinator
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        try await pool.withContext(.writing) { ServiceFixture.add(2, entity, $0) }
        let before = try await pool.withContext(.reading) { context in
            try context.setQueryGenerationFrom(try coordinator.queryGeneration(at: token))
            return try context.count(for: ServiceFixture.request(entity))
        }
        #expect(before == 1)
        #expect(try await pool.withContext(.reading) { try $0.count(for: ServiceFixture.request(entity)) } == 3)
    }

    /// How many are inside of a block, and with how many contexts.
    private final class Seen: Sendable {
        private let state = Mutex((now: 0, most: 0, contexts: Set<ObjectIdentifier>()))

        var most: Int { state.withLock { $0.most } }
        var contexts: Int { state.withLock { $0.contexts.count } }

        func enter(_ context: NSManagedObjectContext) {
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
                state.contexts.insert(ObjectIdentifier(context))
            }
        }

        func leave() { state.withLock { $0.now -= 1 } }
    }

    /// 64 tasks share few contexts: never more at a time, nothing lost, and none keeps objects.
    @Test func manyTasksShareFewContexts() async throws {
        let fixture = try ServiceFixture()
        let (pool, entity) = (pool(fixture, readers: 3, writers: 2), fixture.entity)
        let seen = Seen()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<64 {
                group.addTask {
                    for _ in 0..<5 {
                        try await pool.withContext(task % 2 == 0 ? .reading : .writing) { context in
                            seen.enter(context)
                            defer { seen.leave() }
                            #expect(context.registeredObjects.isEmpty)
                            if task % 2 == 1 { ServiceFixture.add(1, entity, context) }
                            _ = try context.fetch(ServiceFixture.request(entity)).count
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(seen.most <= 5 && seen.contexts <= 5)
        #expect(try await pool.withContext(.reading) { try $0.count(for: ServiceFixture.request(entity)) } == 160)
        #expect(pool.holders.isEmpty)
    }

    /// Keeps contexts of a pool until it is told to give them back.
    private final class Keeper: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        private let began = DispatchSemaphore(value: 0)

        func keep(
            _ pool: StrataContextPool, _ access: StrataContextPool.Access, _ purpose: String
        ) async -> Task<
            Void, any Error
        > {
            let task = Task {
                try await pool.withContext(access, purpose: purpose) { [began, semaphore] _ in
                    began.signal()
                    semaphore.wait()
                }
            }
            while pool.holders.contains(where: { $0.purpose == purpose }) == false { await Task.yield() }
            return task
        }

        func letGo(_ count: Int = 1) { for _ in 0..<count { semaphore.signal() } }
    }

    @Test func whoWaitsTooLongIsToldWhoHoldsTheContexts() async throws {
        let fixture = try ServiceFixture()
        let pool = pool(fixture, readers: 2)
        let keeper = Keeper()
        let tasks = [await keeper.keep(pool, .reading, "report"), await keeper.keep(pool, .reading, "search")]
        let error = await #expect(throws: StrataPoolError.self) {
            try await pool.withContext(.reading, timeLimit: .milliseconds(50), purpose: "page") { _ in }
        }
        #expect(error?.code == .timedOut)
        #expect(error?.holders.map(\.purpose) == ["report", "search"])
        #expect(error.map { $0.waited >= .milliseconds(50) } == true)
        let text = try #require(error).description
        #expect(text.contains("page (reading) waited") && text.contains("report (reading, for "), "\(text)")
        // Writers have their own.
        try await pool.withContext(.writing) { _ in }
        keeper.letGo(2)
        for task in tasks { try await task.value }
        try await pool.withContext(.reading) { _ in }
    }

    @Test func whoWaitsCanBeCancelledAndTheNextOneComes() async throws {
        let fixture = try ServiceFixture()
        let pool = pool(fixture, readers: 1)
        let keeper = Keeper()
        let holder = await keeper.keep(pool, .reading, "holder")
        let first = Task { try await pool.withContext(.reading, purpose: "first") { _ in 1 } }
        let second = Task { try await pool.withContext(.reading, purpose: "second") { _ in 2 } }
        try await Task.sleep(for: .milliseconds(30))
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        keeper.letGo()
        try await holder.value
        #expect(try await second.value == 2)
    }

    /// Cancellation at every moment neither loses a context nor hangs.
    @Test func cancellationAtAnyMomentLosesNoContext() async throws {
        let fixture = try ServiceFixture()
        let (pool, entity) = (pool(fixture, readers: 1, writers: 1), fixture.entity)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let task = Task {
                        try await pool.withContext(number % 2 == 0 ? .reading : .writing) {
                            _ = try $0.fetch(ServiceFixture.request(entity))
                        }
                    }
                    for _ in 0..<(number % 7) { await Task.yield() }
                    if number % 3 != 0 { task.cancel() }
                    _ = try? await task.value
                }
            }
        }
        #expect(pool.holders.isEmpty)
        try await pool.withContext(.reading) { _ in }
        try await pool.withContext(.writing) { _ in }
    }

    @Test func closingWaitsForThoseWhoHaveComeAndRefusesOthers() async throws {
        let fixture = try ServiceFixture()
        let pool = pool(fixture, readers: 1)
        let keeper = Keeper()
        let holder = await keeper.keep(pool, .reading, "holder")
        let waiting = Task { try await pool.withContext(.reading, timeLimit: .seconds(30)) { _ in 1 } }
        try await Task.sleep(for: .milliseconds(30))
        let isClosed = Mutex(false)
        let closing = Task {
            await pool.close()
            isClosed.withLock { $0 = true }
        }
        try await Task.sleep(for: .milliseconds(30))
        #expect(!isClosed.withLock { $0 })
        let error = await #expect(throws: StrataPoolError.self) { try await pool.withContext(.reading) { _ in } }
        #expect(error?.code == .closed)
        keeper.letGo()
        try await holder.value
        #expect(try await waiting.value == 1)
        await closing.value
    }
}
