import BenchSupport
import DataSet
import EnginePeople
import ObjectPeople
import Peers
import RocksDBPeer

/// Who holds the rows; the settings are in docs/benchmarks.md.
enum ScaleContestant: String, CaseIterable, Sendable {
    case engine
    /// Batch insertions and fetch requests; no object is kept.
    case objects
    case sqlite
    case rocksdb

    /// Bytes of a row when packed, on average.
    private static let rowByteCount = 152

    /// With a cache for a tenth of the rows. Managed objects have the process's own budget.
    ///
    /// - Parameter isIndexed: keep an index on age and name.
    func open(in folder: Folder, rowCount: Int, isIndexed: Bool) throws -> any Contestant {
        let cacheByteCount = max(8 << 20, rowCount * Self.rowByteCount / 10)
        switch self {
        case .engine:
            var options = PeopleLog.Options()
            options.cacheByteCount = cacheByteCount
            options.isIndexed = isIndexed
            return try PeopleLog(in: folder, options: options)
        case .objects: return try PeopleGraph(in: folder)
        case .sqlite: return try SQLitePeople(in: folder, settings: .cached(byteCount: cacheByteCount))
        case .rocksdb: return try RocksDBPeople(in: folder, cacheByteCount: cacheByteCount)
        }
    }
}

extension RocksDBPeople: ScoreStore {}
extension PeopleLog: ScoreStore {}
extension SQLitePeople: ScoreStore {}

/// A store in which single fields of rows are changed.
protocol ScoreStore: Contestant {
    /// Changes the score of rows in one transaction that is durable when the call returns.
    func updateScores(_ changes: [(id: UInt64, score: Double)]) throws
}
