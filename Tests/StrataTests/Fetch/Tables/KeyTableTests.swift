import StrataTestKit
import Testing

@testable import Strata

/// Values by primary key against a dictionary.
@Suite struct KeyTableTests {
    @Test(arguments: RandomRuns.seeds(from: 5, count: 4)) func agreesWithDictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let rows = random.below(3) * 5_000
        var table = KeyTable<Int>(rows: rows)
        var expected: [Int64: Int] = [:]
        var order: [Int64] = []
        // Where the array ends and the dictionary begins, and where keys end.
        let near = Int64(rows * 4 + 65_536)
        let extremes: [Int64] = [1, near - 1, near, near + 1, 1 << 48 - 1, .max]
        for step in 0..<20_000 {
            let key =
                switch random.below(8) {
                case 0: extremes[random.below(extremes.count)]
                case 1: near + Int64(random.below(1_000))
                case 2: Int64(random.below(Int(near))) + 1
                default: Int64(random.below(step + 1)) + 1
                }
            #expect(table[key] == expected[key], "seed \(seed), step \(step), key \(key)")
            if random.chance(0.3) { continue }
            if expected[key] == nil { order.append(key) }
            table.update(key, from: -1) { $0 += step }
            expected[key, default: -1] += step
        }
        #expect(table.keys == order, "seed \(seed)")
        #expect(table.values == order.map { expected[$0] }, "seed \(seed)")
    }

    @Test func anEmptyTableHasNoKey() {
        let table = KeyTable<String>(rows: 0)
        for key in [0, 1, 65_535, 65_536, .max] as [Int64] { #expect(table[key] == nil) }
        #expect(table.keys.isEmpty && table.values.isEmpty)
    }
}
