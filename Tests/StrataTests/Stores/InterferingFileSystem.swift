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
}
