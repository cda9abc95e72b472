import StrataTestKit
import Synchronization
import Testing

@testable import StrataLog

@Suite struct IndexEditTests {
    typealias Model = [UInt64: Location]

    static func location(_ random: inout SeededGenerator) -> Location {
        Location(
            segment: UInt32.random(in: 1...9, using: &random),
            byteOffset: Int.random(in: 0..<1000, using: &random) * Location.alignmentBytes,
            row: Int.random(in: 0..<300, using: &random))
    }

    /// Some changes made to an edit and to the model in the same way.
    static func change(
        _ edit: IndexEdit, _ model: inout Model, keys: ClosedRange<UInt64>, _ random: inout SeededGenerator
    ) {
        for _ in 0..<Int.random(in: 0...30, using: &random) {
            let key = UInt64.random(in: keys, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...4:
                let place = location(&random)
                edit.set(key, place)
                model[key] = place
            case 5...6:
                edit.set(key, .absent)
                model[key] = nil
            default:
                let count = Int(min(UInt64.random(in: 1...2000, using: &random), keys.upperBound - key + 1))
                let place = Bool.random(using: &random) ? Location.absent : location(&random)
                edit.setRun(firstKey: key, count: count, location: place)
                for index in 0..<count {
                    model[key + UInt64(index)] =
                        place.isAbsent ? nil : Location(rawValue: place.rawValue + UInt64(index))
                }
            }
        }
    }

    static func expect(
        _ index: ObjectIndex, matches model: Model, keys: ClosedRange<UInt64>, _ random: inout SeededGenerator,
        _ comment: Comment
    ) throws {
        #expect(try index.contents() == model, comment)
        for _ in 0..<200 {
            let key = UInt64.random(in: keys, using: &random)
            #expect(try index.location(of: key) == model[key] ?? .absent, comment)
        }
        for (key, place) in model.prefix(200) {
            #expect(try index.location(of: key) == place, comment)
        }
    }

    /// Whichever part of it its levels of nodes reach.
    @Test(arguments: [1, 600, 40_000, 3_000_000, 1 << 40] as [UInt64])
    func nothingLiesBehindTheLastKey(last: UInt64) throws {
        let edit = IndexEdit(base: ObjectIndex())
        edit.set(last, Location(segment: 1, byteOffset: 64, row: 0))
        let index = try edit.finish()
        #expect(try index.contents(from: last).count == 1)
        for shift in 0..<48 as Range<UInt64> {
            let first = last + 1 << shift
            guard first <= ObjectRef.maximumKey else { break }
            #expect(try index.contents(from: first).isEmpty, "from \(first)")
            #expect(try index.location(of: first).isAbsent, "of \(first)")
        }
    }

    @Test func onlyRunsWithKeysFromTheFirstOnAreVisited() throws {
        let edit = IndexEdit(base: ObjectIndex())
        edit.setRun(firstKey: 1, count: 10, location: Location(segment: 1, byteOffset: 64, row: 0))
        edit.setRun(firstKey: 21, count: 10, location: Location(segment: 1, byteOffset: 128, row: 0))
        let index = try edit.finish()
        for (first, expected) in [(1, [10, 10]), (10, [1, 10]), (11, [10]), (30, [1]), (31, [])] as [(UInt64, [Int])] {
            var counts: [Int] = []
            try index.forEachRun(from: first) { run in
                counts.append(run.count)
                return true
            }
            #expect(counts == expected, "from \(first)")
        }
    }

    /// Also where the next key lies in another page or directory.
    @Test(arguments: [3, 600, 40_000, 3_000_000] as [UInt64]) func visitingStopsWhenAsked(next: UInt64) throws {
        let edit = IndexEdit(base: ObjectIndex())
        let all = [1, next, next + 2, next * 2, next * 2 + 40_000]
        for key in all { edit.set(key, Location(segment: 1, byteOffset: Int(key) * 64, row: 0)) }
        let index = try edit.finish()
        for limit in 1...all.count {
            var keys: [UInt64] = []
            try index.forEachRun { run in
                keys.append(run.firstKey)
                return keys.count < limit
            }
            #expect(keys == Array(all[..<limit]))
        }
    }

    @Test func anEmptyIndexHasNothing() throws {
        let index = ObjectIndex()
        #expect(try index.location(of: 1).isAbsent)
        #expect(try index.location(of: ObjectRef.maximumKey).isAbsent)
        #expect(try index.contents().isEmpty)
        #expect(index.maximumKey == 0 && index.pageCount == 0)
        #expect(try IndexEdit(base: index).finish() === index)
    }

    @Test(arguments: [1...600, 1...20_000, 30_000...40_000, 2_090_000...2_110_000, (1 << 48) - 3000...(1 << 48) - 1])
    func versionsMatchAModelAndLeaveEachOtherAlone(keys: ClosedRange<UInt64>) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var versions: [(ObjectIndex, Model)] = [(ObjectIndex(), [:])]
        let lineage = versions[0].0.pages.lineage
        for round in 0..<60 {
            let (base, model) = versions[versions.count - 1]
            var changed = model
            let edit = IndexEdit(base: base)
            Self.change(edit, &changed, keys: keys, &random)
            for _ in 0..<50 {
                let key = UInt64.random(in: keys, using: &random)
                #expect(try edit.location(of: key) == changed[key] ?? .absent, "seed \(seed), round \(round)")
            }
            // Every so often an edit is given up.
            if Int.random(in: 0..<6, using: &random) > 0 { versions.append((try edit.finish(), changed)) }
            let some = versions.randomElement(using: &random)!
            try Self.expect(some.0, matches: some.1, keys: keys, &random, "seed \(seed), round \(round)")
            while versions.count > 6 {
                versions.remove(at: Int.random(in: 0..<versions.count, using: &random))
            }
        }
        let last = versions.removeLast()
        versions = [last]
        try Self.expect(last.0, matches: last.1, keys: keys, &random, "seed \(seed)")
        #expect(lineage.liveNodes.load(ordering: .relaxed) == last.0.reachableNodeCount, "seed \(seed)")
        #expect(last.0.maximumKey >= last.1.keys.max() ?? 0, "seed \(seed)")
    }

    @Test func allMemoryGoesWithTheLastVersion() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var versions = [ObjectIndex()]
        let lineage = versions[0].pages.lineage
        var model: Model = [:]
        for _ in 0..<40 {
            let edit = IndexEdit(base: versions.randomElement(using: &random)!)
            Self.change(edit, &model, keys: 1...100_000, &random)
            versions.append(try edit.finish())
        }
        var abandoned: IndexEdit? = IndexEdit(base: versions[7])
        Self.change(abandoned!, &model, keys: 1...100_000, &random)
        versions.shuffle(using: &random)
        while versions.count > 1 { versions.removeLast() }
        abandoned = nil
        #expect(lineage.liveNodes.load(ordering: .relaxed) == versions[0].reachableNodeCount)
        versions = []
        #expect(lineage.liveNodes.load(ordering: .relaxed) == 0)
        #expect(lineage.liveBytes.load(ordering: .relaxed) == 0)
    }

    @Test func neighboursInBlocksTakeNextToNoMemoryAndShuffledKeysEightBytes() throws {
        let count = 100_000
        let edit = IndexEdit(base: ObjectIndex())
        for first in stride(from: 0, to: count, by: 215) {
            edit.setRun(
                firstKey: UInt64(first + 1), count: min(215, count - first),
                location: Location(segment: 1, byteOffset: first * 64, row: 0))
        }
        let clustered = try edit.finish()
        #expect(clustered.memoryByteCount < count / 4)
        #expect(clustered.maximumKey == UInt64(count))

        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let shuffle = IndexEdit(base: clustered)
        for key in 1...UInt64(count) { shuffle.set(key, Self.location(&random)) }
        let shuffled = try shuffle.finish()
        #expect(shuffled.memoryByteCount > count * 8)
        #expect(shuffled.memoryByteCount < count * 83 / 10 + clustered.memoryByteCount)

        let again = IndexEdit(base: shuffled)
        for key in 1...UInt64(count) { again.set(key, try clustered.location(of: key)) }
        let ordered = try again.finish()
        #expect(try ordered.contents() == clustered.contents())
        let orderedOnly = ordered.reachableNodeCount
        #expect(orderedOnly == clustered.reachableNodeCount)
    }

    /// An edit that gives a few keys of a full page other places does not look for a smaller form: that takes longer
    /// than all else that a save of one object does to the index. Keys that go must be noticed all the same.
    @Test func aFullPageTakesItsSmallerFormWhenKeysGoOneByOne() throws {
        var random = SeededGenerator(seed: 31)
        var model: Model = [:]
        var index = ObjectIndex()
        func change(_ body: (IndexEdit) -> Void) throws {
            let edit = IndexEdit(base: index)
            body(edit)
            index = try edit.finish()
        }
        try change { edit in
            for key: UInt64 in 1...511 {
                model[key] = Self.location(&random)
                edit.set(key, model[key] ?? .absent)
            }
        }
        for key: UInt64 in 1...511 {
            try change { edit in
                model[key] = Self.location(&random)
                edit.set(key, model[key] ?? .absent)
            }
        }
        #expect(try index.contents() == model)
        let full = index.memoryByteCount
        for key: UInt64 in 1...480 {
            try change { $0.set(key, .absent) }
            model[key] = nil
        }
        #expect(try index.contents() == model)
        #expect(index.memoryByteCount < full / 2)
        try change { edit in
            for key: UInt64 in 481...511 { edit.set(key, Location(segment: 1, byteOffset: 64, row: Int(key))) }
        }
        #expect(index.memoryByteCount < full / 4)
    }

    @Test(arguments: [1, 2, 23, 24, 25, 26, 511, 512])
    func aPageWithAnyNumberOfRunsReadsBack(runs: Int) throws {
        let edit = IndexEdit(base: ObjectIndex())
        var model: Model = [:]
        for key in 1...UInt64(1023) {
            // Rows two apart do not continue each other.
            let piece = key % 512 * UInt64(runs) / 512
            let place = Location(segment: 2, byteOffset: Int(piece) * 64, row: Int(key))
            if piece % 3 != 2 {
                edit.set(key, place)
                model[key] = place
            }
        }
        let index = try edit.finish()
        #expect(try index.contents() == model)
        for key in 1...UInt64(1024) { #expect(try index.location(of: key) == model[key] ?? .absent) }
    }

    @Test func runsStopAtBlocksAndJoinAcrossPages() throws {
        let edit = IndexEdit(base: ObjectIndex())
        edit.setRun(firstKey: 1, count: 2000, location: Location(segment: 1, byteOffset: 0, row: 10))
        // Raw values that continue each other but lie in two blocks.
        edit.setRun(firstKey: 3000, count: 1000, location: Location(segment: 1, byteOffset: 64, row: 64_536))
        edit.setRun(firstKey: 4000, count: 10, location: Location(segment: 1, byteOffset: 128, row: 0))
        let index = try edit.finish()
        var runs: [RowRun] = []
        try index.forEachRun { run in
            runs.append(run)
            return true
        }
        #expect(
            runs == [
                RowRun(firstKey: 1, count: 2000, location: Location(segment: 1, byteOffset: 0, row: 10)),
                RowRun(firstKey: 3000, count: 1000, location: Location(segment: 1, byteOffset: 64, row: 64_536)),
                RowRun(firstKey: 4000, count: 10, location: Location(segment: 1, byteOffset: 128, row: 0)),
            ])
        runs = []
        try index.forEachRun(from: 600, to: 3005) { run in
            runs.append(run)
            return runs.count < 1
        }
        #expect(runs == [RowRun(firstKey: 600, count: 1401, location: Location(segment: 1, byteOffset: 0, row: 609))])
        for (first, end) in [(1, 1), (1, 2), (2000, 3000), (2000, 3001), (1999, 4009), (511, 513), (0, 5000)] {
            let expected = try index.contents().filter { $0.key >= first && $0.key < end }
            #expect(try index.contents(from: UInt64(first), to: UInt64(end)) == expected)
        }
    }

    @Test func theLargestKeyIsRememberedWhenItsObjectGoes() throws {
        let edit = IndexEdit(base: ObjectIndex())
        edit.set(70_000, Location(segment: 1, byteOffset: 0, row: 0))
        let first = try edit.finish()
        let removal = IndexEdit(base: first)
        removal.set(70_000, .absent)
        removal.set(80_000, .absent)
        let second = try removal.finish()
        #expect(second.maximumKey == 70_000)
        #expect(second.pageCount == 0)
        #expect(first.pageCount == 1)
    }
}
