import Foundation
import StrataIO
import SystemPackage

/// A file system whose flushes take as long as those of a disk.
final class SlowFlushFileSystem: FileSystem {
    private let base: any FileSystem
    private let microseconds: UInt32

    init(_ base: any FileSystem, microseconds: UInt32) {
        self.base = base
        self.microseconds = microseconds
    }

    func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        SlowFlushFile(try base.open(path, mode), microseconds: microseconds)
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

private final class SlowFlushFile: File {
    private let base: any File
    private let microseconds: UInt32

    init(_ base: any File, microseconds: UInt32) {
        self.base = base
        self.microseconds = microseconds
    }

    func syncData() throws(Errno) {
        usleep(microseconds)
        try base.syncData()
    }

    func sync() throws(Errno) {
        usleep(microseconds)
        try base.sync()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try base.read(into: buffer, at: offset)
    }

    func write(_ buffers: [UnsafeRawBufferPointer], at offset: Int64) throws(Errno) -> Int {
        try base.write(buffers, at: offset)
    }

    func truncate(to byteCount: Int64) throws(Errno) { try base.truncate(to: byteCount) }

    func preallocate(from offset: Int64, byteCount: Int64) throws(Errno) {
        try base.preallocate(from: offset, byteCount: byteCount)
    }

    func byteCount() throws(Errno) -> Int64 { try base.byteCount() }

    func map(from offset: Int64, byteCount: Int) throws(Errno) -> MappedRegion {
        try base.map(from: offset, byteCount: byteCount)
    }

    func tryLockExclusively() throws(Errno) -> Bool { try base.tryLockExclusively() }
    func close() throws(Errno) { try base.close() }
}
