import StrataSupport
import Testing

@Suite("Tables of numbers")
struct NumberTableTests {
    @Test("a table holds what a dictionary would")
    func likeDictionary() {
        var table = NumberTable<Int>()
        var dictionary: [UInt64: Int] = [:]
        var random: UInt64 = 7
        for step in 0..<5_000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // Numbers at both ends as well.
            let drawn = (random >> 33) % 200
            let number = drawn == 199 ? UInt64.max : drawn
            let value = random >> 60 < 6 ? nil : step
            table[number] = value
            dictionary[number] = value
            #expect(table[number] == value)
        }
        #expect(table.numbers == dictionary.keys.sorted())
        #expect(table.values == dictionary.keys.sorted().map { dictionary[$0] })
        #expect(table.count == dictionary.count)
        for number in 0..<UInt64(210) { #expect(table[number] == dictionary[number]) }
    }

    @Test("numbers of other widths are the same numbers")
    func widths() {
        var table = NumberTable<String>()
        table[UInt16(7)] = "seven"
        table[UInt32(70_000)] = "seventy thousand"
        #expect(table[UInt64(7)] == "seven")
        #expect(table[UInt32(7)] == "seven")
        #expect(table[UInt16(7)] == "seven")
        #expect(table[UInt64(70_000)] == "seventy thousand")
        // 70,000 without its upper bits.
        #expect(table[UInt16(4_464)] == nil)
    }

    @Test("values can be mapped and removed by a condition")
    func mapping() {
        var table = NumberTable<Int>()
        #expect(table.isEmpty)
        for number in [UInt64(9), 1, 5, 3] { table[number] = Int(number) * 10 }
        #expect(table.mapValues { "\($0)" }.values == ["10", "30", "50", "90"])
        table.removeAll { number, value in number == 5 || value == 10 }
        #expect(table.numbers == [3, 9])
        #expect(table.values == [30, 90])
    }
}
