import StrataTestKit
import Testing

@testable import Strata
@testable import StrataLog
@testable import StrataRows

/// Row groups that are remembered from scan to scan against those that are cut anew.
@Suite struct RowGroupWalkTests {
    private static func rowGroups(_ index: ObjectIndex, _ cache: ColumnChunkCache) throws -> [RowGroupCutter.Piece] {
        var pieces: [RowGroupCutter.Piece] = []
        var walk = RowGroupWalk(index, root: 1, cache)
        try walk.forEach {
            pieces.append($0)
            return true
        }
        return pieces
    }

    private static func newCache() -> ColumnChunkCache {
        ColumnChunkCache(budgetBytes: 64 << 20, sharing: MemoryBudget(limitBytes: 1 << 30))
    }

    private static func expectSame(
        _ found: [RowGroupCutter.Piece], _ fresh: [RowGroupCutter.Piece], _ comment: Comment
    ) {
        #expect(found.map(\.runs) == fresh.map(\.runs), comment)
        #expect(found.map(\.rowCount) == fresh.map(\.rowCount), comment)
        #expect(found.map(\.number) == Array(1..<found.count + 1), comment)
    }

    private static func location(_ random: inout SeededGenerator) -> Location {
        Location(
            segment: UInt32.random(in: 1...9, using: &random),
            byteOffset: Int.random(in: 0..<1_000, using: &random) * Location.alignmentBytes,
            row: Int.random(in: 0..<300, using: &random))
    }

    /// One change of one kind: a few rows, long runs, a hole, or what makes a stretch full of short runs.
    private static func change(_ edit: IndexEdit, _ keys: ClosedRange<UInt64>, _ random: inout SeededGenerator) {
        let key = UInt64.random(in: keys, using: &random)
        let most = keys.upperBound - key + 1
        switch random.below(8) {
        case 0...2: edit.set(key, location(&random))
        case 3: edit.set(key, .absent)
        case 4...5:
            // As many blocks as it takes.
            for first in stride(from: key, to: key + min(most, UInt64(1 + random.below(90_000))), by: 500) {
                let count = Int(min(500, keys.upperBound - first + 1))
                edit.setRun(firstKey: first, count: count, location: location(&random))
            }
        case 6: edit.setRun(firstKey: key, count: 1 + random.below(Int(min(most, 140_000))), location: .absent)
        default:
            for offset in 0..<min(most, 40_000) where offset % 2 == 0 { edit.set(key + offset, location(&random)) }
        }
    }

    /// Newer and older versions in turn, as contexts of today and of the past ask for them.
    @Test(arguments: RandomRuns.seeds(from: 61, count: 6)) func rememberedRowGroupsAreThoseOfACutAnew(
        _ seed: UInt64
    )
        throws
    {
        var random = SeededGenerator(seed: seed)
        let keys = 1...[400_000, 900_000, 5_000_000][random.below(3)] as ClosedRange<UInt64>
        let cache = Self.newCache()
        var versions = [ObjectIndex()]
        for round in 0..<(BuildMode.isDebug ? 25 : 120) {
            let edit = IndexEdit(base: versions[versions.count - 1])
            for _ in 0..<1 + random.below(3) { Self.change(edit, keys, &random) }
            versions.append(try edit.finish())
            let index = random.chance(0.8) ? versions[versions.count - 1] : versions[random.below(versions.count)]
            let fresh = try Self.rowGroups(index, Self.newCache())
            Self.expectSame(try Self.rowGroups(index, cache), fresh, "seed \(seed), round \(round)")
        }
    }

    private static func interleaved(rows: UInt64) throws -> ObjectIndex {
        let edit = IndexEdit(base: ObjectIndex())
        for key in 1...rows {
            edit.set(key, Location(segment: key % 10 == 0 ? 2 : 1, byteOffset: 0, row: Int(key % 200) * 2))
        }
        return try edit.finish()
    }

    @Test func onlyTheRowGroupThatChangedIsCutAgain() throws {
        let first = try Self.interleaved(rows: 300_000)
        let cache = Self.newCache()
        let before = try Self.rowGroups(first, cache)
        let edit = IndexEdit(base: first)
        edit.set(150_000, .absent)
        let second = try edit.finish()
        let cut = try #require(cache.cut(of: 1))
        let known = before.indices.filter { position in
            cut.piece(from: position == 0 ? 0 : before[position].runs[0].firstKey, in: second) != nil
        }
        let changed = before.indices.filter { position in
            before[position].runs.contains { $0.firstKey == 150_000 }
        }
        #expect(before.count > 5 && changed.count == 1)
        #expect(known == before.indices.filter { !changed.contains($0) })
        Self.expectSame(
            try Self.rowGroups(second, cache), try Self.rowGroups(second, Self.newCache()), "after the change")
    }

    @Test func aScanThatStopsEarlyIsNotRemembered() throws {
        let index = try Self.interleaved(rows: 200_000)
        let cache = Self.newCache()
        var walk = RowGroupWalk(index, root: 1, cache)
        try walk.forEach { _ in false }
        #expect(cache.cut(of: 1) == nil)
        #expect(cache.heldBytes == 0)
    }

    @Test func whatIsRememberedIsGivenBack() throws {
        let cache = Self.newCache()
        _ = try Self.rowGroups(try Self.interleaved(rows: 100_000), cache)
        #expect(cache.heldBytes > 0)
        cache.shrink(to: 0)
        #expect(cache.heldBytes == 0)
        #expect(cache.cut(of: 1) == nil)
    }

    @Test func aBudgetThatIsTooSmallRemembersNothing() throws {
        let index = try Self.interleaved(rows: 100_000)
        let cache = ColumnChunkCache(budgetBytes: 1 << 10, sharing: MemoryBudget(limitBytes: 1 << 30))
        Self.expectSame(try Self.rowGroups(index, cache), try Self.rowGroups(index, Self.newCache()), "the first")
        Self.expectSame(try Self.rowGroups(index, cache), try Self.rowGroups(index, Self.newCache()), "the second")
        #expect(cache.heldBytes == 0)
    }
}
