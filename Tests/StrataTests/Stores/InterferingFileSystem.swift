import StrataIO
import SystemPackage

/// A file system in which something happens before a file is opened, as another process may do it.
final class InterferingFileSystem: FileSystem {
    private let base: any FileSystem
    private let beforeOpening: @Sendable (FilePath) -> Void

    init(_ base: any FileSystem, beforeOpening: @escaping @Sendable (FilePath) -> Void) {
        self.base = base
        self.beforeOpening = beforeOpening
    }

    func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        beforeOpening(path)
        return try base.open(path, mode)
    }

    func createDirectory(_ path: FilePath) throws(Errno) { try base.createDirectory(path) }
    func list(_ directory: FilePath) throws(Errno) -> [String] { try base.list(directory) }
    func rename(_ source: FilePath, to target: FilePath) throws(Errno) { try base.rename(source, to: target) }
    func unlink(_ path: FilePath) throws(Errno) { try base.unlink(path) }
    func removeDirectory(_ path: FilePath) throws(Errno) { try base.removeDirectory(path) }
    func syncDirectory(_ path: FilePath) throws(Errno) { try base.syncDirectory(path) }
    func attributes(_ path: FilePath) throws(Errno) -> FileAttributes? { try base.attributes(path) }
    func resolve(_ path: FilePath) throws(Errno) -> FilePath { try base.resolve(path) }
    func sharedPage(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        try base.sharedPage(path, mode)
    }
}
