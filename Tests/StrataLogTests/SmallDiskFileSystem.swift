import StrataIO
import SystemPackage

/// A file system on a disk that holds so many bytes. What is reserved counts as much as what is written.
final class SmallDiskFileSystem: FileSystem {
    private let base: any FileSystem
    private let directory: FilePath
    private let capacity: Int64

    /// - Parameter directory: where all the files are.
    init(_ base: any FileSystem, directory: FilePath, capacity: Int) {
        self.base = base
        self.directory = directory
        self.capacity = Int64(capacity)
    }

    /// Bytes that the files take.
    var usedByteCount: Int64 {
        let names = (try? base.list(directory)) ?? []
        return names.reduce(0) { $0 + held(directory.appending($1)) }
    }

    fileprivate func held(_ path: FilePath) -> Int64 {
        guard let attributes = try? base.attributes(path) else { return 0 }
        return max(attributes.byteCount, attributes.allocatedByteCount)
    }

    /// Throws unless the file may come to be so long.
    fileprivate func require(_ byteCount: Int64, of path: FilePath) throws(Errno) {
        let more = byteCount - held(path)
        guard more <= 0 || usedByteCount + more <= capacity else { throw .noSpace }
    }

    func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        SmallDiskFile(try base.open(path, mode), path, self)
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

private final class SmallDiskFile: File {
    private let base: any File
    private let path: FilePath
    private let disk: SmallDiskFileSystem

    init(_ base: any File, _ path: FilePath, _ disk: SmallDiskFileSystem) {
        self.base = base
        self.path = path
        self.disk = disk
    }

    func write(_ buffers: [UnsafeRawBufferPointer], at offset: Int64) throws(Errno) -> Int {
        try disk.require(buffers.reduce(offset) { $0 + Int64($1.count) }, of: path)
        return try base.write(buffers, at: offset)
    }

    func preallocate(from offset: Int64, byteCount: Int64) throws(Errno) {
        try disk.require(offset + byteCount, of: path)
        try base.preallocate(from: offset, byteCount: byteCount)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try base.read(into: buffer, at: offset)
    }

    func syncData() throws(Errno) { try base.syncData() }
    func sync() throws(Errno) { try base.sync() }
    func truncate(to byteCount: Int64) throws(Errno) { try base.truncate(to: byteCount) }
    func byteCount() throws(Errno) -> Int64 { try base.byteCount() }

    func map(from offset: Int64, byteCount: Int) throws(Errno) -> MappedRegion {
        try base.map(from: offset, byteCount: byteCount)
    }

    func tryLockExclusively() throws(Errno) -> Bool { try base.tryLockExclusively() }
    func close() throws(Errno) { try base.close() }
}
