import Testing

@testable import StrataLog

@Suite struct SortedRunsTests {
    private struct Run: SortedRun {
        var count: Int
        var generation: UInt64

        static func dueCount(_ runs: ArraySlice<Run>) -> Int { runs.count < 2 ? 0 : 2 }

        static func merged(_ runs: ArraySlice<Run>) throws(Never) -> Run {
            Run(count: runs.reduce(0) { $0 + $1.count }, generation: runs.last?.generation ?? 0)
        }
    }

    private func append(_ count: Int, to runs: inout SortedRuns<Run>) {
        runs.append(Run(count: count, generation: runs.generation + 1))
    }

    @Test func whatIsSealedStaysApartFromWhatComesLater() {
        var runs = SortedRuns<Run>()
        for _ in 0..<3 { append(10, to: &runs) }
        runs = runs.sealed()
        append(1, to: &runs)
        append(1, to: &runs)
        #expect(runs.list.map(\.count) == [30, 2])
        #expect(runs.afterSealing().list.map(\.count) == [2])
        #expect(runs.afterSealing().generation == 5)
    }

    /// A checkpoint that fails leaves its runs behind: the next one must not find more and more of them.
    @Test func whatSeveralSealsKeptApartIsMerged() {
        var runs = SortedRuns<Run>()
        for _ in 0..<100 {
            append(1, to: &runs)
            runs = runs.sealed()
        }
        #expect(runs.list.map(\.count) == [100])
        #expect(runs.generation == 100 && runs.border == 100)
        #expect(runs.afterSealing().list.isEmpty)
    }

    @Test func aTransactionThatChangesNothingLeavesNoRun() {
        var runs = SortedRuns<Run>()
        append(0, to: &runs)
        #expect(runs.list.isEmpty && runs.generation == 1)
    }

    /// Four neighbours of a size become one, so that there are logarithmically many.
    @Test func runsOfPostingsAndOrderedIndexesStayFew() throws {
        var postings = Postings()
        var index = OrderedIndex(
            OrderedIndexDefinition(root: 1, entities: [1], elements: [.init(slot: 0, kind: .int64)]), lineage: .init(),
            base: .empty)
        for number in 1...3_000 as ClosedRange<UInt64> {
            let ref = ObjectRef(entity: 1, key: number)
            postings = postings.adding([PostingChange(target: ObjectRef(entity: 2, key: 1), referrer: ref)])
            let list = OrderedListBuilder()
            withUnsafeBytes(of: ref.rawValue.bigEndian) { list.append($0, net: 1) }
            index = try index.adding(list.finish(isInexact: false))
        }
        #expect(postings.runs.list.count <= 8 && postings.pairCount == 3_000)
        #expect(index.runs.list.count <= 16 && index.count == 3_000)
    }
}
