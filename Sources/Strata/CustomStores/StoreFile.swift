import Foundation
import StrataIO
import StrataLog
import StrataSupport
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
    static func isOwn(_ beginning: [UInt8]) -> Bool {
        ["bplist00", "<?xml "].contains { zip(beginning, $0.utf8).allSatisfy { $0 == $1 } }
            || beginning.allSatisfy { $0 == 0 }
    }

    /// Tells what is left of the files of a type. Those of the program's own classes begin in ways of their own: of
    /// them only the name says whose they are.
    static func own(_ type: NSPersistentStore.Type) -> ([UInt8]) -> Bool {
        if type is PropertyListStore.Type { return { isOwn($0) } }
        return { _ in true }
    }

    /// The contents of a file; nil when there is none.
    ///
    /// - Throws: `CocoaError` with the system's error as underlying one.
    static func read(_ url: URL, in fileSystem: any FileSystem = PosixFileSystem()) throws -> Data? {
        try reporting("could not read the store's file", url) { () throws(Errno) in
            let path = try canonicalPath(url, fileSystem)
            guard try attributes(path, fileSystem) != nil else { return nil }
            return try contents(of: try fileSystem.open(path, .read))
        }
    }

    private static func contents(of file: any File) throws(Errno) -> Data {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(try file.byteCount()), alignment: 16)
        defer { buffer.deallocate() }
        let count = try file.readPrefix(into: buffer, at: 0)
        return Data(buffer[..<count])
    }

    /// Which file is at a URL, and since when: a copy of it that takes its place is another one. Nil when there is
    /// none.
    ///
    /// - Throws: as ``read(_:in:)``.
    static func version(_ url: URL, in fileSystem: any FileSystem = PosixFileSystem()) throws -> StoreFileVersion? {
        let found = try reporting("could not look at the store's file", url) { () throws(Errno) in
            try fileSystem.attributes(try canonicalPath(url, fileSystem))
        }
        return found.map { StoreFileVersion(identity: $0.identity, createdNanoseconds: $0.createdNanoseconds) }
    }

    /// Which directory a URL's file lies in, or would; nil when there is none.
    ///
    /// - Throws: as ``read(_:in:)``.
    static func directory(of url: URL, in fileSystem: any FileSystem = PosixFileSystem()) throws -> FileIdentity? {
        try reporting("could not look at the store's file", url) { () throws(Errno) in
            try fileSystem.identity(try canonicalPath(url, fileSystem).directoryAbove)
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

    /// Removes a file, and what a writer who died has left beside it. Nothing happens when there is none, or when the
    /// URL names no file.
    ///
    /// - Parameters:
    ///   - isOwn: tells by its first bytes whether what lies beside the file is left of such a one.
    ///   - check: is given the contents, and throws for what is not to be removed. What it has seen is what goes.
    /// - Throws: as ``read(_:in:)``, also for what is no regular file or is being written, which stays.
    static func remove(
        _ url: URL, in fileSystem: any FileSystem = PosixFileSystem(), isOwn: ([UInt8]) -> Bool = { _ in true },
        check: (Data) throws -> Void = { _ in }
    ) throws {
        guard url.isFileURL else { return }
        let what = "could not remove the store's file"
        guard let place = try reporting(what, url, { () throws(Errno) in try StoreFilePlace(url, fileSystem) }) else {
            return
        }
        let found = try reporting(what, url) { () throws(Errno) in try place.open() }
        if let found { try check(try reporting(what, url) { () throws(Errno) in try contents(of: found) }) }
        try reporting(what, url) { () throws(Errno) in
            // One that is writing keeps its file: it has it locked.
            try UnfinishedFile.removeLeft(beside: place.name, in: place.directory, isOwn: isOwn)
            if let found { try place.remove(found) }
            try place.removeCopy(isOwn: isOwn)
            try place.directory.sync()
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
    /// - Parameters:
    ///   - isOwn: as for ``remove(_:in:isOwn:check:)``.
    ///   - body: makes a file at the URL that it gets; false to leave the old one where it is.
    /// - Throws: what the body throws, and as ``write(_:to:in:)``. The old file is there then.
    static func replace(
        _ url: URL, in fileSystem: any FileSystem = PosixFileSystem(), isOwn: ([UInt8]) -> Bool = { _ in true },
        making body: (URL) throws -> Bool
    ) throws {
        let what = "could not replace the store's file"
        // Keeps others from writing the file.
        let (place, lock) = try reporting(what, url) { () throws(Errno) -> (StoreFilePlace, UnfinishedFile) in
            guard let place = try StoreFilePlace(url, fileSystem), try place.open() != nil else {
                throw .noSuchFileOrDirectory
            }
            return (place, try UnfinishedFile(for: place.name, in: place.directory, isOwn: isOwn))
        }
        defer { lock.discard() }
        // What somebody who died has left.
        try reporting(what, url) { () throws(Errno) in try place.makeRoomForCopy(isOwn: isOwn) }
        do {
            guard try body(URL(fileURLWithPath: place.copyPath.string)) else { return }
            try reporting(what, url) { () throws(Errno) in try place.installCopy() }
        } catch {
            try? place.removeCopy { _ in true }
            throw error
        }
    }

    // MARK: Paths

    /// The file that a URL leads to.
    static func canonicalPath(_ url: URL, _ fileSystem: any FileSystem) throws(Errno) -> FilePath {
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

    private static func reporting<R>(_ what: String, _ url: URL, _ body: () throws(Errno) -> R) throws -> R {
        do throws(Errno) {
            return try body()
        } catch {
            let failure =
                switch error {
                case .isDirectory, .invalidArgument:
                    StoreError(.corruption, "\(what): it is no file with a store in it", errno: error)
                case .resourceBusy: StoreError(.locked, "\(what): another process is writing it", errno: error)
                case .staleNFSFileHandle:
                    StoreError(
                        .io, "\(what): its directory, or the file itself, has become another one meanwhile",
                        errno: error)
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
