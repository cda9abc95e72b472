import StrataTestKit
import Testing

@testable import StrataCLI

@Suite struct LatencyHistogramTests {
    @Test func percentilesAreWithinTwoInAHundred() throws {
        var histogram = LatencyHistogram()
        let seed = UInt64.random(in: 0..<1 << 32)
        var generator = SeededGenerator(seed: seed)
        var values = (0..<10_000).map { _ in Int64.random(in: 0..<1 << Int64.random(in: 1...40), using: &generator) }
        for value in values { histogram.add(.nanoseconds(value)) }
        values.sort()
        for share in [0.001, 0.1, 0.5, 0.9, 0.99, 1] {
            let exact = Double(values[max(1, Int((share * 10_000).rounded(.up))) - 1])
            // Durations divided by each other are a little beside what they are.
            let (seconds, attoseconds) = try #require(histogram.percentile(share)).components
            let found = Double(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
            #expect(found >= exact && found <= exact * 1.02 + 1, "seed \(seed), \(share): \(found), not \(exact)")
        }
        #expect(histogram.maximum == .nanoseconds(values[9_999]) && histogram.count == 10_000)
    }

    @Test func severalAreAddedUp() {
        var (first, second) = (LatencyHistogram(), LatencyHistogram())
        #expect(first.percentile(0.5) == nil)
        for _ in 0..<9 { first.add(.nanoseconds(40)) }
        second.add(.seconds(1))
        first.add(second)
        #expect(first.count == 10 && first.percentile(0.9) == .nanoseconds(40))
        #expect(first.percentile(0.91) == .seconds(1) && first.maximum == .seconds(1))
    }

    @Test(arguments: [Duration.zero, .nanoseconds(-5), .seconds(Int64.max)]) func allTimesHaveAPlace(_ time: Duration) {
        var histogram = LatencyHistogram()
        histogram.add(time)
        #expect(histogram.count == 1 && histogram.percentile(1) != nil)
    }
}
