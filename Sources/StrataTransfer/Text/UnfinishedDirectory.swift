import Foundation
import StrataIO
import StrataSupport
import SystemPackage

/// A directory with files in it that gets its name when all of them are there: until then it lies beside its place.
///
/// Its last file is made first and locked while it is written, which shows whether somebody is still at it: what one
/// has left who died is removed by the next one. The directory, and the one that it lies in, are kept open: everything
/// is made, named and removed in these two, whatever becomes of their paths meanwhile.
struct UnfinishedDirectory {
    private let place: UnfinishedPlace
    private let own: any Directory

    /// - Parameters:
    ///   - path: what does not exist yet.
    ///   - last: the name of the last file.
    ///   - suffix: what the names of the other files end with.
    ///   - body: writes the other files and gives the text of the last one.
    /// - Throws: ``TransferError``; what `body` throws. Nothing is there then.
    static func make(
        _ path: String, last: String, suffix: String, _ body: (UnfinishedDirectory) throws -> String
    ) throws {
        let target = FilePath(URL(fileURLWithPath: path).standardizedFileURL.path)
        do {
            let fileSystem = PosixFileSystem()
            guard try fileSystem.linkAttributes(target) == nil else { throw Errno.fileExists }
            try FileManager.default.createDirectory(
                atPath: target.directoryAbove.string, withIntermediateDirectories: true)
            let place = try UnfinishedPlace(target, fileSystem)
            let (own, lock) = try place.make(last: last) { $0 == last || $0.hasSuffix(suffix) }
            let directory = UnfinishedDirectory(place: place, own: own)
            do {
                let writer = ByteWriter(lock, path: path)
                try writer.write(try body(directory))
                try writer.finish()
                try place.install(own)
            } catch {
                try? place.remove(own) { _ in true }
                throw error
            }
            try lock.close()
            try place.parent.sync()
        } catch let error as Errno {
            throw ByteWriter.failure(path, error)
        }
    }

    /// A new file in the directory.
    func writer(_ name: String) throws -> ByteWriter {
        let path = place.path.appending(name).string
        do {
            return ByteWriter(try own.open(name, .create), path: path)
        } catch {
            throw ByteWriter.failure(path, error)
        }
    }
}

/// The names of an unfinished directory in the one that it lies in.
private struct UnfinishedPlace {
    let parent: any Directory
    /// Where it lies until it is complete.
    let path: FilePath
    private let name: String
    private let fileSystem: PosixFileSystem
    private static let attempts = 64

    private var besideName: String { name + UnfinishedFile.suffix }

    /// - Parameter target: where it will be.
    init(_ target: FilePath, _ fileSystem: PosixFileSystem) throws(Errno) {
        let above = try fileSystem.resolve(target.directoryAbove)
        parent = try fileSystem.openDirectory(above)
        name = target.lastName
        path = above.appending(target.lastName + UnfinishedFile.suffix)
        self.fileSystem = fileSystem
    }

    /// Makes the directory, with its last file open and locked.
    ///
    /// - Parameter isOwn: whether a file in what lies there already is one of such a directory, so that it may go.
    /// - Throws: `.resourceBusy` when somebody is writing one; `.fileExists` when something else lies there.
    func make(
        last: String, isOwn: (String) -> Bool
    ) throws(Errno) -> (own: any Directory, lock: any File) {
        for _ in 0..<Self.attempts {
            do throws(Errno) {
                try fileSystem.createDirectory(path)
                let own = try open(hasMade: true)
                let file: any File
                do throws(Errno) {
                    file = try own.open(last, .create)
                } catch {
                    // Nothing but an empty directory goes.
                    if (try? isInPlace(own)) == true { try? fileSystem.removeDirectory(path) }
                    throw error
                }
                if try file.tryLockExclusively() { return (own, file) }
            } catch .fileExists {
                try removeLeft(last, isOwn)
            }
        }
        throw .resourceBusy
    }

    /// - Throws: `.staleNFSFileHandle` when the path leads to another directory by now.
    private func open(hasMade: Bool) throws(Errno) -> any Directory {
        let own = try fileSystem.openDirectory(path)
        if try isInPlace(own) { return own }
        // Nothing but an empty directory goes.
        if hasMade { try? fileSystem.removeDirectory(path) }
        throw .staleNFSFileHandle
    }

    private func isInPlace(_ own: any Directory) throws(Errno) -> Bool {
        try parent.attributes(of: besideName)?.identity == own.identity()
    }

    /// Gives the directory its name. Durable once the one above has been flushed.
    func install(_ own: any Directory) throws(Errno) {
        try own.sync()
        guard try isInPlace(own) else { throw .staleNFSFileHandle }
        try parent.renameIfAbsent(besideName, to: name)
    }

    /// Removes what somebody who died has left.
    ///
    /// - Throws: `.resourceBusy` when somebody is writing it; `.fileExists` for what is not our own, which stays.
    private func removeLeft(_ last: String, _ isOwn: (String) -> Bool) throws(Errno) {
        guard let found = try parent.attributes(of: besideName) else { return }
        guard found.isDirectory else { throw .fileExists }
        let own = try open(hasMade: false)
        do throws(Errno) {
            let file = try own.open(last, .readWrite)
            guard try file.tryLockExclusively() else { throw .resourceBusy }
            try remove(own, isOwn)
        } catch .noSuchFileOrDirectory {
            // Whoever made the directory died before the file was there: nothing is in it.
            guard try own.list().isEmpty else { throw .fileExists }
            try fileSystem.removeDirectory(path)
        }
    }

    /// Removes the directory, if all that is in it is our own.
    func remove(_ own: any Directory, _ isOwn: (String) -> Bool) throws(Errno) {
        let names = try own.list()
        for name in names {
            guard isOwn(name), try own.attributes(of: name)?.kind == .regular else { throw .fileExists }
        }
        for name in names { try own.unlink(name) }
        try fileSystem.removeDirectory(path)
    }
}
