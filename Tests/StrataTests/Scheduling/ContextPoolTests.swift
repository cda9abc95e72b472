import CoreData
import Foundation
import Testing

@testable import Strata

/// The threads that contexts' queues share. Meant to be run under the thread sanitizer, too.
@Suite struct ContextPoolTests {
    /// Many more than the pool has threads by itself.
    private static let contextCount = 48

    private static func contexts(_ store: TestStore) -> [NSManagedObjectContext] {
        (0..<contextCount).map { _ in store.context() }
    }

    @Test func blocksThatWaitForALaterOneEnd() throws {
        let store = try TestStore(.memory)
        let contexts = Self.contexts(store)
        let (last, all) = (DispatchSemaphore(value: 0), DispatchGroup())
        for context in contexts.dropLast() {
            all.enter()
            context.perform {
                last.wait()
                last.signal()
                all.leave()
            }
        }
        all.enter()
        contexts.last?.perform {
            last.signal()
            all.leave()
        }
        #expect(all.wait(timeout: .now() + 300) == .success)
    }

    @Test func everyPairOfContextsMayWaitForEachOther() throws {
        let store = try TestStore(.memory)
        let contexts = Self.contexts(store)
        let counter = Trigger(at: 0) {}
        let all = DispatchGroup()
        for (index, context) in contexts.enumerated() {
            for (number, other) in contexts.enumerated().dropFirst(index + 1) {
                let isDone = DispatchSemaphore(value: 0)
                all.enter()
                // One waits for the other's block in either way that a program has.
                context.perform {
                    if (index + number) % 2 == 0 {
                        other.performAndWait { counter.step() }
                    } else {
                        other.perform {
                            counter.step()
                            isDone.signal()
                        }
                        isDone.wait()
                    }
                    all.leave()
                }
            }
        }
        #expect(all.wait(timeout: .now() + 300) == .success)
        #expect(counter.count == Self.contextCount * (Self.contextCount - 1) / 2)
    }

    @Test(arguments: StoreKind.allCases) func childrenOfWaitingParentsSave(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let all = DispatchGroup()
        let parents = Self.contexts(store)
        for parent in parents {
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = parent
            all.enter()
            child.perform {
                _ = insert("Department", child)
                #expect(throws: Never.self) { try child.save() }
                parent.perform {
                    #expect(throws: Never.self) { try parent.save() }
                    all.leave()
                }
            }
        }
        #expect(all.wait(timeout: .now() + 300) == .success)
        #expect(try LimitsFixture.count("Department", store.context()) == Self.contextCount)
    }

    @Test func blocksOfOneContextRunInTurnWhoeverRunsThem() async throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let order = Order()
        for number in 0..<200 {
            switch number % 3 {
            case 0: Self.perform(context) { order.add(number) }
            case 1: Self.performAndWait(context) { order.add(number) }
            default: await context.perform { order.add(number) }
            }
        }
        #expect(order.numbers == Array(0..<200))
    }

    private static func perform(_ context: NSManagedObjectContext, _ block: @escaping () -> Void) {
        context.perform(block)
    }

    private static func performAndWait(_ context: NSManagedObjectContext, _ block: () -> Void) {
        context.performAndWait(block)
    }

    /// Belongs to a context's queue, which guards it.
    private final class Order: @unchecked Sendable {
        var numbers: [Int] = []
        func add(_ number: Int) { numbers.append(number) }
    }

    @Test func waitingBlocksRunOnTheThreadThatWaits() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let thread = pthread_self()
        context.performAndWait { #expect(pthread_equal(pthread_self(), thread) != 0) }
        // Also when it had to wait for another block.
        let (isBlocked, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        context.perform {
            isBlocked.signal()
            mayGoOn.wait()
        }
        isBlocked.wait()
        DispatchQueue.global().async { mayGoOn.signal() }
        context.performAndWait { #expect(pthread_equal(pthread_self(), thread) != 0) }
    }

    // MARK: Threads

    @Test func manyQueuesShareFewThreads() {
        let pool = ContextPool(width: 2)
        let queues = (0..<64).map { _ in SerialQueue(pool) }
        let all = DispatchGroup()
        let most = Trigger(at: 0) {}
        for _ in 0..<20 {
            for queue in queues {
                all.enter()
                queue.async {
                    for _ in 0..<50 { most.step() }
                    all.leave()
                }
            }
        }
        #expect(all.wait(timeout: .now() + 300) == .success)
        #expect(most.count == 64 * 20 * 50)
        // Two, and some that were added when the machine was too busy to run these.
        #expect(pool.mostThreads < 16)
    }

    @Test func threadsAreAddedForBlocksThatWaitAndGoWhenIdle() {
        let pool = ContextPool(width: 2)
        let queues = (0..<40).map { _ in SerialQueue(pool) }
        let (all, mayGoOn) = (DispatchGroup(), DispatchSemaphore(value: 0))
        for queue in queues.dropLast() {
            all.enter()
            queue.async {
                mayGoOn.wait()
                mayGoOn.signal()
                all.leave()
            }
        }
        queues.last?.async { mayGoOn.signal() }
        #expect(all.wait(timeout: .now() + 300) == .success)
        #expect(pool.mostThreads >= 40)
        waitUntil { pool.threadCount == 0 }
    }
}
