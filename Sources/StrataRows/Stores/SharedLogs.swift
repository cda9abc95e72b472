import StrataIO
import StrataLog
import StrataSupport
import Synchronization
import SystemPackage

/// The logs that this process has open for writing, so that several coordinators can use one store.
///
/// Only one writer may have a log at a time. Coordinators of one process share it; another process waits or is refused.
/// Which store a path leads to is told by device and inode, so that links and other spellings come to the same log.
/// Opening and closing one store waits for nobody who opens or closes another.
package enum SharedLogs {
    private struct Entry {
        var log: LogStore
        var device: UInt64
        var inode: UInt64
        /// The path without links, as which it was opened.
        var location: String
        var count: Int
        /// Whose the log is alone.
        var reservation: Reservation?
    }

    /// Stands for one who has a log alone, such as a migration, and opens it under this name.
    package final class Reservation: Sendable {}

    /// Held while a store is opened or closed.
    private final class Gate: Sendable {
        let lock = Mutex<Void>(())
    }

    private static let open = AdaptiveMutex<[Entry]>([])
    private static let gates = Mutex<[String: (gate: Gate, count: Int)]>([:])

    /// The log in a directory: the one that is open already, or a new one from `body`.
    ///
    /// - Parameters:
    ///   - isWriter: whether `body` opens for writing. Only such logs are shared, also with readers. A log that
    ///     somebody has reserved is not: readers open their own.
    ///   - reservation: who asks.
    /// - Throws: `.locked` when somebody else has reserved the log; what `body` throws.
    package static func open(
        _ path: FilePath, in fileSystem: any FileSystem, isWriter: Bool, reservation: Reservation? = nil,
        _ body: () throws -> LogStore
    ) throws -> LogStore {
        let location = StoreLocation.canonical(path, fileSystem)
        return try alone(at: location) {
            if let log = try take(path, fileSystem, isWriter, reservation) { return log }
            let log = try body()
            if isWriter, let found = try? fileSystem.attributes(path) {
                open.withLock {
                    $0.append(Entry(log: log, device: found.device, inode: found.inode, location: location, count: 1))
                }
            }
            return log
        }
    }

    /// One more use of a log that is open.
    private static func take(
        _ path: FilePath, _ fileSystem: any FileSystem, _ isWriter: Bool, _ reservation: Reservation?
    ) throws(StoreError) -> LogStore? {
        guard let found = try? fileSystem.attributes(path) else { return nil }
        return try open.withLock { entries throws(StoreError) in
            guard let index = entries.firstIndex(where: { $0.device == found.device && $0.inode == found.inode })
            else { return nil }
            if let owner = entries[index].reservation, owner !== reservation {
                guard isWriter else { return nil }
                throw StoreError(
                    .locked, "the store is being migrated by another coordinator of this process", path: path.string)
            }
            guard entries[index].log.isAtItsPath else {
                // Where it was opened it can no longer save, and here it would save for those who look there.
                guard isWriter else { return nil }
                throw StoreError(
                    .locked,
                    "this process has the store open at \(entries[index].location), and its directory or files were moved "
                        + "or replaced meanwhile: remove it from its coordinators first", path: path.string)
            }
            entries[index].count += 1
            return entries[index].log
        }
    }

    /// How many coordinators have a log; 0 for one that is not shared.
    package static func useCount(_ log: LogStore) -> Int {
        open.withLock { entries in entries.first { $0.log === log }?.count ?? 0 }
    }

    /// Makes a log that nobody shares its only user's alone, until ``endReservation(_:_:)`` or until it is closed.
    ///
    /// - Returns: nil when somebody shares it.
    package static func reserve(_ log: LogStore) -> Reservation? {
        let reservation = Reservation()
        return open.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.log === log }) else { return reservation }
            guard entries[index].count == 1, entries[index].reservation == nil else { return nil }
            entries[index].reservation = reservation
            return reservation
        }
    }

    /// From now on others may share the log again.
    package static func endReservation(_ log: LogStore, _ reservation: Reservation) {
        open.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.log === log && $0.reservation === reservation }) else {
                return
            }
            entries[index].reservation = nil
        }
    }

    /// Whether somebody has reserved the log in a directory.
    package static func isReserved(_ path: FilePath, in fileSystem: any FileSystem) -> Bool {
        guard let found = try? fileSystem.attributes(path) else { return false }
        return open.withLock { entries in
            entries.contains { $0.device == found.device && $0.inode == found.inode && $0.reservation != nil }
        }
    }

    /// The log in a directory if this process has it open for writing.
    package static func existing(_ path: FilePath, in fileSystem: any FileSystem) -> LogStore? {
        guard let found = try? fileSystem.attributes(path) else { return nil }
        return open.withLock { entries in
            entries.first { $0.device == found.device && $0.inode == found.inode }?.log
        }
    }

    /// Gives up one use; closes the log with the last one.
    package static func close(_ log: LogStore) throws(StoreError) {
        guard let location = open.withLock({ entries in entries.first { $0.log === log }?.location }) else {
            return try log.close()
        }
        try alone(at: location) { () throws(StoreError) in
            let isLast = open.withLock { entries in
                guard let index = entries.firstIndex(where: { $0.log === log }) else { return true }
                entries[index].count -= 1
                if entries[index].count > 0 { return false }
                entries.remove(at: index)
                return true
            }
            // Whoever opens the store meanwhile waits for the lock to be given back, and finds it free then.
            if isLast { try log.close() }
        }
    }

    /// As ``close(_:)`` of the last use, for whoever puts another store in this one's place.
    ///
    /// - Returns: the lock, which keeps everybody from writing the store; nil for a log that was open for reading only.
    /// - Throws: `.locked` when somebody else uses the log, which stays open then; what closing throws.
    package static func closeKeepingLock(_ log: LogStore) throws(StoreError) -> StoreLock? {
        guard let location = open.withLock({ entries in entries.first { $0.log === log }?.location }) else {
            return try log.closeKeepingLock()
        }
        return try alone(at: location) { () throws(StoreError) -> StoreLock? in
            let isLast = open.withLock { entries in
                guard let index = entries.firstIndex(where: { $0.log === log }) else { return true }
                guard entries[index].count == 1 else { return false }
                entries.remove(at: index)
                return true
            }
            guard isLast else { throw StoreError(.locked, "another coordinator of this process uses the store") }
            return try log.closeKeepingLock()
        }
    }

    private static func alone<R, E: Error>(at location: String, _ body: () throws(E) -> R) throws(E) -> R {
        let gate = gates.withLock { gates in
            let gate = gates[location]?.gate ?? Gate()
            gates[location] = (gate, (gates[location]?.count ?? 0) + 1)
            return gate
        }
        defer {
            gates.withLock { gates in
                let count = (gates[location]?.count ?? 1) - 1
                gates[location] = count > 0 ? (gate, count) : nil
            }
        }
        return try gate.lock.locked(body)
    }
}
