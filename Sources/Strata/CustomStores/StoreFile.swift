import Foundation
import StrataIO
import StrataLog
import SystemPackage

/// The file of a store that is read and written as a whole. Everything goes through the file system's seam.
///
/// Only regular files are read, written, replaced and removed: a device, a pipe or a socket at the URL is refused and
/// left alone. A symbolic link leads to the file that it names; the link stays.
enum StoreFile {
    /// Writes a file so that after a crash it has the old or the new contents, whole. Durable when it returns.
    ///
    /// - Throws: `CocoaError` 512 or another write error, with the system's as underlying one.
    static func write(_ data: Data, to url: URL, in fileSystem: any FileSystem = PosixFileSystem()) throws {
        try reporting("could not write the store's file", url) { () throws(Errno) in
            let path = try canonicalPath(url, fileSystem)
            _ = try attributes(path, fileSystem)
            let file = try UnfinishedFile(for: path, in: fileSystem) { left in
                isOwn(left) || zip(left, data).allSatisfy { $0 == $1 }
            }
            try data.withBytes { bytes throws(Errno) in try file.append(bytes) }
            try file.install(replacing: true)
        }
    }

    /// Removes what a writer that died has left beside a file, if it is ours. Does nothing where it cannot be removed:
    /// the next who writes the file removes it, or says why not.
    static func removeLeft(_ url: URL, in fileSystem: any FileSystem = PosixFileSystem()) {
        guard let path = try? canonicalPath(url, fileSystem) else { return }
        try? UnfinishedFile.removeLeft(beside: path, in: fileSystem, isOwn: isOwn)
    }

    /// Whether a file begins as one of ours does, or as one of which nothing has been written yet.
    private static func isOwn(_ beginning: [UInt8]) -> Bool {
        ["bplist00", "<?xml "].contains { zip(beginning, $0.utf8).allSatisfy { $0 == $1 } }
            || beginning.allSatisfy { $0 == 0 }
    }

    /// The contents of a file; nil when there is none.
    ///
    /// - Throws: `CocoaError` with the system's error as underlying one.
    static func read(_ url: URL, in fileSystem: any FileSystem = PosixFileSystem()) throws -> Data? {
        try reporting("could not read the store's file", url) { () throws(Errno) in
            let path = try canonicalPath(url, fileSystem)
            guard try attributes(path, fileSystem) != nil else { return nil }
            let file = try fileSystem.open(path, .read)
            let buffer = UnsafeMutableRawBufferPointer.allocate(
                byteCount: Int(try file.byteCount()), alignment: 16)
            defer { buffer.deallocate() }
            let count = try file.readPrefix(into: buffer, at: 0)
            try file.close()
            return Data(buffer[..<count])
        }
    }

    /// Whether there is a file.
    ///
    /// - Throws: as ``read(_:in:)``, also for what is no regular file.
    static func exists(_ url: URL, in fileSystem: any FileSystem = PosixFileSystem()) throws -> Bool {
        try reporting("could not look at the store's file", url) { () throws(Errno) in
            try attributes(try canonicalPath(url, fileSystem), fileSystem) != nil
        }
    }

    static func copy(_ source: URL, to target: URL) throws {
        guard source.isFileURL, target.isFileURL, let data = try read(source) else {
            throw StoreFailure.opening(StoreError(.notFound, "there is no store to copy"), source.path)
        }
        try write(data, to: target)
    }

    /// Removes a file. Nothing happens when there is none, or when the URL names no file.
    ///
    /// - Throws: as ``read(_:in:)``, also for what is no regular file, which stays.
    static func remove(_ url: URL, in fileSystem: any FileSystem = PosixFileSystem()) throws {
        guard url.isFileURL else { return }
        try reporting("could not remove the store's file", url) { () throws(Errno) in
            let path = try canonicalPath(url, fileSystem)
            let isThere = try attributes(path, fileSystem) != nil
            // What a writer that died has left; one that is writing keeps its file. Whoever makes an unfinished file
            // has it locked.
            let unfinished = unfinished(path)
            let isUnfinished = try fileSystem.linkAttributes(unfinished)?.kind == .regular
            guard isThere || isUnfinished else { return }
            if isUnfinished { try UnfinishedFile(for: path, in: fileSystem).discard() }
            if isThere { try fileSystem.unlink(path) }
            for rest in [copy(of: path), self.unfinished(copy(of: path))]
            where try fileSystem.linkAttributes(rest)?.kind == .regular { try fileSystem.unlink(rest) }
            try fileSystem.syncDirectory(parent(of: path))
        }
    }

    /// Whether there is a regular file at a URL.
    static func isFile(_ url: URL, in fileSystem: any FileSystem = PosixFileSystem()) -> Bool {
        guard let path = try? canonicalPath(url, fileSystem) else { return false }
        return (try? fileSystem.linkAttributes(path))?.kind == .regular
    }

    /// Makes a new file and puts it in the place of the one that is there, so that after a crash one or the other is
    /// there, whole. Durable when it returns. Nobody else writes the file meanwhile.
    ///
    /// - Parameter body: makes a file at the URL that it gets; false to leave the old one where it is.
    /// - Throws: what the body throws, and as ``write(_:to:in:)``. The old file is there then.
    static func replace(
        _ url: URL, in fileSystem: any FileSystem = PosixFileSystem(), making body: (URL) throws -> Bool
    ) throws {
        let what = "could not replace the store's file"
        // Keeps others from writing the file.
        let (path, lock) = try reporting(what, url) { () throws(Errno) -> (FilePath, UnfinishedFile) in
            let path = try canonicalPath(url, fileSystem)
            guard try attributes(path, fileSystem) != nil else { throw .noSuchFileOrDirectory }
            return (path, try UnfinishedFile(for: path, in: fileSystem, isOwn: isOwn))
        }
        let copy = copy(of: path)
        let copyURL = URL(fileURLWithPath: copy.string)
        defer { lock.discard() }
        // What somebody who died has left.
        try remove(copyURL, in: fileSystem)
        do {
            guard try body(copyURL) else { return }
            try reporting(what, url) { () throws(Errno) in
                let file = try fileSystem.open(copy, .readWrite)
                try file.sync()
                try file.close()
                try fileSystem.rename(copy, to: path)
                try fileSystem.syncDirectory(parent(of: path))
            }
        } catch {
            try? remove(copyURL, in: fileSystem)
            throw error
        }
    }

    // MARK: The file beside it

    private static func unfinished(_ path: FilePath) -> FilePath {
        parent(of: path).appending((path.lastComponent?.string ?? "store") + UnfinishedFile.suffix)
    }

    /// What a migration makes.
    private static func copy(of path: FilePath) -> FilePath {
        parent(of: path).appending((path.lastComponent?.string ?? "store") + ".strata-copy")
    }

    // MARK: Paths

    /// The file that a URL leads to.
    private static func canonicalPath(_ url: URL, _ fileSystem: any FileSystem) throws(Errno) -> FilePath {
        let path = FilePath(url.path)
        guard try fileSystem.linkAttributes(path)?.kind == .symbolicLink else { return path }
        return try fileSystem.resolve(path)
    }

    /// - Throws: `.isDirectory`, `.invalidArgument` for what is there and is no file with bytes in it.
    private static func attributes(
        _ path: FilePath, _ fileSystem: any FileSystem
    ) throws(Errno) -> FileAttributes? {
        guard let found = try fileSystem.linkAttributes(path) else { return nil }
        switch found.kind {
        case .regular: return found
        case .directory: throw .isDirectory
        default: throw .invalidArgument
        }
    }

    private static func parent(of path: FilePath) -> FilePath {
        let parent = path.removingLastComponent()
        return parent.isEmpty ? "." : parent
    }

    private static func reporting<R>(_ what: String, _ url: URL, _ body: () throws(Errno) -> R) throws -> R {
        do throws(Errno) {
            return try body()
        } catch {
            let failure =
                switch error {
                case .isDirectory, .invalidArgument:
                    StoreError(.corruption, "\(what): it is no file with a store in it", errno: error)
                case .resourceBusy: StoreError(.locked, "\(what): another process is writing it", errno: error)
                default: StoreError(.io, what, errno: error)
                }
            throw StoreFailure.opening(failure, url.path)
        }
    }
}

extension Data {
    /// As `withUnsafeBytes`, with typed errors.
    fileprivate func withBytes(_ body: (UnsafeRawBufferPointer) throws(Errno) -> Void) throws(Errno) {
        let result = withUnsafeBytes { bytes -> Result<Void, Errno> in
            do throws(Errno) {
                return .success(try body(bytes))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }
}
