import StrataSupport
import StrataTestKit
import Testing

/// Linear probing as tables use it: a set of numbers whose homes a test chooses, against the standard one.
@Suite struct ProbingTests {
    private struct NumberSet {
        let hash: (UInt64) -> UInt64
        var entries: [UInt64?]

        private var probing: Probing { Probing(capacity: entries.count) }

        private func find(_ number: UInt64) -> Int {
            probing.first(from: probing.home(hash(number))) { entries[$0] == nil || entries[$0] == number }
        }

        func contains(_ number: UInt64) -> Bool { entries[find(number)] != nil }

        mutating func insert(_ number: UInt64) { entries[find(number)] = number }

        mutating func remove(_ number: UInt64) {
            let found = find(number)
            guard entries[found] != nil else { return }
            var entries = entries
            let hole = probing.close(found) { index in
                entries[index].map { probing.home(hash($0)) }
            } move: { source, target in
                entries[target] = entries[source]
            }
            entries[hole] = nil
            self.entries = entries
        }
    }

    /// All keys in one place, at the end of the table so that searches go round, in a few places, and spread.
    @Test(arguments: [0, 1, 2, 3, 4], [1, 2, 3] as [UInt64]) func agreesWithSet(kind: Int, seed: UInt64) {
        let hashes: [(UInt64) -> UInt64] = [
            { _ in 0 }, { _ in .max }, { $0 & 3 | 12 }, { $0 &* 31 ^ $0 >> 2 }, { Hashing.spread($0) &>> 32 },
        ]
        var random = SeededGenerator(seed: seed)
        var set = NumberSet(hash: hashes[kind], entries: [UInt64?](repeating: nil, count: 16))
        var expected: Set<UInt64> = []
        for step in 0..<5_000 {
            let number = [0, 1, .max, UInt64(random.below(30))][random.below(4)]
            if random.chance(0.5), expected.count < 15 || expected.contains(number) {
                set.insert(number)
                expected.insert(number)
            } else {
                set.remove(number)
                expected.remove(number)
            }
            let isSame = (Array(0..<30) + [.max]).allSatisfy { set.contains($0) == expected.contains($0) }
            #expect(isSame, "seed \(seed), hash \(kind), step \(step)")
            if !isSame { return }
        }
    }

    /// A search hands on what its condition throws.
    @Test func aSearchEndsByAnError() {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            _ = try Probing(capacity: 8).first(from: 7) { (index) throws(Stop) in
                if index == 2 { throw Stop() }
                return false
            }
        }
    }
}
