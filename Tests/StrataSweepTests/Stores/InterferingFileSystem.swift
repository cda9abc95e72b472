import StrataIO
import StrataTestKit
import SystemPackage

/// A file system in which something happens before a file is opened, as another process may do it.
final class InterferingFileSystem: ForwardingFileSystem {
    let base: any FileSystem
    private let beforeOpening: @Sendable (FilePath) -> Void

    init(_ base: any FileSystem, beforeOpening: @escaping @Sendable (FilePath) -> Void) {
        self.base = base
        self.beforeOpening = beforeOpening
    }

    func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        beforeOpening(path)
        return try base.open(path, mode)
    }

    func openDirectory(_ path: FilePath) throws(Errno) -> any Directory {
        InterferingDirectory(try base.openDirectory(path), path, beforeOpening)
    }
}

private final class InterferingDirectory: Directory {
    private let base: any Directory
    private let path: FilePath
    private let beforeOpening: @Sendable (FilePath) -> Void

    init(_ base: any Directory, _ path: FilePath, _ beforeOpening: @escaping @Sendable (FilePath) -> Void) {
        self.base = base
        self.path = path
        self.beforeOpening = beforeOpening
    }

    func list() throws(Errno) -> [String] { try base.list() }
    func attributes(of name: String) throws(Errno) -> FileAttributes? { try base.attributes(of: name) }
    func open(_ name: String, _ mode: FileOpenMode) throws(Errno) -> any File {
        beforeOpening(path.appending(name))
        return try base.open(name, mode)
    }
    func rename(_ source: String, to target: String) throws(Errno) { try base.rename(source, to: target) }
    func sharedPage(_ name: String, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        try base.sharedPage(name, mode)
    }
    func unlink(_ name: String) throws(Errno) { try base.unlink(name) }
    func sync() throws(Errno) { try base.sync() }
    func identity() throws(Errno) -> FileIdentity { try base.identity() }
}
