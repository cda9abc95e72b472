import Foundation
import StrataIO
import StrataLog
import SystemPackage

/// The file of a store that is read and written as a whole. Everything goes through the file system's seam.
enum StoreFile {
    /// Writes a file so that after a crash it has the old or the new contents, whole. Durable when it returns.
    ///
    /// - Throws: `CocoaError` 512 or another write error, with the system's as underlying one.
    static func write(_ data: Data, to url: URL, in fileSystem: any FileSystem = PosixFileSystem()) throws {
        let path = FilePath(url.path)
        let unfinished = FilePath(url.path + ".strata-new")
        do throws(Errno) {
            if try fileSystem.attributes(unfinished) != nil { try fileSystem.unlink(unfinished) }
            let file = try fileSystem.open(unfinished, .create)
            try data.withBytes { bytes throws(Errno) in try file.writeAll([bytes], at: 0) }
            try file.sync()
            try file.close()
            try fileSystem.rename(unfinished, to: path)
            try fileSystem.syncDirectory(parent(of: path))
        } catch {
            throw StoreFailure.opening(StoreError(.io, "could not write the store's file", errno: error), url.path)
        }
    }

    /// The contents of a file; nil when there is none.
    ///
    /// - Throws: `CocoaError` with the system's error as underlying one.
    static func read(_ url: URL, in fileSystem: any FileSystem = PosixFileSystem()) throws -> Data? {
        let path = FilePath(url.path)
        do throws(Errno) {
            guard let place = try fileSystem.attributes(path) else { return nil }
            guard !place.isDirectory else { throw Errno.isDirectory }
            let file = try fileSystem.open(path, .read)
            let buffer = UnsafeMutableRawBufferPointer.allocate(
                byteCount: Int(try file.byteCount()), alignment: 16)
            defer { buffer.deallocate() }
            let count = try file.readPrefix(into: buffer, at: 0)
            try file.close()
            return Data(buffer[..<count])
        } catch {
            let code: StoreError.Code = error == .isDirectory ? .corruption : .io
            throw StoreFailure.opening(StoreError(code, "could not read the store's file", errno: error), url.path)
        }
    }

    static func copy(_ source: URL, to target: URL) throws {
        guard source.isFileURL, target.isFileURL, let data = try read(source) else {
            throw StoreFailure.opening(StoreError(.notFound, "there is no store to copy"), source.path)
        }
        try write(data, to: target)
    }

    /// Removes a file. Nothing happens when there is none, or when the URL names no file.
    static func remove(_ url: URL, in fileSystem: any FileSystem = PosixFileSystem()) throws {
        guard url.isFileURL else { return }
        let path = FilePath(url.path)
        do throws(Errno) {
            guard let place = try fileSystem.attributes(path) else { return }
            guard !place.isDirectory else { throw Errno.isDirectory }
            try fileSystem.unlink(path)
            try fileSystem.syncDirectory(parent(of: path))
        } catch {
            let code: StoreError.Code = error == .isDirectory ? .corruption : .io
            throw StoreFailure.opening(StoreError(code, "could not remove the store's file", errno: error), url.path)
        }
    }

    private static func parent(of path: FilePath) -> FilePath {
        let parent = path.removingLastComponent()
        return parent.isEmpty ? "." : parent
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
