import Foundation

/// Removes a store of a test, with what lies beside it.
func removeStore(at url: URL) {
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
}
