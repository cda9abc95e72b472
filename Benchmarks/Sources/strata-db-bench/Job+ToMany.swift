import BenchSupport
import ObjectPeople
import Peers

extension Job {
    /// Each condition once, with columns and pages as the one before left them, then the median of the next nine.
    func askMembers() throws {
        let store: any ToManyReads =
            contestant == .objects ? try TaggedGraph(in: folder) : try SQLiteTagged(in: folder)
        try store.fill(articles: rowCount)
        for query in ToManyQuery.allCases {
            let (first, count) = try timed { try store.count(query) }
            let times = try (0..<9).map { _ in try timed { try store.count(query) }.seconds }
            emit("\(query.rawValue)_first_ms", first * 1e3, "ms")
            emit("\(query.rawValue)_ms", median(times) * 1e3, "ms")
            emit("check_\(query.rawValue)", exactly: UInt64(count), "owners")
        }
        try store.close()
    }
}
