public import StrataIO
public import SystemPackage

/// A file system that does what another one does, but for what a test declares itself.
public protocol ForwardingFileSystem: FileSystem {
    var base: any FileSystem { get }
}

extension ForwardingFileSystem {
    public func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File { try base.open(path, mode) }
    public func createDirectory(_ path: FilePath) throws(Errno) { try base.createDirectory(path) }
    public func list(_ directory: FilePath) throws(Errno) -> [String] { try base.list(directory) }
    public func rename(_ source: FilePath, to target: FilePath) throws(Errno) { try base.rename(source, to: target) }
    public func exchange(_ first: FilePath, with second: FilePath) throws(Errno) {
        try base.exchange(first, with: second)
    }
    /// A directory whose names go through this file system, so that what a test declares counts there, too.
    public func openDirectory(_ path: FilePath) throws(Errno) -> any Directory {
        ForwardingDirectory(self, path, try base.openDirectory(path))
    }
    public func unlink(_ path: FilePath) throws(Errno) { try base.unlink(path) }
    public func removeDirectory(_ path: FilePath) throws(Errno) { try base.removeDirectory(path) }
    public func syncDirectory(_ path: FilePath) throws(Errno) { try base.syncDirectory(path) }
    public func attributes(_ path: FilePath) throws(Errno) -> FileAttributes? { try base.attributes(path) }
    public func linkAttributes(_ path: FilePath) throws(Errno) -> FileAttributes? { try base.linkAttributes(path) }
    public func identity(_ path: FilePath) throws(Errno) -> FileIdentity? { try base.identity(path) }
    public var isPrivate: Bool { base.isPrivate }
    public func resolve(_ path: FilePath) throws(Errno) -> FilePath { try base.resolve(path) }
    public func sharedPage(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        try base.sharedPage(path, mode)
    }
}

/// An open directory whose names are looked up by path in a file system.
private final class ForwardingDirectory: Directory {
    private let fileSystem: any FileSystem
    private let path: FilePath
    private let base: any Directory

    init(_ fileSystem: any FileSystem, _ path: FilePath, _ base: any Directory) {
        self.fileSystem = fileSystem
        self.path = path
        self.base = base
    }

    func list() throws(Errno) -> [String] { try fileSystem.list(path) }
    func attributes(of name: String) throws(Errno) -> FileAttributes? {
        try fileSystem.linkAttributes(path.appending(name))
    }
    func open(_ name: String, _ mode: FileOpenMode) throws(Errno) -> any File {
        try fileSystem.open(path.appending(name), mode)
    }
    func rename(_ source: String, to target: String) throws(Errno) {
        try fileSystem.rename(path.appending(source), to: path.appending(target))
    }
    func unlink(_ name: String) throws(Errno) { try fileSystem.unlink(path.appending(name)) }
    func sync() throws(Errno) { try fileSystem.syncDirectory(path) }
    func identity() throws(Errno) -> FileIdentity { try base.identity() }
    func sharedPage(_ name: String, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        try fileSystem.sharedPage(path.appending(name), mode)
    }
}

/// A file that does what another one does, but for what a test declares itself.
public protocol ForwardingFile: File {
    var base: any File { get }
}

extension ForwardingFile {
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try base.read(into: buffer, at: offset)
    }
    public func write(_ buffers: [UnsafeRawBufferPointer], at offset: Int64) throws(Errno) -> Int {
        try base.write(buffers, at: offset)
    }
    public func syncData() throws(Errno) { try base.syncData() }
    public func sync() throws(Errno) { try base.sync() }
    public func truncate(to byteCount: Int64) throws(Errno) { try base.truncate(to: byteCount) }
    public func preallocate(from offset: Int64, byteCount: Int64) throws(Errno) {
        try base.preallocate(from: offset, byteCount: byteCount)
    }
    public func byteCount() throws(Errno) -> Int64 { try base.byteCount() }
    public func map(from offset: Int64, byteCount: Int) throws(Errno) -> MappedRegion {
        try base.map(from: offset, byteCount: byteCount)
    }
    public func tryLockExclusively() throws(Errno) -> Bool { try base.tryLockExclusively() }
    public func isLockedElsewhere() throws(Errno) -> Bool { try base.isLockedElsewhere() }
    public func identity() throws(Errno) -> FileIdentity? { try base.identity() }
    public func close() throws(Errno) { try base.close() }
}
