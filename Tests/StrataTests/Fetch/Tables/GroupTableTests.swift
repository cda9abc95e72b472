import StrataTestKit
import Testing

@testable import Strata

/// The numbers of combinations of group values against a dictionary.
@Suite struct GroupTableTests {
    private struct Key: Hashable {
        var codes: [UInt64]
        var nulls: UInt64
    }

    /// Codes that repeat, that differ in one bit, and the extremes.
    private static func code(_ random: inout SeededGenerator) -> UInt64 {
        switch random.below(6) {
        case 0: [0, 1, .max, 1 << 63, 1 << 14 - 1, 1 << 14][random.below(6)]
        case 1: 1 << UInt64(random.below(64))
        case 2: random.next()
        default: UInt64(random.below(40))
        }
    }

    @Test(arguments: RandomRuns.seeds(from: 21, count: 2), [1, 2, 5, 64])
    func combinationsAreNumberedAsTheyCome(seed: UInt64, width: Int) {
        var random = SeededGenerator(seed: seed, stream: UInt64(width))
        var table = GroupTable(width: width)
        var expected: [Key: Int] = [:]
        var order: [Key] = []
        for step in 0..<6_000 {
            var key = Key(codes: (0..<width).map { _ in Self.code(&random) }, nulls: 0)
            if random.chance(0.5), !order.isEmpty { key = order[random.below(order.count)] }
            if random.chance(0.2) {
                // Null and the code that stands for it are not the same.
                let column = random.below(width)
                key.codes[column] = 0
                key.nulls |= 1 << UInt64(column)
            }
            let group = key.codes.withUnsafeBufferPointer { table.find($0, nulls: key.nulls) }
            if expected[key] == nil {
                expected[key] = order.count
                order.append(key)
            }
            #expect(group == expected[key], "seed \(seed), width \(width), step \(step)")
        }
        #expect(table.count == order.count, "seed \(seed), width \(width)")
        #expect(table.nulls == order.map(\.nulls), "seed \(seed), width \(width)")
        #expect(order.indices.allSatisfy { Array(table.codes(of: $0)) == order[$0].codes }, "seed \(seed)")
    }

    /// One column's codes may be asked for one by one, many at a time, and as combinations of one.
    @Test(arguments: RandomRuns.seeds(from: 77, count: 4)) func aSingleColumnHasTheSameGroupsEitherWay(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = GroupTable(width: 1)
        var expected: [UInt64: Int] = [:]
        // Where the first code lies decides which are found by their offset.
        let bases: [UInt64] = [0, 1 << 48, 7 << 48 + 1 << 14 - 2, .max - 100, 1 << 63]
        let base = bases[random.below(bases.count)]
        func group(_ code: UInt64) -> Int {
            if let known = expected[code] { return known }
            expected[code] = expected.count
            return expected.count - 1
        }
        for step in 0..<300 {
            let codes = (0..<random.below(40)).map { _ in
                random.chance(0.8) ? base &+ UInt64(random.below(20_000)) : Self.code(&random)
            }
            let wanted = codes.map(group)
            var found: [Int]
            if random.chance(0.5) {
                var groups = [Int32](repeating: -1, count: codes.count)
                groups.withUnsafeMutableBufferPointer { buffer in
                    table.groups(codes.count, into: buffer) { codes[$0] }
                }
                found = groups.map(Int.init)
            } else {
                found = codes.map { table.group($0) }
            }
            if step % 7 == 0 {
                found = codes.map { code in
                    [code].withUnsafeBufferPointer { table.find($0, nulls: 0) }
                }
            }
            #expect(found == wanted, "seed \(seed), step \(step)")
        }
        #expect(table.count == expected.count, "seed \(seed)")
    }
}
