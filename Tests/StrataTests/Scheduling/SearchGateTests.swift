import CoreData
import Foundation
import Testing

@testable import Strata

/// Only as many of a program's own threads search at a time as there are processors. Meant to be run under the thread
/// sanitizer, too.
@Suite struct SearchGateTests {
    private final class Counts: @unchecked Sendable {
        // Guarded by the lock.
        private let lock = NSLock()
        private var (inside, most, turns) = (0, 0, 0)

        func enter() {
            lock.withLock {
                inside += 1
                turns += 1
                most = max(most, inside)
            }
        }

        func leave() { lock.withLock { inside -= 1 } }
        var result: (most: Int, turns: Int) { lock.withLock { (most, turns) } }
    }

    /// Runs a body on so many threads, and waits for them.
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let group = DispatchGroup()
        for index in 0..<count {
            group.enter()
            Thread {
                body(index)
                group.leave()
            }.start()
        }
        group.wait()
    }

    @Test(arguments: [1, 2, 3]) func noMoreAreInsideThanThereArePlaces(permits: Int) {
        let gate = SearchGate(permits: permits)
        let counts = Counts()
        onThreads(16) { _ in
            for _ in 0..<50 {
                guard (try? gate.enter(nil)) == true else { continue }
                counts.enter()
                sched_yield()
                counts.leave()
                gate.leave()
            }
        }
        #expect(counts.result.turns == 16 * 50)
        #expect(counts.result.most <= permits)
        #expect(gate.counts == (permits, 0))
    }

    @Test func whoIsInsideNeedsNoFurtherPlace() throws {
        let gate = SearchGate(permits: 1)
        onThreads(1) { _ in
            #expect(throws: Never.self) { () throws in
                #expect(try gate.enter(nil))
                #expect(try !gate.enter(nil))
                gate.leave()
                #expect(try gate.enter(nil))
                gate.leave()
            }
        }
        #expect(gate.counts == (1, 0))
    }

    /// Whoever comes by takes a free place first, but not for ever.
    @Test func nobodyIsOvertakenForEver() {
        let gate = SearchGate(permits: 1)
        let (isIn, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let hasWaited = Counts()
        onThreads(2) { index in
            if index == 0 {
                _ = try? gate.enter(nil)
                isIn.signal()
                // Leaves and comes back at once, until the other one has been inside.
                while hasWaited.result.turns == 0 {
                    gate.leave()
                    _ = try? gate.enter(nil)
                }
                gate.leave()
            } else {
                isIn.wait()
                _ = try? gate.enter(nil)
                hasWaited.enter()
                gate.leave()
                isDone.signal()
            }
        }
        #expect(isDone.wait(timeout: .now()) == .success)
        #expect(gate.counts == (1, 0))
    }

    /// A thread that has come back again and again and then does not come, or waits for something else, keeps nobody
    /// out.
    @Test(arguments: [false, true]) func aPlaceIsNotKeptForEver(saysSo: Bool) {
        let gate = SearchGate(permits: 1)
        let isDone = DispatchSemaphore(value: 0)
        let turns = Counts()
        onThreads(5) { index in
            if index == 0 {
                _ = try? gate.enter(nil)
                while gate.counts.waiting < 4 { sched_yield() }
                // As often as it takes to be expected back.
                for _ in 0..<5 {
                    gate.leave()
                    _ = try? gate.enter(nil)
                }
                gate.leave()
                if saysSo { gate.goesAway() }
                for _ in 1..<5 { isDone.wait() }
            } else {
                while gate.counts.free > 0 { sched_yield() }
                _ = try? gate.enter(nil)
                turns.enter()
                turns.leave()
                gate.leave()
                isDone.signal()
            }
        }
        #expect(turns.result == (1, 4))
        #expect(gate.counts == (1, 0))
    }

    @Test func whoIsCancelledWhileWaitingHasNoPlace() {
        let gate = SearchGate(permits: 1)
        let controls = [RequestControl(), RequestControl()]
        let isIn = DispatchSemaphore(value: 0)
        let stopped = Counts()
        onThreads(3) { index in
            if index == 2 {
                _ = try? gate.enter(nil)
                isIn.signal()
                isIn.signal()
                while gate.counts.waiting < 2 { sched_yield() }
                controls[0].cancel()
                controls[1].cancel()
                while gate.counts.waiting > 0 { sched_yield() }
                gate.leave()
            } else {
                isIn.wait()
                do {
                    _ = try gate.enter(controls[index])
                } catch is CancellationError {
                    stopped.enter()
                } catch {}
            }
        }
        #expect(stopped.result.turns == 2)
        #expect(gate.counts == (1, 0))
    }

    /// Searches in contexts and in their children, small ones and counts, all end.
    @Test(arguments: StoreKind.allCases) func manyThreadsFetchBesideEachOther(_ kind: StoreKind) throws {
        let store = try LimitsFixture.filled(kind, 900)
        let contexts = (0..<24).map { _ in Carried(store.context()) }
        let found = Counts()
        onThreads(24) { index in
            let context = contexts[index].value
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            for round in 0..<10 {
                let asked = (index + round) % 2 == 0 ? context : child
                asked.performAndWait {
                    let request = NSFetchRequest<Employee>(entityName: "Employee")
                    request.predicate = NSPredicate(format: "name BEGINSWITH 'n8'")
                    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
                    request.fetchLimit = 10
                    if let first = try? asked.fetch(request), first.map(\.name).first == "n899", first.count == 10,
                        (try? asked.count(for: NSFetchRequest<Employee>(entityName: "Employee"))) == 900
                    {
                        found.enter()
                    }
                }
            }
        }
        #expect(found.result.turns == 24 * 10)
    }
}
