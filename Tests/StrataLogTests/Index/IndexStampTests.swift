import StrataTestKit
import Testing

@testable import StrataLog

/// Equal stamps mean equal locations, in whichever versions of an index they are found.
@Suite struct IndexStampTests {
    typealias Model = IndexEditTests.Model

    private static func reopened(_ index: ObjectIndex) throws -> ObjectIndex {
        let sink = IndexTestSink(padding: 7)
        let section = try index.encode(into: sink)
        return try ObjectIndex.load(section, from: IndexTestSource(sink.bytes))
    }

    @Test(arguments: [1...3_000, 1...400_000, 2_090_000...2_200_000] as [ClosedRange<UInt64>])
    func equalStampsMeanEqualLocations(keys: ClosedRange<UInt64>) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var model: Model = [:]
        var versions = [(index: ObjectIndex(), model: model)]
        var equal = 0
        for round in 0..<40 {
            let comment: Comment = "seed \(seed), round \(round)"
            let edit = IndexEdit(base: versions[versions.count - 1].index)
            IndexEditTests.change(edit, &model, keys: keys, &random)
            var index = try edit.finish()
            switch round % 4 {
            case 1: index = try Self.reopened(index)
            case 2: index = try index.rebased(onto: Self.reopened(index))
            default: break
            }
            versions.append((index, model))
            // A version that went left its stamps behind.
            if versions.count > 5 { versions.remove(at: 0) }
            for _ in 0..<20 {
                let (a, b) = (versions[random.below(versions.count)], versions[random.below(versions.count)])
                let first = UInt64.random(in: keys, using: &random)
                let range = first..<UInt64.random(in: first...keys.upperBound, using: &random) + 1
                guard a.index.stamps(of: range) == b.index.stamps(of: range) else { continue }
                equal += 1
                let (x, y) = (a.model.filter { range.contains($0.key) }, b.model.filter { range.contains($0.key) })
                #expect(x == y, comment)
            }
        }
        #expect(equal > 0)
    }

    /// 64 pages of 512 keys have one stamp.
    private static let keysOfStamp: UInt64 = 32_768

    private static func full() throws -> ObjectIndex {
        let edit = IndexEdit(base: ObjectIndex())
        for first in stride(from: 1, to: 4 * keysOfStamp, by: 300) {
            edit.setRun(firstKey: first, count: 300, location: Location(segment: 1, byteOffset: 640, row: 0))
        }
        return try edit.finish()
    }

    @Test func aChangeLeavesOtherStampsAlone() throws {
        let before = try Self.full()
        let edit = IndexEdit(base: before)
        edit.set(Self.keysOfStamp + 5, .absent)
        let after = try edit.finish()
        let all = 1..<UInt64.max
        #expect(before.stamps(of: all).count >= 4)
        #expect(
            zip(before.stamps(of: all), after.stamps(of: all)).map { $0 == $1 }.prefix(4) == [true, false, true, true])
        #expect(before.stamps(of: 0..<Self.keysOfStamp) == after.stamps(of: 0..<Self.keysOfStamp))
    }

    @Test func aCheckpointLeavesStampsAlone() throws {
        let index = try Self.full()
        let moved = try index.rebased(onto: Self.reopened(index))
        #expect(moved.stamps(of: 0..<UInt64.max) == index.stamps(of: 0..<UInt64.max))
    }

    @Test func whatIsOpenedAnewHasStampsOfItsOwn() throws {
        let index = try Self.full()
        let (first, second) = (try Self.reopened(index), try Self.reopened(index))
        #expect(Set(first.stamps(of: 0..<UInt64.max)).isDisjoint(with: second.stamps(of: 0..<UInt64.max)))
        #expect(first.stamps(of: 0..<UInt64.max) == first.stamps(of: 0..<UInt64.max))
    }
}
