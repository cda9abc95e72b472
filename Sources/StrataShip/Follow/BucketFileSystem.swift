internal import StrataIO
internal import StrataLog
internal import SystemPackage

/// The directory of one store, of which every file is read from a bucket, and nothing can be written.
final class BucketFileSystem: FileSystem {
    let path: FilePath
    let log: FollowedLog
    /// Tells this store from every other one that is open.
    private let device: UInt64

    init(_ log: FollowedLog, at path: FilePath) {
        self.log = log
        self.path = path
        device = UInt64.random(in: 1 << 40..<1 << 62)
    }

    /// Nobody else can change names here.
    var isPrivate: Bool { true }

    // MARK: Names

    /// What a name in the directory is.
    func source(_ name: String) -> FollowedLog.Source? {
        guard name.utf8.count == 12, let number = UInt32(name.prefix(8), radix: 16) else { return nil }
        if name == LogStore.segmentFileName(number) { return .segment(number) }
        guard name == Self.checkpointName(number) else { return nil }
        return log.catalog.checkpoint(number).map { .checkpoint($0) }
    }

    private static func checkpointName(_ number: UInt32) -> String { ShipKey.hex(number) + ".chk" }

    func names() -> [String] {
        let catalog = log.catalog
        return
            (catalog.segments.map { LogStore.segmentFileName($0.number) }
            + catalog.checkpoints.map { Self.checkpointName($0.number) }).sorted()
    }

    func attributes(of name: String) -> FileAttributes? {
        guard let source = source(name), let byteCount = log.byteCount(source) else { return nil }
        return FileAttributes(
            kind: .regular, byteCount: Int64(byteCount), allocatedByteCount: Int64(byteCount), device: device,
            inode: identity(of: source).inode)
    }

    func identity(of source: FollowedLog.Source) -> FileIdentity {
        switch source {
        case .segment(let number): FileIdentity(device: device, inode: 2 << 32 | UInt64(number))
        case .checkpoint(let checkpoint):
            FileIdentity(device: device, inode: 1 << 63 | UInt64(checkpoint.epoch) << 32 | UInt64(checkpoint.number))
        }
    }

    var identity: FileIdentity { FileIdentity(device: device, inode: 1) }

    func open(_ name: String, _ mode: FileOpenMode) throws(Errno) -> any File {
        guard case .read = mode else { throw .readOnlyFileSystem }
        if name == "LOCK" { return BucketLock() }
        guard let source = source(name), log.byteCount(source) != nil, log.open(source) else {
            throw .noSuchFileOrDirectory
        }
        return BucketFile(self, source)
    }

    func sharedPage(of name: String, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        guard name == "TAIL" else { throw .noSuchFileOrDirectory }
        return log.page
    }

    private func name(_ path: FilePath) -> String? {
        let path = path.lexicallyNormalized()
        guard path.removingLastComponent() == self.path else { return nil }
        return path.lastComponent?.string
    }

    // MARK: FileSystem

    func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        guard let name = name(path) else { throw .noSuchFileOrDirectory }
        return try open(name, mode)
    }

    func createDirectory(_ path: FilePath) throws(Errno) { throw .readOnlyFileSystem }

    func list(_ directory: FilePath) throws(Errno) -> [String] {
        guard directory.lexicallyNormalized() == path else { throw .noSuchFileOrDirectory }
        return names()
    }

    func rename(_ source: FilePath, to target: FilePath) throws(Errno) { throw .readOnlyFileSystem }

    func exchange(_ first: FilePath, with second: FilePath) throws(Errno) { throw .readOnlyFileSystem }

    func openDirectory(_ path: FilePath) throws(Errno) -> any Directory {
        guard path.lexicallyNormalized() == self.path else { throw .noSuchFileOrDirectory }
        return BucketDirectory(self)
    }

    func unlink(_ path: FilePath) throws(Errno) { throw .readOnlyFileSystem }

    func removeDirectory(_ path: FilePath) throws(Errno) { throw .readOnlyFileSystem }

    func syncDirectory(_ path: FilePath) throws(Errno) { throw .readOnlyFileSystem }

    func attributes(_ path: FilePath) throws(Errno) -> FileAttributes? {
        let path = path.lexicallyNormalized()
        if self.path.starts(with: path) {
            // The store's directory and those above it.
            return FileAttributes(
                kind: .directory, byteCount: 0, allocatedByteCount: 0, device: device,
                inode: path == self.path ? 1 : 1 << 62 | UInt64(path.components.count))
        }
        return name(path).flatMap { attributes(of: $0) }
    }

    func linkAttributes(_ path: FilePath) throws(Errno) -> FileAttributes? { try attributes(path) }

    func resolve(_ path: FilePath) throws(Errno) -> FilePath {
        guard try attributes(path) != nil else { throw .noSuchFileOrDirectory }
        return path.lexicallyNormalized()
    }

    func sharedPage(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        guard let name = name(path) else { throw .noSuchFileOrDirectory }
        return try sharedPage(of: name, mode)
    }
}
