import Foundation
import StrataIO
import SystemPackage

/// Which file is at a place. The number alone may be that of a file that is gone.
struct StoreFileVersion: Equatable {
    var identity: FileIdentity
    /// Since 1970; 0 where that is not known.
    var createdNanoseconds: Int64
}

/// The name that a store's file has in a directory that is kept open: what is looked at, removed and replaced is in
/// this directory, whatever its path leads to meanwhile.
struct StoreFilePlace {
    let directory: any Directory
    let name: String
    private let path: FilePath
    private let fileSystem: any FileSystem

    /// - Returns: nil when there is no directory that it could be in.
    init?(_ url: URL, _ fileSystem: any FileSystem) throws(Errno) {
        path = try StoreFile.canonicalPath(url, fileSystem)
        name = path.lastName
        self.fileSystem = fileSystem
        do throws(Errno) {
            directory = try fileSystem.openDirectory(try fileSystem.resolve(path.directoryAbove))
        } catch {
            if error == .noSuchFileOrDirectory || error == .notDirectory { return nil }
            throw error
        }
    }

    /// The file; nil when nothing has the name.
    ///
    /// - Throws: `.isDirectory`, `.invalidArgument` for what is there and is no file with bytes in it.
    func open() throws(Errno) -> (any File)? {
        switch try directory.attributes(of: name)?.kind {
        case nil: return nil
        case .regular: return try directory.open(name, .read)
        case .directory: throw .isDirectory
        default: throw .invalidArgument
        }
    }

    /// Removes the name, if it is still that of a file.
    ///
    /// - Throws: `.staleNFSFileHandle` when it is another one's by now.
    func remove(_ file: any File) throws(Errno) {
        guard let found = try directory.attributes(of: name) else { return }
        guard try file.identity().map({ $0 == found.identity }) ?? true else { throw .staleNFSFileHandle }
        try directory.unlink(name)
    }

    // MARK: What is to take the file's place

    private var copyName: String { name + ".strata-copy" }

    /// Where it is made.
    var copyPath: FilePath { path.directoryAbove.appending(copyName) }

    /// Removes what a migration that died has left.
    ///
    /// - Throws: `.fileExists` when something else is there; `.staleNFSFileHandle` when the path leads to another
    ///   directory by now.
    func makeRoomForCopy(isOwn: ([UInt8]) -> Bool) throws(Errno) {
        guard try fileSystem.identity(path.directoryAbove) == directory.identity() else { throw .staleNFSFileHandle }
        try removeCopy(isOwn: isOwn)
        guard try directory.attributes(of: copyName) == nil else { throw .fileExists }
    }

    /// Removes what is there if it is our own.
    ///
    /// - Throws: `.resourceBusy` when somebody is writing it.
    func removeCopy(isOwn: ([UInt8]) -> Bool) throws(Errno) {
        try UnfinishedFile.removeLeft(beside: copyName, in: directory, isOwn: isOwn)
        guard try directory.attributes(of: copyName)?.kind == .regular else { return }
        guard isOwn(try UnfinishedFile.beginning(of: try directory.open(copyName, .read))) else { return }
        try directory.unlink(copyName)
    }

    /// Gives the copy the file's name, durably.
    ///
    /// - Throws: `.noSuchFileOrDirectory` when it is not here: the path has come to lead to another directory.
    func installCopy() throws(Errno) {
        let file = try directory.open(copyName, .readWrite)
        try file.sync()
        try file.close()
        try directory.rename(copyName, to: name)
        try directory.sync()
    }
}
