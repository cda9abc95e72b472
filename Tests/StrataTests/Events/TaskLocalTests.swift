import CoreData
import Foundation
import StrataSupport
import Testing

@testable import Strata

/// Task-local values reach the blocks that a task waits for, and, of whoever listens, those for which nobody waits.
@Suite struct TaskLocalTests {
    @TaskLocal static var request: String?

    // MARK: Without a listener

    @Test(arguments: [true, false]) func awaitedBlocksRunInTheTask(_ isMain: Bool) async throws {
        let store = try EventFixture()
        let context = isMain ? store.container.viewContext : store.container.newBackgroundContext()
        await Self.$request.withValue("r") {
            #expect(await context.perform { Self.request } == "r")
            #expect(await context.perform(schedule: .enqueued) { Self.request } == "r")
            #expect(await store.container.persistentStoreCoordinator.perform { Self.request } == "r")
            #expect(await store.container.performBackgroundTask { _ in Self.request } == "r")
        }
        #expect(await context.perform { Self.request } == nil)
        let task = Task {
            await context.perform {
                withUnsafeCurrentTask { $0?.cancel() }
                return Task.isCancelled
            }
        }
        #expect(await task.value)
    }

    @MainActor @Test func theMainQueuesBlocksAreOnTheMainActor() async throws {
        let store = try EventFixture()
        let seen = await store.container.viewContext.perform { MainActor.assumeIsolated { Self.request } }
        #expect(seen == nil)
        MainActor.assertIsolated()
    }

    actor Caller {
        private var calls = 0

        func call(_ context: NSManagedObjectContext) async {
            await context.perform { #expect(Self.isOnQueue(of: context)) }
            assertIsolated()
            calls += 1
            #expect(!Self.isOnQueue(of: context), "the context's thread is let go")
        }

        private static func isOnQueue(of context: NSManagedObjectContext) -> Bool { context.queue.isCurrent }
    }

    @Test func actorsGoOnWhereTheyWere() async throws {
        let store = try EventFixture()
        let context = store.container.newBackgroundContext()
        await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { await Caller().call(context) } }
        }
        let main = Task { @MainActor in
            await context.perform {}
            MainActor.assertIsolated()
        }
        await main.value
    }

    // MARK: With one

    private func listening(_ body: () async throws -> Void) async rethrows {
        let number = EventHub.add(
            EventListener(kinds: .taskLocals, happened: { _ in }) {
                guard let request = Self.request else { return nil }
                return { body in Self.$request.withValue(request) { body() } }
            })
        defer { EventHub.remove(number) }
        try await body()
    }

    @Test func performSeesTheCallersValues() async throws {
        let store = try EventFixture()
        let context = store.container.newBackgroundContext()
        await listening {
            await withTaskGroup(of: (String, String?).self) { group in
                for number in 0..<50 {
                    group.addTask {
                        await Self.$request.withValue("r\(number)") {
                            ("r\(number)", await context.perform { Self.request })
                        }
                    }
                }
                for await (wanted, seen) in group { #expect(seen == wanted) }
            }
            #expect(await context.perform { Self.request } == nil, "nothing stays behind")
        }
    }

    @Test func blocksOfOtherFormsSeeThem() async throws {
        let store = try EventFixture()
        await listening {
            await Self.$request.withValue("r") {
                #expect(await store.container.performBackgroundTask { _ in Self.request } == "r")
                let context = store.container.newBackgroundContext()
                let seen = await withCheckedContinuation { done in
                    context.perform { done.resume(returning: Self.request) }
                }
                #expect(seen == "r")
                #expect(context.performAndWait { Self.request } == "r")
            }
        }
    }

    /// The block of a wait may be run by the thread that has the queue.
    @Test func performAndWaitSeesThemWhenAnotherThreadRunsTheBlock() async throws {
        let store = try EventFixture()
        let context = store.container.viewContext
        await listening {
            let seen = await Task.detached { Self.$request.withValue("r") { context.performAndWait { Self.request } } }
                .value
            #expect(seen == "r")
        }
    }

    @Test func anAsynchronousFetchIsToldWithThem() async throws {
        let store = try EventFixture()
        let context = store.container.newBackgroundContext()
        store.listen(.fetch) { [entity = store.entity] event in
            guard case .fetch(let fetch) = event, fetch.entity == entity else { return nil }
            return Self.request ?? "none"
        }
        await listening {
            await Self.$request.withValue("r") {
                await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                    context.performAndWait {
                        let request = NSAsynchronousFetchRequest(fetchRequest: store.request()) { _ in done.resume() }
                        #expect(throws: Never.self) { try context.execute(request) }
                    }
                }
            }
        }
        #expect(store.take() == ["r"])
    }
}
