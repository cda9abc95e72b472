import Testing

@testable import StrataService

@Suite struct SlowRequestsTests {
    private func request(_ text: String, _ seconds: Double, at time: Double) -> StoreStatus.Request {
        StoreStatus.Request(
            operation: "fetch", entity: "Book", text: text, plan: nil, seconds: seconds, rowsTested: 0, rows: 0,
            time: time, calls: 1, totalSeconds: seconds)
    }

    @Test func ofAKindTheSlowestIsShownAndAllAreCounted() {
        var slow = SlowRequests(now: 0)
        for (number, seconds) in [0.25, 0.5, 0.125].enumerated() {
            slow.add(request("a", seconds, at: Double(number)))
        }
        let found = slow.slowest(now: 3)
        #expect(found.count == 1 && found[0].seconds == 0.5 && found[0].time == 1)
        #expect(found[0].calls == 3 && found[0].totalSeconds == 0.875)
    }

    @Test func howeverManyKindsThereAreTheSlowestAreKept() {
        var slow = SlowRequests(now: 0)
        var kinds = (1...5_000).map { ("kind \($0)", Double($0) / 1_000) }
        var generator = SystemRandomNumberGenerator()
        kinds.shuffle(using: &generator)
        for (text, seconds) in kinds { slow.add(request(text, seconds, at: 1)) }
        let found = slow.slowest(now: 2).map(\.text)
        #expect(found == (0..<SlowRequests.maximum).map { "kind \(5_000 - $0)" })
    }

    @Test func longTextsAreCut() {
        var slow = SlowRequests(now: 0)
        slow.add(request("e" + String(repeating: "\u{301}", count: 100_000), 1, at: 1))
        #expect(slow.slowest(now: 2)[0].text.unicodeScalars.count == 401)
    }

    @Test func whatIsLongAgoIsForgotten() {
        var slow = SlowRequests(now: 0)
        slow.add(request("a", 1, at: 10))
        slow.add(request("b", 0.5, at: 310))
        #expect(slow.slowest(now: 320).map(\.text) == ["a", "b"] && slow.since == 0)
        #expect(slow.slowest(now: 620).map(\.text) == ["b"] && slow.since == 310)
        #expect(slow.slowest(now: 5_000).isEmpty && slow.since == 5_000)
    }

    @Test func aThreadThatComesALittleLateLosesNothing() {
        var slow = SlowRequests(now: 0)
        slow.add(request("a", 3, at: 10))
        slow.add(request("b", 2, at: 300.5))
        slow.add(request("c", 1, at: 300.4))
        #expect(slow.slowest(now: 301).map(\.text) == ["a", "b", "c"])
    }

    @Test func aClockThatIsPutBackLosesWhatWasSlowAndNothingElse() {
        var slow = SlowRequests(now: 1_000)
        slow.add(request("a", 1, at: 1_010))
        slow.add(request("b", 1, at: 10))
        #expect(slow.slowest(now: 11).map(\.text) == ["b"] && slow.since == 10)
    }
}
