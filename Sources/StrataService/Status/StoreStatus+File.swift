package import Foundation
import StrataIO
import StrataSupport
import SystemPackage

// The file beside a store that a program keeps its status in.
extension StoreStatus {
    private static let suffix = ".strata-status"
    private static let unfinishedSuffix = ".tmp"
    /// A larger one is none: a reader must not be made to read for ever.
    static let byteMaximum = 256 << 10

    /// `NAME.strata-status`, beside the store that the path leads to.
    package static func path(besideStoreAt store: URL) -> FilePath {
        let given = FilePath(store.path)
        var path = (try? PosixFileSystem().resolve(given)) ?? given
        let name = path.lastComponent?.string ?? "store"
        path.removeLastComponent()
        return path.appending(name + suffix)
    }

    /// Only one process writes a store, but may have two services for it.
    private static let writing = AdaptiveMutex(())

    /// Puts it in the place of the one before. Not flushed: after a crash of the machine it tells of nothing any more,
    /// and a flush would keep saves waiting.
    ///
    /// - Throws: what the system calls throw (open(2), pwritev(2), rename(2)); nothing has changed then.
    func write(to path: FilePath) throws { try Self.writing.withLock { _ in try replace(path) } }

    private func replace(_ path: FilePath) throws {
        let fileSystem = PosixFileSystem()
        var unfinished = path
        unfinished.removeLastComponent()
        unfinished.append((path.lastComponent?.string ?? "") + Self.unfinishedSuffix)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let bytes = [UInt8](try encoder.encode(self))
        // What has the name is left from a program that died.
        if try fileSystem.linkAttributes(unfinished) != nil { try fileSystem.unlink(unfinished) }
        let file = try fileSystem.open(unfinished, .create)
        let isWritten = Result { try bytes.withUnsafeBytes { try file.writeAll([$0], at: 0) } }
        try? file.close()
        do {
            try isWritten.get()
            try fileSystem.rename(unfinished, to: path)
        } catch {
            try? fileSystem.unlink(unfinished)
            throw error
        }
    }

    /// Removes what lies at a path if whoever wrote this has written it.
    func remove(from path: FilePath) {
        Self.writing.withLock { _ in
            guard let found = try? Self.read(path), found.process == process, found.began == began else { return }
            try? PosixFileSystem().unlink(path)
        }
    }

    /// What lies beside a store, whoever has put it there.
    ///
    /// - Returns: nil where there is nothing.
    /// - Throws: ``StoreStatusError`` for what is no status, or is of a version that is not known; `Errno` for what
    ///   cannot be read.
    package static func read(besideStoreAt store: URL) throws -> StoreStatus? {
        try read(path(besideStoreAt: store))
    }

    private static func read(_ path: FilePath) throws -> StoreStatus? {
        let fileSystem = PosixFileSystem()
        // To open a pipe is to wait for who writes it.
        guard let attributes = try fileSystem.linkAttributes(path) else { return nil }
        guard attributes.kind == .regular else { throw StoreStatusError("\(path.string) is no regular file") }
        guard let bytes = try beginning(of: path, fileSystem) else { return nil }
        guard bytes.count <= byteMaximum else {
            throw StoreStatusError("\(path.string) has more than \(byteMaximum >> 10) KiB")
        }
        return try decoded(Data(bytes), path.string)
    }

    /// One byte more than a status may have; nil if the file has gone meanwhile.
    private static func beginning(of path: FilePath, _ fileSystem: PosixFileSystem) throws -> ArraySlice<UInt8>? {
        guard let file = try opened(path, fileSystem) else { return nil }
        defer { try? file.close() }
        var bytes = [UInt8](repeating: 0, count: byteMaximum + 1)
        let count = try bytes.withUnsafeMutableBytes { try file.readPrefix(into: $0, at: 0) }
        return bytes[..<count]
    }

    private static func opened(_ path: FilePath, _ fileSystem: PosixFileSystem) throws -> (any File)? {
        do {
            return try fileSystem.open(path, .read)
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }

    private struct Version: Decodable {
        var version: Int
    }

    private static func decoded(_ data: Data, _ path: String) throws -> StoreStatus {
        let decoder = JSONDecoder()
        let status: StoreStatus
        do {
            let version = try decoder.decode(Version.self, from: data).version
            guard version == currentVersion else {
                throw StoreStatusError("\(path) has version \(version), and this program knows \(currentVersion)")
            }
            status = try decoder.decode(StoreStatus.self, from: data)
        } catch is DecodingError {
            throw StoreStatusError("\(path) is no status of a store")
        }
        guard status.isSound else { throw StoreStatusError("\(path) has numbers that cannot be") }
        return status
    }

    /// Whether who reckons with its numbers gets numbers. Rates need no more than a difference, so what counts has to
    /// be far from the largest number.
    private var isSound: Bool {
        guard slow.count <= SlowRequests.maximum else { return false }
        var numbers: [Double] = [began, time, intervalSeconds, slowSince]
        var counts: [Int] = counters.values
        counts.append(cacheBytes)
        for request in slow {
            numbers += [request.seconds, request.totalSeconds, request.time]
            counts += [request.rowsTested, request.rows, request.calls]
        }
        if let retained {
            guard retained.consumers.count <= Retained.consumerMaximum else { return false }
            counts.append(retained.pinnedBytes)
            if let since = retained.pinnedSince { numbers.append(since) }
            for consumer in retained.consumers { counts += [consumer.acknowledged ?? 0, consumer.behind] }
        }
        return numbers.allSatisfy { (0..<1e12).contains($0) } && counts.allSatisfy { (0..<1 << 60).contains($0) }
    }
}

/// What lies in the place of a status and is none.
package struct StoreStatusError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
