import Foundation
import StrataIO
import StrataTestKit
import SystemPackage

/// A file system whose flushes take as long as those of a disk.
final class SlowFlushFileSystem: ForwardingFileSystem {
    let base: any FileSystem
    private let microseconds: UInt32

    init(_ base: any FileSystem, microseconds: UInt32) {
        self.base = base
        self.microseconds = microseconds
    }

    func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        SlowFlushFile(try base.open(path, mode), microseconds: microseconds)
    }
}

private final class SlowFlushFile: ForwardingFile {
    let base: any File
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
}
