import BenchSupport
import EnginePeople
import GRDBPeer
import ObjectPeople
import Peers

/// Every contestant with its settings; the table of settings is in docs/benchmarks.md.
enum ContestantName: String, CaseIterable {
    case engine
    /// No postings for the inverse of the person's department, as SQLite without an index.
    case enginePlain = "engine-plain"
    /// Compaction drops the history, as SQLite has none.
    case engineForgetful = "engine-no-history"
    case engine8 = "engine-8-writers"
    case engine32 = "engine-32-writers"
    case objects
    case sqlite
    case sqliteDefault = "sqlite-default"
    case sqliteIndexed = "sqlite-indexed"
    case sqliteDefaultIndexed = "sqlite-default-indexed"
    case lmdb
    case raw
    case rawReserved = "raw-fallocate"
    case rawWritten = "raw-zeroed"
    case grdb

    var writers: Int {
        switch self {
        case .engine8: 8
        case .engine32: 32
        default: 1
        }
    }

    /// The store with both indexes from the start, for batch requests.
    func openIndexed(in folder: Folder) throws -> any BatchWrites {
        switch self {
        case .objects: return try PeopleGraph(in: folder, isIndexed: true)
        case .sqliteIndexed: return try SQLitePeople(in: folder, settings: .tuned, indexed: true)
        case .sqliteDefaultIndexed: return try SQLitePeople(in: folder, settings: .defaults, indexed: true)
        default: throw BenchFailure("\(rawValue) has no batch requests")
        }
    }

    /// The store with less durability; nil for contestants that are only measured with all of it.
    func open(in folder: Folder, _ flushing: Flushing) throws -> (any UpdatingStore)? {
        switch self {
        case .engine:
            var options = PeopleLog.Options()
            options.flushing = flushing
            return try PeopleLog(in: folder, options: options)
        case .objects: return try PeopleGraph(in: folder, flushing: flushing)
        case .sqlite: return try SQLitePeople(in: folder, settings: .tuned, flushing: flushing)
        case .sqliteDefault: return try SQLitePeople(in: folder, settings: .defaults, flushing: flushing)
        default: return nil
        }
    }

    /// - Parameter recordByteCount: bytes of a raw log's one-row record; nil for the row's own.
    func open(in folder: Folder, recordByteCount: Int? = nil) throws -> any Contestant {
        switch self {
        case .engine, .engine8, .engine32: return try PeopleLog(in: folder)
        case .enginePlain:
            var options = PeopleLog.Options()
            options.keepsPostings = false
            return try PeopleLog(in: folder, options: options)
        case .engineForgetful:
            var options = PeopleLog.Options()
            options.keepsHistory = false
            return try PeopleLog(in: folder, options: options)
        case .objects: return try PeopleGraph(in: folder)
        case .sqlite: return try SQLitePeople(in: folder, settings: .tuned)
        case .sqliteDefault: return try SQLitePeople(in: folder, settings: .defaults)
        case .sqliteIndexed: return try SQLitePeople(in: folder, settings: .tuned, indexed: true)
        case .sqliteDefaultIndexed: return try SQLitePeople(in: folder, settings: .defaults, indexed: true)
        case .lmdb: return try LMDBPeople(in: folder)
        case .raw: return try RawLog(in: folder, space: .appended, recordByteCount: recordByteCount)
        case .rawReserved: return try RawLog(in: folder, space: .reserved, recordByteCount: recordByteCount)
        case .rawWritten: return try RawLog(in: folder, space: .written, recordByteCount: recordByteCount)
        case .grdb: return try GRDBPeople(in: folder)
        }
    }
}
