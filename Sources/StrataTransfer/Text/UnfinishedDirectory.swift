import Foundation
import StrataIO
import SystemPackage

/// A directory with files in it that gets its name when all of them are there: until then it lies beside its place.
///
/// Its last file is made first and locked while it is written, which shows whether somebody is still at it: what one
/// has left who died is removed by the next one.
struct UnfinishedDirectory {
    private let path: FilePath
    private let fileSystem = PosixFileSystem()
    private static let attempts = 64

    /// - Parameters:
    ///   - path: what does not exist yet.
    ///   - last: the name of the last file.
    ///   - body: writes the other files and gives the text of the last one.
    /// - Throws: ``TransferError``; what `body` throws. Nothing is there then.
    static func make(_ path: String, last: String, _ body: (UnfinishedDirectory) throws -> String) throws {
        let target = FilePath(URL(fileURLWithPath: path).standardizedFileURL.path)
        let above = target.removingLastComponent()
        do {
            let fileSystem = PosixFileSystem()
            guard try fileSystem.linkAttributes(target) == nil else { throw Errno.fileExists }
            try FileManager.default.createDirectory(atPath: above.string, withIntermediateDirectories: true)
            let directory = UnfinishedDirectory(path: FilePath(target.string + UnfinishedFile.suffix))
            let lock = try directory.create(last)
            do {
                let writer = ByteWriter(lock, path: path)
                try writer.write(try body(directory))
                try writer.finish()
                try fileSystem.syncDirectory(directory.path)
                // Last: it may have become something else meanwhile.
                guard try fileSystem.linkAttributes(target) == nil else { throw Errno.fileExists }
                try fileSystem.rename(directory.path, to: target)
            } catch {
                try? directory.remove()
                throw error
            }
            try lock.close()
            try fileSystem.syncDirectory(above)
        } catch let error as Errno {
            throw ByteWriter.failure(path, error)
        }
    }

    /// A new file in the directory.
    func writer(_ name: String) throws -> ByteWriter {
        let file = path.appending(name)
        do {
            return ByteWriter(try fileSystem.open(file, .create), path: file.string)
        } catch {
            throw ByteWriter.failure(file.string, error)
        }
    }

    /// Makes the directory, with its last file open and locked.
    private func create(_ last: String) throws(Errno) -> any File {
        for _ in 0..<Self.attempts {
            do {
                try fileSystem.createDirectory(path)
                let file = try fileSystem.open(path.appending(last), .create)
                if try file.tryLockExclusively() { return file }
            } catch .fileExists {
                try removeLeft(last)
            }
        }
        throw .resourceBusy
    }

    /// Removes what somebody who died has left.
    ///
    /// - Throws: `.resourceBusy` when somebody is writing it.
    private func removeLeft(_ last: String) throws(Errno) {
        do throws(Errno) {
            let file = try fileSystem.open(path.appending(last), .readWrite)
            guard try file.tryLockExclusively() else { throw .resourceBusy }
        } catch .noSuchFileOrDirectory {
            // Whoever made the directory died before the file was there: nothing is in it.
            return try fileSystem.removeDirectory(path)
        }
        try remove()
    }

    private func remove() throws(Errno) {
        let directory = try fileSystem.openDirectory(path)
        for name in try directory.list() { try directory.unlink(name) }
        try fileSystem.removeDirectory(path)
    }
}
