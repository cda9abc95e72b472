import Testing

@testable import StrataService

@Suite struct SlowRequestsTests {
    private func add(_ text: String, _ seconds: Double, at time: Double, to slow: inout SlowRequests) {
        slow.add(SlowRequests.Kind(operation: "fetch", entity: "Book", text: text), seconds: seconds, now: time) {
            SlowRequests.Details(plan: "plan of \(seconds)", rowsTested: Int(seconds * 1_000), rows: 0)
        }
    }

    @Test func ofAKindTheSlowestIsShownAndAllAreCounted() {
        var slow = SlowRequests(now: 0)
        for (number, seconds) in [0.25, 0.5, 0.125].enumerated() {
            add("a", seconds, at: Double(number), to: &slow)
        }
        let found = slow.slowest(now: 3)
        #expect(found.count == 1 && found[0].seconds == 0.5 && found[0].time == 1)
        #expect(found[0].calls == 3 && found[0].totalSeconds == 0.875)
        #expect(found[0].plan == "plan of 0.5" && found[0].rowsTested == 500)
    }

    @Test func howeverManyKindsThereAreTheSlowestAreKept() {
        var slow = SlowRequests(now: 0)
        var kinds = (1...5_000).map { ("kind \($0)", Double($0) / 1_000) }
        var generator = SystemRandomNumberGenerator()
        kinds.shuffle(using: &generator)
        for (text, seconds) in kinds { add(text, seconds, at: 1, to: &slow) }
        let found = slow.slowest(now: 2).map(\.text)
        #expect(found == (0..<SlowRequests.maximum).map { "kind \(5_000 - $0)" })
    }

    @Test func whatIsNoFetchIsShownByOperationAndEntity() {
        var slow = SlowRequests(now: 0)
        for (number, kind) in [("save", "Book"), ("save", nil), ("batch_update", "Book")].enumerated() {
            slow.add(SlowRequests.Kind(operation: kind.0, entity: kind.1), seconds: Double(number + 1), now: 1) {
                SlowRequests.Details(rows: number)
            }
        }
        let found = slow.slowest(now: 2)
        #expect(found.map(\.text) == ["batch_update Book", "save", "save Book"] && found.map(\.rows) == [2, 1, 0])
    }

    @Test func longTextsAreCut() {
        var slow = SlowRequests(now: 0)
        add("e" + String(repeating: "\u{301}", count: 100_000), 1, at: 1, to: &slow)
        #expect(slow.slowest(now: 2)[0].text.unicodeScalars.count == 401)
    }

    @Test func whatIsLongAgoIsForgotten() {
        var slow = SlowRequests(now: 0)
        add("a", 1, at: 10, to: &slow)
        add("b", 0.5, at: 310, to: &slow)
        #expect(slow.slowest(now: 320).map(\.text) == ["a", "b"] && slow.since == 0)
        #expect(slow.slowest(now: 620).map(\.text) == ["b"] && slow.since == 310)
        #expect(slow.slowest(now: 5_000).isEmpty && slow.since == 5_000)
    }

    @Test func aThreadThatComesALittleLateLosesNothing() {
        var slow = SlowRequests(now: 0)
        add("a", 3, at: 10, to: &slow)
        add("b", 2, at: 300.5, to: &slow)
        add("c", 1, at: 300.4, to: &slow)
        #expect(slow.slowest(now: 301).map(\.text) == ["a", "b", "c"])
    }

    @Test func aClockThatIsPutBackLosesWhatWasSlowAndNothingElse() {
        var slow = SlowRequests(now: 1_000)
        add("a", 1, at: 1_010, to: &slow)
        add("b", 1, at: 10, to: &slow)
        #expect(slow.slowest(now: 11).map(\.text) == ["b"] && slow.since == 10)
    }
}
