import CoreData
import Foundation
import Testing

@testable import Strata

/// Scans share the cores, in turn, and only so many large ones run at a time. Meant to be run under the thread
/// sanitizer, too.
@Suite struct ScanSchedulingTests {
    // MARK: Pool

    @Test func everyPieceIsWorkedOnOnce() {
        let pool = ScanPool(cores: 4)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for count in [0, 1, 2, 3, 17, 100] {
                let seen = UnsafeMutablePointer<Int32>.allocate(capacity: 100)
                seen.initialize(repeating: 0, count: 100)
                defer { seen.deallocate() }
                let pieces = Carried(seen)
                pool.perform(count) { pieces.value[$0] += 1 }
                #expect((0..<100).allSatisfy { seen[$0] == ($0 < count ? 1 : 0) })
            }
        }
        #expect(pool.threadCount <= 4)
    }

    /// Both owners are busy with their first pieces, so that the one helper does the rest.
    @Test func helpersGoFromScanToScanInTurn() {
        let pool = ScanPool(cores: 3)
        let pieces = 40
        let (mayEnd, ownersAreBusy) = (DispatchSemaphore(value: 0), DispatchGroup())
        let order = Order()
        ownersAreBusy.enter()
        ownersAreBusy.enter()
        let all = DispatchGroup()
        for scan in 0..<2 {
            all.enter()
            Thread {
                let owner = pthread_self()
                let isFirst = Flag()
                pool.perform(pieces) { _ in
                    if pthread_equal(pthread_self(), owner) != 0 {
                        if isFirst.take() {
                            ownersAreBusy.leave()
                            mayEnd.wait()
                        }
                    } else {
                        ownersAreBusy.wait()
                        order.add(scan)
                    }
                    // The owners go on when nearly all is done.
                    if order.count == 2 * pieces - 4 { for _ in 0..<2 { mayEnd.signal() } }
                }
                all.leave()
            }.start()
        }
        all.wait()
        // The first pieces of the first scan are taken before the second one has come.
        let numbers = order.numbers.dropFirst(2).prefix(2 * pieces - 12)
        for start in stride(from: numbers.startIndex, to: numbers.endIndex - 8, by: 8) {
            let ones = numbers[start..<start + 8].reduce(0, +)
            #expect((3...5).contains(ones), "\(Array(numbers))")
        }
    }

    private final class Flag: @unchecked Sendable {
        // Used by one thread.
        private var isTaken = false
        func take() -> Bool {
            defer { isTaken = true }
            return !isTaken
        }
    }

    private final class Order: @unchecked Sendable {
        private let lock = NSLock()
        private var list: [Int] = []
        var numbers: [Int] { lock.withLock { list } }
        var count: Int { lock.withLock { list.count } }
        func add(_ number: Int) { lock.withLock { list.append(number) } }
    }

    // MARK: Gate

    @Test(arguments: [1, 3]) func soManyAreLetInAndOthersInTheOrderInWhichTheyCame(_ limit: Int) throws {
        let gate = ScanGate()
        gate.maximum = limit
        for _ in 0..<limit { try gate.enter(nil) }
        #expect(gate.counts.running == limit && gate.counts.waiting == 0)
        let order = Order()
        let all = DispatchGroup()
        for number in 0..<5 {
            all.enter()
            Thread {
                #expect(throws: Never.self) { try gate.enter(nil) }
                order.add(number)
                gate.leave()
                all.leave()
            }.start()
            waitUntil { gate.counts.waiting == number + 1 }
        }
        #expect(order.count == 0)
        gate.leave()
        all.wait()
        #expect(limit > 1 || order.numbers == Array(0..<5))
        #expect(gate.counts.mostRunning == limit)
        for _ in 1..<limit { gate.leave() }
        #expect(gate.counts.running == 0)
    }

    @Test func cancelledScansLeaveTheQueue() throws {
        let gate = ScanGate()
        gate.maximum = 1
        try gate.enter(nil)
        let control = RequestControl()
        let isOut = DispatchSemaphore(value: 0)
        Thread {
            #expect(throws: CancellationError.self) { try gate.enter(control) }
            isOut.signal()
        }.start()
        waitUntil { gate.counts.waiting == 1 }
        control.cancel()
        isOut.wait()
        #expect(gate.counts == (1, 1, 0))
        // One whose time is up finds out by itself.
        #expect(throws: CocoaError.self) { try gate.enter(RequestControl(timeLimit: .milliseconds(1))) }
        gate.leave()
        #expect(gate.counts == (0, 1, 0))
    }

    @Test func aHigherMaximumLetsTheNextIn() throws {
        let gate = ScanGate()
        gate.maximum = 1
        try gate.enter(nil)
        let isIn = DispatchSemaphore(value: 0)
        Thread {
            #expect(throws: Never.self) { try gate.enter(nil) }
            isIn.signal()
        }.start()
        waitUntil { gate.counts.waiting == 1 }
        gate.maximum = 2
        isIn.wait()
        #expect(gate.counts == (2, 2, 0))
    }

    /// When its slice is over it lets others in: those that have not run for long first.
    @Test func whoHasRunForLongComesLast() throws {
        let gate = ScanGate()
        gate.maximum = 1
        try gate.enter(nil)
        // Nobody waits.
        try gate.pass(nil, isLast: true)
        #expect(gate.counts == (1, 1, 0))
        let order = Order()
        let all = DispatchGroup()
        func wait(_ number: Int, _ enter: @escaping @Sendable () throws -> Void) {
            let waiting = gate.counts.waiting
            all.enter()
            Thread {
                #expect(throws: Never.self) { try enter() }
                order.add(number)
                gate.leave()
                all.leave()
            }.start()
            waitUntil { gate.counts.waiting == waiting + 1 }
        }
        wait(1) { try gate.enter(nil) }
        // It comes after the first one, and after whoever comes while that runs.
        let (isIn, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        all.enter()
        let long = Thread {
            #expect(throws: Never.self) { try gate.pass(nil, isLast: true) }
            order.add(0)
            isIn.signal()
            mayGoOn.wait()
            gate.leave()
            all.leave()
        }
        long.start()
        isIn.wait()
        wait(2) { try gate.enter(nil) }
        mayGoOn.signal()
        all.wait()
        #expect(order.numbers == [1, 0, 2])
        #expect(gate.counts == (0, 1, 0))
    }

    @Test func whoIsStoppedWhileOthersHaveTheirSliceHasLeft() throws {
        let gate = ScanGate()
        gate.maximum = 1
        try gate.enter(nil)
        let (isIn, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread {
            #expect(throws: Never.self) { try gate.enter(nil) }
            isIn.signal()
            mayGoOn.wait()
            gate.leave()
            isIn.signal()
        }.start()
        waitUntil { gate.counts.waiting == 1 }
        #expect(throws: CocoaError.self) { try gate.pass(RequestControl(timeLimit: .milliseconds(1)), isLast: true) }
        isIn.wait()
        #expect(gate.counts == (1, 1, 0))
        mayGoOn.signal()
        isIn.wait()
        #expect(gate.counts == (0, 1, 0))
    }

    // MARK: Fetches

    private static let largeCount = 9_000

    /// The interpreter takes milliseconds for these rows.
    private static func largeFetch(_ context: NSManagedObjectContext) throws -> Int {
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.predicate = NSPredicate(format: "name MATCHES 'n8.*'")
        return try context.performAndWait { try context.count(for: request) }
    }

    @Test(arguments: StoreKind.allCases) func largeScansWaitAndSmallReadsDoNot(_ kind: StoreKind) async throws {
        let store = try LimitsFixture.filled(kind, Self.largeCount)
        let coordinator = store.coordinator
        coordinator.maximumConcurrentScans = 1
        #expect(coordinator.maximumConcurrentScans == 1)
        let gate = coordinator.scanGate
        try gate.enter(nil)
        let context = store.context()
        let task = inTask(context) { try Self.largeFetch(context) }
        await eventually { gate.counts.waiting == 1 }
        // Others read while it waits.
        let other = store.context()
        try other.performAndWait {
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.predicate = NSPredicate(format: "name MATCHES 'n8.*'")
            request.fetchLimit = 5
            #expect(try other.fetch(request).count == 5)
            request.predicate = nil
            let first = try #require(try other.fetch(request).first)
            #expect(try other.existingObject(with: first.objectID) === first)
        }
        // A cancelled one leaves at once.
        let third = store.context()
        let cancelled = inTask(third) { try Self.largeFetch(third) }
        await eventually { gate.counts.waiting == 2 }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(gate.counts.waiting == 1)
        gate.leave()
        #expect(try await task.value == 1_111)
        await eventually { gate.counts.running == 0 }
    }

    @Test(arguments: StoreKind.allCases) func noMoreLargeScansRunThanAllowed(_ kind: StoreKind) throws {
        let store = try LimitsFixture.filled(kind, Self.largeCount)
        store.coordinator.maximumConcurrentScans = 2
        let contexts = (0..<8).map { _ in Carried(store.context()) }
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            #expect((try? Self.largeFetch(contexts[number].value)) == 1_111)
        }
        let counts = store.coordinator.scanGate.counts
        #expect(counts.running == 0 && counts.waiting == 0 && (1...2).contains(counts.mostRunning))
    }

    /// Whatever a request is for: what it takes counts.
    @Test(arguments: StoreKind.allCases) func whateverIsLongWaits(_ kind: StoreKind) async throws {
        let store = try LimitsFixture.filled(kind, Self.largeCount)
        let coordinator = store.coordinator
        coordinator.maximumConcurrentScans = 1
        let gate = coordinator.scanGate
        func dictionaries(_ change: (NSFetchRequest<NSDictionary>) -> Void) -> NSFetchRequest<NSDictionary> {
            let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
            request.resultType = .dictionaryResultType
            change(request)
            return request
        }
        let power = NSExpressionDescription()
        power.name = "power"
        power.expression = NSExpression(format: "age ** 1")
        let requests = [
            dictionaries { $0.propertiesToFetch = ["name", "department.title"] },
            dictionaries {
                $0.propertiesToFetch = [power]
                $0.propertiesToGroupBy = [power]
            },
            dictionaries {
                $0.propertiesToFetch = ["name", power]
                $0.returnsDistinctResults = true
            },
            dictionaries { $0.sortDescriptors = [NSSortDescriptor(key: "department.title", ascending: true)] },
        ]
        for request in requests {
            try gate.enter(nil)
            let context = store.context()
            let box = Carried(request)
            let task = inTask(context) { try context.performAndWait { try context.fetch(box.value).count } }
            await eventually { gate.counts.waiting == 1 }
            gate.leave()
            #expect(try await task.value > 0)
            await eventually { gate.counts.running == 0 }
        }
    }

    /// Otherwise a search would wait for itself.
    @Test func aFetchWithinASearchTakesNoTurn() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let plan = try context.plan(of: NSFetchRequest<Employee>(entityName: "Employee"))
            #expect(context.scanGate(for: plan) === store.coordinator.scanGate)
            let turn = context.turn(nil, plan)
            try turn.begin()
            #expect(context.scanGate(for: plan) == nil)
            turn.leave()
            #expect(context.scanGate(for: plan) === store.coordinator.scanGate)
        }
    }

    /// As many large scans as the pool has threads do not keep small reads from one.
    @Test func whoRunsALargeScanLeavesItsPlaceToOthers() throws {
        let (pool, gate) = (ContextPool(width: 2), ScanGate())
        gate.maximum = 2
        let (all, mayEnd) = (DispatchGroup(), DispatchSemaphore(value: 0))
        for _ in 0..<2 {
            all.enter()
            pool.async {
                let turn = ScanTurn(nil, gate)
                #expect(throws: Never.self) { try turn.willLook(at: ScanTurn.rowsOfLongScan) }
                mayEnd.wait()
                turn.leave()
                all.leave()
            }
        }
        // The places are left a moment after the scans have come in.
        waitUntil { gate.counts.running == 2 && pool.runningThreads == 0 }
        let isRead = DispatchSemaphore(value: 0)
        pool.async { isRead.signal() }
        isRead.wait()
        for _ in 0..<2 { mayEnd.signal() }
        all.wait()
        waitUntil { gate.counts.running == 0 && pool.runningThreads == 0 }
    }

    /// Compiled scans are asked about a block at a time, on whatever thread.
    @Test(arguments: StoreKind.allCases) func compiledScansStopFarShort(_ kind: StoreKind) throws {
        let count = 100_000
        let store = try LimitsFixture.filled(kind, count)
        let context = store.context()
        try context.performAndWait {
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.predicate = NSPredicate(format: "name LIKE '*9*8*7*6*'")
            let progress = PatientProgress(patience: 60)
            let plan = try context.plan(of: request)
            let control = RequestControl(progress: progress)
            let executor = FetchExecutor(context, plan, turn: ScanTurn(control, nil))
            #expect(throws: CocoaError.self) { try executor.results() }
            #expect(executor.report.statistics.rowsTested < count / 2)
            // What runs on another thread asks once more.
            #expect(progress.questionCount < 60 + 8)
            #expect(try context.count(for: request) > 0)
        }
    }

    @Test(arguments: StoreKind.allCases) func sortingStops(_ kind: StoreKind) throws {
        let store = try LimitsFixture.filled(kind, 4_000)
        let context = store.context()
        for key in ["name", "department.title"] {
            try context.performAndWait {
                let request = NSFetchRequest<Employee>(entityName: "Employee")
                request.sortDescriptors = [NSSortDescriptor(key: key, ascending: false)]
                let plan = try context.plan(of: request)
                /// How many questions there are altogether.
                let patient = PatientProgress(patience: .max)
                let whole = ScanTurn(RequestControl(progress: patient), nil)
                _ = try FetchExecutor(context, plan, turn: whole).results()
                #expect(patient.questionCount > 5)
                for patience in [patient.questionCount / 2, patient.questionCount - 5] {
                    let turn = ScanTurn(RequestControl(progress: PatientProgress(patience: patience)), nil)
                    #expect(throws: CocoaError.self) { try FetchExecutor(context, plan, turn: turn).results() }
                }
            }
        }
    }
}
