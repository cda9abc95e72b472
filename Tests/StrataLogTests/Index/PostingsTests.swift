import StrataTestKit
import Testing

@testable import StrataLog

/// Postings as sets of raw values, and changes that keep the engine's promise.
struct PostingsModel {
    var sets: [UInt64: Set<UInt64>] = [:]

    var pairCount: Int { sets.values.reduce(0) { $0 + $1.count } }

    /// Changes of one transaction, in which a pair may come and go several times.
    mutating func changes(
        _ count: Int, targets: [UInt64], referrers: ClosedRange<UInt64>, wide: Bool = false,
        _ random: inout SeededGenerator
    ) -> [PostingChange] {
        (0..<count).map { _ in
            let target = targets.randomElement(using: &random)!
            var referrer = UInt64.random(in: referrers, using: &random)
            if wide { referrer |= UInt64.random(in: 0...3, using: &random) << 62 }
            let isRemoval = sets[target]?.contains(referrer) ?? false
            if isRemoval {
                sets[target]?.remove(referrer)
            } else {
                sets[target, default: []].insert(referrer)
            }
            return PostingChange(
                target: ObjectRef(rawValue: target), referrer: ObjectRef(rawValue: referrer), isRemoval: isRemoval)
        }
    }

    func expect(_ postings: Postings, targets: [UInt64], _ comment: Comment) throws {
        #expect(postings.pairCount == pairCount, comment)
        #expect(postings.isEmpty == (pairCount == 0), comment)
        for target in targets {
            let right = (sets[target] ?? []).sorted()
            let ref = ObjectRef(rawValue: target)
            #expect(try postings.referrers(of: ref).map(\.rawValue) == right, comment)
            #expect(try postings.count(of: ref) == right.count, comment)
        }
    }
}

@Suite struct PostingsTests {
    static let targets: [UInt64] =
        [0, 1, 2, 3, 1 << 48 | 1, 1 << 48 | 2, 7 << 48 | 99, .max - 1, .max] + (100..<140).map { $0 }

    @Test func emptyPostingsHaveNothing() throws {
        let postings = Postings()
        #expect(postings.isEmpty && postings.pairCount == 0)
        #expect(try postings.referrers(of: ObjectRef(rawValue: 1)).isEmpty)
        #expect(try postings.count(of: ObjectRef(rawValue: 1)) == 0)
        #expect(postings.adding([]) === postings)
    }

    @Test(arguments: [1...20, 1...5000], [1, 7, 700])
    func versionsMatchAModelAndLeaveEachOtherAlone(referrers: ClosedRange<UInt64>, batch: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var model = PostingsModel()
        var postings = Postings()
        var older: [(Postings, PostingsModel)] = []
        for round in 0..<150 {
            let count = Int.random(in: 1...batch, using: &random)
            postings = postings.adding(
                model.changes(count, targets: Self.targets, referrers: referrers, wide: round % 5 == 0, &random))
            guard round % 10 == 0 else { continue }
            older.append((postings, model))
            if older.count > 4 { older.remove(at: Int.random(in: 0..<older.count, using: &random)) }
            let some = older.randomElement(using: &random)!
            try some.1.expect(some.0, targets: Self.targets, "seed \(seed), round \(round)")
        }
        try model.expect(postings, targets: Self.targets, "seed \(seed)")
        #expect(postings.runs.list.count < 10)
    }

    @Test func aPairMayGoAndComeAgain() throws {
        let change = PostingChange(target: ObjectRef(entity: 1, key: 1), referrer: ObjectRef(entity: 1, key: 2))
        var back = change
        back.isRemoval = true
        // So many pairs that the runs stay apart.
        let others = (1...100_000).map {
            PostingChange(target: ObjectRef(entity: 1, key: 9), referrer: ObjectRef(entity: 1, key: UInt64($0)))
        }
        var postings = Postings()
        for (round, slice) in [0..<90_000, 90_000..<99_000, 99_000..<99_900, 99_900..<100_000].enumerated() {
            postings = postings.adding(Array(others[slice]) + [round % 2 == 0 ? change : back])
            #expect(try postings.count(of: change.target) == (round + 1) % 2)
            #expect(try postings.referrers(of: change.target) == (round % 2 == 0 ? [change.referrer] : []))
        }
        #expect(postings.runs.list.count > 2)
        let same = postings.adding([change, back, change, back])
        #expect(try same.count(of: change.target) == 0)
        #expect(same.pairCount == 100_000)
    }

    @Test func listingStopsWhenAsked() throws {
        let target = ObjectRef(entity: 1, key: 1)
        let all = (1...5000).map { PostingChange(target: target, referrer: ObjectRef(entity: 2, key: $0)) }
        let sink = IndexTestSink()
        let section = try Postings().adding(Array(all[..<3000])).encode(into: sink)
        let source = IndexTestSource(sink.bytes)
        let postings = try Postings.load(section, from: source).adding(Array(all[3000...]))
        for limit in [1, 511, 512, 513, 2999, 3000, 3001, 4999] {
            var seen: [ObjectRef] = []
            try postings.forEachReferrer(of: target) { referrer in
                seen.append(referrer)
                return seen.count < limit
            }
            #expect(seen == all[..<limit].map(\.referrer))
        }
        #expect(throws: StoreError.self) {
            try postings.forEachReferrer(of: target) { _ throws(StoreError) in throw StoreError(.closed, "enough") }
        }
    }

    @Test(arguments: [2, 30, 48, 49, 1000, 30_000])
    func sortingPutsPairsInOrder(count: Int) {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for mask in [0, 1, 0xFF, 0xFF00, 0xFFFF_FFFF_FFFF_FFFF] as [UInt64] {
            var pairs = (0..<count).map { PostingPair(random.next() & mask, $0 % 3 == 0 ? UInt64($0) : random.next()) }
            let right = pairs.sorted()
            PostingPairs.sort(&pairs)
            #expect(pairs == right, "seed \(seed)")
            PostingPairs.sort(&pairs)
            #expect(pairs == right, "seed \(seed)")
            pairs = (0..<count).map { PostingPair(random.next() & mask, UInt64($0)) }
            let byTarget = pairs.sorted()
            PostingPairs.sort(&pairs)
            #expect(pairs == byTarget, "seed \(seed)")
        }
    }
}
