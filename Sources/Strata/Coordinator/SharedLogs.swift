import StrataIO
import StrataLog
import Synchronization
import SystemPackage

/// The logs that this process has open for writing, so that several coordinators can use one store.
///
/// Only one writer may have a log at a time. Coordinators of one process share it; another process waits or is refused.
enum SharedLogs {
    private struct Entry {
        var log: LogStore
        var device: UInt64
        var inode: UInt64
        var count: Int
    }

    private static let open = Mutex<[Entry]>([])

    /// The log in a directory: the one that is open already, or a new one from `body`.
    ///
    /// - Parameter isWriter: whether `body` opens for writing. Only such logs are shared, also with readers.
    static func open(
        _ path: FilePath, in fileSystem: any FileSystem, isWriter: Bool, _ body: () throws -> LogStore
    ) throws -> LogStore {
        try open.withLock { entries in
            if let place = try? fileSystem.attributes(path),
                let index = entries.firstIndex(where: { $0.device == place.device && $0.inode == place.inode })
            {
                entries[index].count += 1
                return entries[index].log
            }
            let log = try body()
            if isWriter, let place = try? fileSystem.attributes(path) {
                entries.append(Entry(log: log, device: place.device, inode: place.inode, count: 1))
            }
            return log
        }
    }

    /// How many coordinators have a log; 0 for one that is not shared.
    static func useCount(_ log: LogStore) -> Int {
        open.withLock { entries in entries.first { $0.log === log }?.count ?? 0 }
    }

    /// The log in a directory if this process has it open for writing.
    static func existing(_ path: FilePath, in fileSystem: any FileSystem) -> LogStore? {
        guard let place = try? fileSystem.attributes(path) else { return nil }
        return open.withLock { entries in
            entries.first { $0.device == place.device && $0.inode == place.inode }?.log
        }
    }

    /// Gives up one use; closes the log with the last one.
    static func close(_ log: LogStore) throws(StoreError) {
        let isLast = open.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.log === log }) else { return true }
            entries[index].count -= 1
            if entries[index].count > 0 { return false }
            entries.remove(at: index)
            return true
        }
        if isLast { try log.close() }
    }
}
