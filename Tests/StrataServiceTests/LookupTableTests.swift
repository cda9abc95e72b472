import Testing

@testable import StrataService

@Suite struct LookupTableTests {
    @Test(arguments: [0, 1, LookupTable<String, Int>.fewMaximum, LookupTable<String, Int>.fewMaximum + 1, 100])
    func eachKeyLeadsToItsValueHoweverManyThereAre(_ count: Int) {
        var table = LookupTable<String?, Int>()
        for number in 0..<count { table.add(number, for: number == 3 ? nil : "key \(number)") }
        for number in 0..<count { #expect(table[number == 3 ? nil : "key \(number)"] == number) }
        #expect(table["another"] == nil && table["key \(count)"] == nil)
    }
}
