import Dispatch
import Foundation
import HTTPTypes
import StrataBrowsing
import Synchronization
import Testing

@testable import StrataInspect

@Suite struct PastPointsTests {
    private struct Failure: Error {}

    @Test func whoDoesNotWaitLongEnoughFindsThePointLater() async throws {
        let points = PastPoints<String, Int>(kept: 2, running: 1)
        let mayGoOn = DispatchSemaphore(value: 0)
        let error = await #expect(throws: InspectError.self) {
            try await points.value("a", in: .milliseconds(10)) {
                mayGoOn.wait()
                return 1
            }
        }
        #expect(error?.status == .gatewayTimeout)
        // As many as may are being read.
        let busy = await #expect(throws: InspectError.self) { try await points.value("b", in: .seconds(60)) { 2 } }
        #expect(busy?.status == .serviceUnavailable)
        mayGoOn.signal()
        #expect(try await points.value("a", in: .seconds(600)) { 3 } == 1)
        #expect(try await points.value("b", in: .seconds(600)) { 2 } == 2)
    }

    @Test func whatFailedIsTriedAgain() async throws {
        let points = PastPoints<String, Int>(kept: 2, running: 1)
        await #expect(throws: Failure.self) { try await points.value("a", in: .seconds(600)) { throw Failure() } }
        #expect(try await points.value("a", in: .seconds(600)) { 1 } == 1)
    }

    @Test func thePointsThatWereLookedAtLastStay() async throws {
        let points = PastPoints<String, Int>(kept: 2, running: 2)
        for (key, value) in [("a", 1), ("b", 2), ("a", 3), ("c", 4)] {
            let known = key == "a" ? 1 : value
            #expect(try await points.value(key, in: .seconds(600)) { value } == known)
        }
        // b went when c came.
        #expect(try await points.value("b", in: .seconds(600)) { 5 } == 5)
        #expect(try await points.value("c", in: .seconds(600)) { 6 } == 4)
    }

    @Test func whatIsNotKeptIsReadEachTime() async throws {
        let points = PastPoints<String, Int>(kept: 0, running: 1)
        for value in 1...3 { #expect(try await points.value("a", in: .seconds(600)) { value } == value) }
    }

    /// Asks for another value when it goes.
    private final class Last: Sendable {
        let ended: @Sendable () -> Void
        init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }
        deinit { ended() }
    }

    /// A store that was read back closed its files while every page that asked for a point waited for the lock.
    @Test func valuesGoWhileNobodyWaitsForThem() async throws {
        let points = PastPoints<Int, Last>(kept: 1, running: 2)
        let gone = DispatchSemaphore(value: 0)
        let mayGo = DispatchSemaphore(value: 0)
        _ = try await points.value(1, in: .seconds(600)) {
            Last {
                mayGo.wait()
                gone.signal()
            }
        }
        // The first goes when these come, and they come before it has gone.
        _ = try await points.value(2, in: .seconds(600)) { Last {} }
        _ = try await points.value(2, in: .seconds(600)) { Last {} }
        mayGo.signal()
        await Task.detached { Self.wait(gone) }.value
    }

    private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }
}

@Suite struct InspectorTests {
    private static func library() throws -> InspectFixture {
        let fixture = try InspectFixture(Stores.library())
        try Stores.fillLibrary(fixture, books: 10)
        return fixture
    }

    private final class Counter: Sendable { let count = Mutex(0) }

    /// Waits until something has been counted so often.
    private static func wait(for number: Int, _ counter: Counter) async throws {
        while counter.count.withLock({ $0 }) < number { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Four tabs that waited for one point of the past took all turns: nothing else was answered for ten seconds.
    @Test func pagesAreReadWhileTheStoreIsReadBackToAPoint() async throws {
        let fixture = try Self.library()
        let mayGoOn = DispatchSemaphore(value: 0)
        let inspector = try Inspector(fixture.store) { session, number in
            mayGoOn.wait()
            return try Session(session, atTransaction: number)
        }
        let (asked, answered) = (Counter(), Counter())
        let tabs = (0..<2 * Limits.concurrentReads).map { _ in
            Task {
                asked.count.withLock { $0 += 1 }
                let session = try await inspector.session(at: .transaction(1), Deadline(.seconds(600)))
                answered.count.withLock { $0 += 1 }
                return session.newestTransaction()
            }
        }
        try await Self.wait(for: tabs.count, asked)
        for _ in 0..<20 { #expect(try await inspector.run { inspector.newestTransaction() } == 5) }
        #expect(try await inspector.runLive { inspector.newestTransaction() } == 5)
        #expect(answered.count.withLock { $0 } == 0)
        mayGoOn.signal()
        for tab in tabs { #expect(try await tab.value == 1) }
    }

    @Test func livePagesGoOnWhileOthersRead() async throws {
        let fixture = try Self.library()
        let inspector = try Inspector(fixture.store)
        let mayGoOn = DispatchSemaphore(value: 0)
        let begun = Counter()
        let pages = (0..<2 * Limits.concurrentReads).map { _ in
            Task {
                try await inspector.run {
                    begun.count.withLock { $0 += 1 }
                    mayGoOn.wait()
                }
            }
        }
        try await Self.wait(for: Limits.concurrentReads, begun)
        #expect(try await inspector.runLive { 1 } == 1)
        for _ in pages { mayGoOn.signal() }
        for page in pages { try await page.value }
    }

    /// A time had the state of the first time within the same second, or, in the future, of when it was first asked
    /// for.
    @Test func aTimeIsThatOfItsTransaction() async throws {
        let fixture = try Self.library()
        let inspector = try Inspector(fixture.store)
        var times: [Date] = []
        while true {
            times = []
            for _ in 0..<2 {
                try await Task.sleep(for: .milliseconds(5))
                try fixture.save { InspectFixture.insert("Tag", ["label": "one more"], $0) }
                try await Task.sleep(for: .milliseconds(5))
                times.append(Date())
            }
            if times[0].description == times[1].description { break }
        }
        var numbers: [Int64] = []
        for time in times {
            numbers.append(try await inspector.session(at: .time(time), Deadline(.seconds(600))).newestTransaction())
        }
        #expect(numbers[1] == inspector.newestTransaction())
        #expect(numbers[0] == numbers[1] - 1)
        let error = await #expect(throws: InspectError.self) {
            try await inspector.session(at: .time(.distantFuture), Deadline(.seconds(600)))
        }
        #expect(error?.status == .badRequest)
    }

    /// The time was looked at only where something differed, and each page went through all pages before it.
    @Test func changesEndInTimeAndGoOnWhereTheyStopped() async throws {
        let fixture = try Self.library()
        let inspector = try Inspector(fixture.store)
        let long = Deadline(.seconds(600))
        func page(_ skipped: Int, _ deadline: Deadline) async throws -> PageContent {
            let query = try Query("/changes?from=0&to=1&entity=Author&limit=1&skip=\(skipped)")
            let changes = try await inspector.changes(from: query.point("from"), to: query.point("to"), long)
            return try ChangesPage(inspector: inspector, query: query, changes: changes, deadline: deadline).content()
        }
        let error = await #expect(throws: InspectError.self) { try await page(0, Deadline(.zero)) }
        #expect(error?.status == .gatewayTimeout)
        // An empty span has nothing to differ.
        let query = try Query("/changes?from=5&to=5")
        let nothing = try await inspector.changes(from: query.point("from"), to: query.point("to"), long)
        #expect(throws: InspectError.self) {
            try ChangesPage(inspector: inspector, query: query, changes: nothing, deadline: Deadline(.zero)).content()
        }
        var names: [String] = []
        for skipped in 0..<4 {
            let content = try await page(skipped, long)
            names += content.records.filter { $0[3].plainText == "name" }.map { $0[5].plainText }
            // The last has none after it.
            #expect(inspector.changePlaces.count == (skipped < 3 ? 2 : 1))
        }
        #expect(Set(names) == ["Le Guin", "Lem", "Jansson", "Borges"])
        #expect(names.count == 4)
    }

    @Test func valuesThatAreTooLargeAreRefused() async throws {
        let fixture = try Self.library()
        let inspector = try Inspector(fixture.store)
        let query = try Query("/value?id=Author/p1&name=name")
        let session = inspector.newest
        var answer = ValueAnswer(inspector: inspector, query: query, session: session)
        let size = try answer.value().bytes.count
        answer.maximumByteCount = size
        #expect(try answer.value().bytes.count == size)
        answer.maximumByteCount = size - 1
        let error = #expect(throws: InspectError.self) { try answer.value() }
        #expect(error?.status == .contentTooLarge)
    }
}
