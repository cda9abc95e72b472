internal import StrataIO
internal import SystemPackage

/// The directory of a ``BucketFileSystem``.
final class BucketDirectory: Directory {
    private let fileSystem: BucketFileSystem

    init(_ fileSystem: BucketFileSystem) {
        self.fileSystem = fileSystem
    }

    func list() throws(Errno) -> [String] { fileSystem.names() }

    func attributes(of name: String) throws(Errno) -> FileAttributes? { fileSystem.attributes(of: name) }

    func open(_ name: String, _ mode: FileOpenMode) throws(Errno) -> any File { try fileSystem.open(name, mode) }

    func rename(_ source: String, to target: String) throws(Errno) { throw .readOnlyFileSystem }

    func unlink(_ name: String) throws(Errno) { throw .readOnlyFileSystem }

    func sync() throws(Errno) { throw .readOnlyFileSystem }

    func identity() throws(Errno) -> FileIdentity { fileSystem.identity }

    func sharedPage(_ name: String, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        try fileSystem.sharedPage(of: name, mode)
    }
}
