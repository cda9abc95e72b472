import BenchSupport
import YCSBLoad
import YCSBObjects
import YCSBPeers

/// Who serves; the settings are in docs/benchmarks.md.
enum Contestant: String, CaseIterable, Sendable {
    case strata
    case sqlite
    case grdb

    func open(in folder: Folder, toFill: Bool = false) throws -> any YCSBStore {
        switch self {
        case .strata: try YCSBObjects(in: folder, flushes: !toFill)
        case .sqlite: try SQLiteYCSB(in: folder)
        case .grdb: try GRDBYCSB(in: folder)
        }
    }
}
