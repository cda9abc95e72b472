import BenchSupport
import ServiceLoad
import ServicePeers
import ShopObjects

/// Who serves; the settings are in docs/benchmarks.md.
enum Contestant: String, CaseIterable, Sendable {
    /// A context for each request, clients on threads with performAndWait.
    case strata
    /// The same with clients that are tasks, with performBackgroundTask.
    case strataTasks = "strata-tasks"
    case sqlite
    case grdb

    static let ours: [Contestant] = [.strata, .strataTasks]

    func open(in folder: Folder, toFill: Bool = false) throws -> any ServiceStore {
        switch self {
        case .strata, .strataTasks: try ShopObjects(in: folder, flushes: !toFill)
        case .sqlite: try SQLiteShop(in: folder)
        case .grdb: try GRDBShop(in: folder)
        }
    }
}

/// How the orders came into the store.
enum Shape: String, CaseIterable, Sendable {
    /// Each in a transaction of its own.
    case single
    /// 10,000 in a transaction.
    case bulk
}
