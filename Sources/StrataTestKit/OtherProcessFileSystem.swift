package import StrataIO
package import SystemPackage

/// Another process's view of a file system: the same files, on what looks like another device and under another root,
/// so that what a process shares among its own coordinators is not shared with this one.
package final class OtherProcessFileSystem: FileSystem {
    private let base: any FileSystem
    private static let root: FilePath = "/other-process"

    package init(_ base: any FileSystem) {
        self.base = base
    }

    /// How the base calls a path. Both its own paths and those with another root are understood.
    private func real(_ path: FilePath) -> FilePath {
        var path = path
        guard path.removePrefix(Self.root) else { return path }
        return FilePath("/").appending(path.components)
    }

    fileprivate static func other(_ identity: FileIdentity) -> FileIdentity {
        FileIdentity(device: ~identity.device, inode: identity.inode)
    }

    fileprivate static func other(_ attributes: FileAttributes?) -> FileAttributes? {
        guard var attributes else { return nil }
        attributes.device = ~attributes.device
        return attributes
    }

    package func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        OtherProcessFile(try base.open(real(path), mode))
    }

    package func createDirectory(_ path: FilePath) throws(Errno) { try base.createDirectory(real(path)) }
    package func list(_ directory: FilePath) throws(Errno) -> [String] { try base.list(real(directory)) }

    package func rename(_ source: FilePath, to target: FilePath) throws(Errno) {
        try base.rename(real(source), to: real(target))
    }

    package func exchange(_ first: FilePath, with second: FilePath) throws(Errno) {
        try base.exchange(real(first), with: real(second))
    }

    package func openDirectory(_ path: FilePath) throws(Errno) -> any Directory {
        OtherProcessDirectory(try base.openDirectory(real(path)))
    }

    package func unlink(_ path: FilePath) throws(Errno) { try base.unlink(real(path)) }
    package func removeDirectory(_ path: FilePath) throws(Errno) { try base.removeDirectory(real(path)) }
    package func syncDirectory(_ path: FilePath) throws(Errno) { try base.syncDirectory(real(path)) }

    package func attributes(_ path: FilePath) throws(Errno) -> FileAttributes? {
        Self.other(try base.attributes(real(path)))
    }

    package func linkAttributes(_ path: FilePath) throws(Errno) -> FileAttributes? {
        Self.other(try base.linkAttributes(real(path)))
    }

    package func resolve(_ path: FilePath) throws(Errno) -> FilePath {
        Self.root.appending(try base.resolve(real(path)).components)
    }

    package func sharedPage(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        try base.sharedPage(real(path), mode)
    }
}

private final class OtherProcessFile: ForwardingFile {
    let base: any File

    init(_ base: any File) {
        self.base = base
    }

    func identity() throws(Errno) -> FileIdentity? { try base.identity().map { OtherProcessFileSystem.other($0) } }
}

private final class OtherProcessDirectory: Directory {
    private let base: any Directory

    init(_ base: any Directory) {
        self.base = base
    }

    func list() throws(Errno) -> [String] { try base.list() }
    func attributes(of name: String) throws(Errno) -> FileAttributes? {
        OtherProcessFileSystem.other(try base.attributes(of: name))
    }
    func open(_ name: String, _ mode: FileOpenMode) throws(Errno) -> any File {
        OtherProcessFile(try base.open(name, mode))
    }
    func rename(_ source: String, to target: String) throws(Errno) { try base.rename(source, to: target) }
    func sharedPage(_ name: String, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        try base.sharedPage(name, mode)
    }
    func unlink(_ name: String) throws(Errno) { try base.unlink(name) }
    func sync() throws(Errno) { try base.sync() }
    func identity() throws(Errno) -> FileIdentity { OtherProcessFileSystem.other(try base.identity()) }
}
