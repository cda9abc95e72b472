import Testing

@testable import PackageGraph

@Suite("Figures")
struct TextTests {
    @Test(
        "Counts are grouped by thousands",
        arguments: [
            (0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-1_234, "-1,234"),
        ])
    func groups(value: Int, text: String) { #expect(Text.count(value) == text) }

    @Test("Bytes and times have a unit that fits")
    func units() {
        #expect(Text.bytes(999) == "999 B")
        #expect(Text.bytes(1_500) == "1.5 kB")
        #expect(Text.bytes(52_609_009) == "52.6 MB")
        #expect(Text.bytes(1_377_557_908) == "1.38 GB")
        #expect(Text.duration(.microseconds(1_500)) == "1.5 ms")
        #expect(Text.duration(.milliseconds(2_340)) == "2.34 s")
        #expect(Text.rate(10, .zero) == "-")
        #expect(Text.rate(1_000, .milliseconds(500)) == "2,000 objects/s")
    }
}
