import StrataIO
import StrataTestKit
import SystemPackage

/// A file system on a disk that holds so many bytes. What is reserved counts as much as what is written.
final class SmallDiskFileSystem: ForwardingFileSystem {
    let base: any FileSystem
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
}

private final class SmallDiskFile: ForwardingFile {
    let base: any File
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
}
