import StrataTestKit
import Testing

@testable import Strata

/// A set of byte strings against a dictionary.
@Suite struct ByteStringSetTests {
    /// Strings of one byte repeated, of few letters, and of which each has a neighbour that differs in the last byte.
    private static func string(_ random: inout SeededGenerator) -> [UInt8] {
        let count = [0, 1, 7, 8, 9, 15, 16, 17, random.below(40), random.below(300)][random.below(10)]
        switch random.below(4) {
        case 0: return Array(repeating: [0, 1, 0x7F, 0xFF][random.below(4)], count: count)
        case 1: return (0..<count).map { _ in UInt8(random.below(2)) + 97 }
        case 2: return (0..<count).map { UInt8($0 & 0xFF) }.dropLast() + [UInt8(random.below(256))]
        default: return (0..<count).map { _ in UInt8(random.below(256)) }
        }
    }

    @Test(arguments: RandomRuns.seeds(from: 100, count: 4)) func agreesWithDictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var set = ByteStringSet()
        var expected: [[UInt8]: Int] = [:]
        var order: [[UInt8]] = []
        for step in 0..<5_000 {
            let string = Self.string(&random)
            let known = string.withUnsafeBytes { (set.index(of: $0), set.contains($0)) }
            #expect(known.0 == expected[string] && known.1 == (expected[string] != nil), "seed \(seed), step \(step)")
            if random.chance(0.4) { continue }
            let index = string.withUnsafeBytes { set.insert($0) }
            if expected[string] == nil {
                expected[string] = order.count
                order.append(string)
            }
            #expect(index == expected[string], "seed \(seed), step \(step)")
        }
        #expect(set.count == order.count && set.strings == order, "seed \(seed)")
        let again = ByteStringSet(order + order)
        #expect(again.strings == order, "seed \(seed)")
    }

    /// A buffer without bytes may have no address.
    @Test func theEmptyStringIsAString() {
        let empty = UnsafeRawBufferPointer(start: nil, count: 0)
        var set = ByteStringSet()
        #expect(!set.contains(empty))
        let first = set.insert(empty)
        let found = [UInt8]().withUnsafeBytes { set.index(of: $0) }
        let second = set.insert(empty)
        #expect(first == 0 && found == 0 && second == 0 && set.strings == [[]])
    }
}
