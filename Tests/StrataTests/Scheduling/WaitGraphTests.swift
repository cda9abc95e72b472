import CoreData
import Foundation
import Testing

@testable import Strata

/// Threads that wait for each other's queues. Before queues were lent, each of these hung.
@Suite struct WaitGraphTests {
    @MainActor private static func mainContext(_ store: TestStore) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = store.coordinator
        return context
    }

    /// A main-queue context, a private one, a child of each, and a child of the first child.
    @MainActor private static func contexts(_ store: TestStore) -> [NSManagedObjectContext] {
        let main = mainContext(store)
        let root = store.context()
        func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = parent
            child.automaticallyMergesChangesFromParent = true
            return child
        }
        let first = child(of: main)
        return [main, root, first, child(of: root), child(of: first)]
    }

    /// A queue that blocks can wait for: of a context or of a coordinator.
    private struct Place {
        let isMain: Bool
        let start: (@escaping () -> Void) -> Void
        let wait: (() -> Void) -> Void

        init(_ context: NSManagedObjectContext) {
            isMain = context.concurrencyType == .mainQueueConcurrencyType
            start = { context.perform($0) }
            wait = { context.performAndWait($0) }
        }

        init(_ coordinator: NSPersistentStoreCoordinator) {
            isMain = false
            start = { coordinator.perform($0) }
            wait = { coordinator.performAndWait($0) }
        }
    }

    /// Of two kinds of queue: contexts in a line, and coordinators, which were left out of the graph.
    @MainActor @Test(arguments: StoreKind.allCases) func everyPairOfQueuesMayWaitForEachOtherAtOnce(
        _ kind: StoreKind
    ) async throws {
        let store = try TestStore(kind)
        let coordinators = [store.coordinator, NSPersistentStoreCoordinator(managedObjectModel: store.model)]
        let places = Self.contexts(store).map { Place($0) } + coordinators.map { Place($0) }
        let finished = Trigger(at: 0) {}
        var expected = 0
        for (index, one) in places.enumerated() {
            for (otherIndex, other) in places.enumerated() where otherIndex != index {
                let (isInOther, isInOne) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                let all = DispatchGroup()
                all.enter()
                other.start {
                    isInOther.signal()
                    isInOne.wait()
                    one.wait { finished.step() }
                    all.leave()
                }
                all.enter()
                if one.isMain {
                    isInOther.wait()
                    isInOne.signal()
                    other.wait { finished.step() }
                    all.leave()
                } else {
                    let isFirst = other.isMain
                    one.start {
                        if isFirst { isInOne.signal() }
                        isInOther.wait()
                        if !isFirst { isInOne.signal() }
                        other.wait { finished.step() }
                        all.leave()
                    }
                }
                expected += 2
                await Self.end(of: all)
                #expect(finished.count == expected)
            }
        }
    }

    /// A coordinator's block that another thread runs, since those that wait lend their queues, may go back to what it
    /// is inside of.
    @Test(arguments: StoreKind.allCases) func blocksOfCoordinatorsNestWhereverTheyRun(_ kind: StoreKind) async throws {
        let store = try TestStore(kind)
        let (coordinator, context, other) = (store.coordinator, store.context(), store.context())
        let (isInContext, isInCoordinator) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (count, all) = (Trigger(at: 0) {}, DispatchGroup())
        func visitAll() {
            coordinator.performAndWait {
                context.performAndWait {
                    coordinator.performAndWait { other.performAndWait { count.step() } }
                }
            }
        }
        all.enter()
        Self.start(context) {
            isInContext.signal()
            isInCoordinator.wait()
            coordinator.performAndWait { visitAll() }
            _ = try? context.count(for: NSFetchRequest<Employee>(entityName: "Employee"))
            all.leave()
        }
        all.enter()
        let start: (@escaping () -> Void) -> Void = { coordinator.perform($0) }
        start {
            isInCoordinator.signal()
            isInContext.wait()
            context.performAndWait { visitAll() }
            all.leave()
        }
        await Self.end(of: all)
        #expect(count.count == 2)
        struct Stop: Error {}
        #expect(throws: Stop.self) { try coordinator.performAndWait { () throws -> Int in throw Stop() } }
    }

    /// `perform` without waiting, also where a function that waits could be called.
    private static func start(_ context: NSManagedObjectContext, _ block: @escaping () -> Void) {
        context.perform(block)
    }

    private static func end(of group: DispatchGroup) async {
        await withCheckedContinuation { continuation in
            group.notify(queue: .global()) { continuation.resume() }
        }
    }

    @MainActor @Test(arguments: StoreKind.allCases) func aMergingChildOfAMainQueueContextIsWaitedFor(
        _ kind: StoreKind
    ) throws {
        let store = try TestStore(kind, Probe.model())
        let parent = Self.mainContext(store)
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        child.automaticallyMergesChangesFromParent = true
        let probes = (0..<20).map { _ in Probe(context: parent) }
        try parent.save()
        let copies = child.performAndWait { probes.map { child.object(with: $0.objectID) as? Probe } }
        for round in 0..<20 {
            for probe in probes { probe.name = "round \(round)" }
            try parent.save()
            child.performAndWait { #expect(copies.allSatisfy { $0?.name == "round \(round)" }) }
        }
    }

    @MainActor @Test(arguments: StoreKind.allCases) func aBlockThatHasBegunIsAnswered(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let parent = Self.mainContext(store)
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        let probe = Probe(context: parent)
        probe.name = "parent's"
        try parent.save()
        let (id, hasBegun) = (probe.objectID, DispatchSemaphore(value: 0))
        let answer = Answer()
        for isLate in [false, true] {
            child.perform {
                hasBegun.signal()
                // Either of them may come first.
                if isLate { usleep(1_000) }
                answer.name = (child.object(with: id) as? Probe)?.name
                child.reset()
            }
            hasBegun.wait()
            child.performAndWait { #expect(answer.name == "parent's") }
            answer.name = nil
        }
    }

    /// Belongs to a context's queue, which guards it.
    private final class Answer: @unchecked Sendable {
        var name: String?
    }

    /// A sibling's save is observed on the main queue, where somebody waits for the child that merges it.
    @MainActor @Test(arguments: StoreKind.allCases) func observersOnTheMainQueueMayWaitForAMergingChild(
        _ kind: StoreKind
    ) async throws {
        let store = try TestStore(kind, Probe.model())
        let parent = Self.mainContext(store)
        let (writer, reader) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
        for child in [writer, reader] {
            child.parent = parent
            child.automaticallyMergesChangesFromParent = true
        }
        let probe = Probe(context: parent)
        try parent.save()
        let id = probe.objectID
        let follower = reader
        nonisolated(unsafe) let copy = reader.performAndWait { reader.object(with: id) as? Probe }
        let seen = Answer()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: writer, queue: .main
        ) { _ in
            follower.performAndWait { seen.name = copy?.name }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        for round in 0..<10 {
            let isSaved: Bool = await writer.perform {
                (writer.object(with: id) as? Probe)?.name = "round \(round)"
                return (try? writer.save()) != nil
            }
            #expect(isSaved)
            reader.performAndWait { #expect(seen.name == "round \(round)" && copy?.name == seen.name) }
        }
    }

    @Test(arguments: StoreKind.allCases) func circlesOfManyContextsEnd(_ kind: StoreKind) async throws {
        let store = try TestStore(kind)
        let contexts = (0..<8).map { _ in store.context() }
        for _ in 0..<20 {
            let all = DispatchGroup()
            let areIn = DispatchGroup()
            for _ in contexts { areIn.enter() }
            let count = Trigger(at: 0) {}
            for (index, context) in contexts.enumerated() {
                let next = contexts[(index + 1) % contexts.count]
                all.enter()
                Self.start(context) {
                    areIn.leave()
                    areIn.wait()
                    next.performAndWait { count.step() }
                    all.leave()
                }
            }
            await Self.end(of: all)
            #expect(count.count == contexts.count)
        }
    }

    /// A block that is run on another thread holds the queues of the one that waits for it, and of the one that runs
    /// it.
    @Test(arguments: StoreKind.allCases) func lentBlocksHoldTheQueuesOfBoth(_ kind: StoreKind) async throws {
        let store = try TestStore(kind)
        let (one, other, third) = (store.context(), store.context(), store.context())
        let (isInOne, isInOther) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let all = DispatchGroup()
        let count = Trigger(at: 0) {}
        func visitAll() {
            for context in [one, other, third] { context.performAndWait { count.step() } }
        }
        for (here, there, isHere, isThere) in [
            (one, other, isInOne, isInOther), (other, one, isInOther, isInOne),
        ] {
            all.enter()
            Self.start(here) {
                isHere.signal()
                isThere.wait()
                there.performAndWait { visitAll() }
                visitAll()
                all.leave()
            }
        }
        await Self.end(of: all)
        #expect(count.count == 12)
    }
}
