import BenchSupport
import OO7Load
import OO7Objects
import OO7Peers

/// Who runs the operations; the settings are in docs/benchmarks.md.
enum Contestant: String, CaseIterable, Sendable {
    case strata
    case sqlite
    case grdb

    func open(in folder: Folder, toFill: Bool = false) throws -> any OO7Store {
        switch self {
        case .strata: try OO7Objects(in: folder, flushes: !toFill)
        case .sqlite: try SQLiteOO7(in: folder)
        case .grdb: try GRDBOO7(in: folder)
        }
    }
}
