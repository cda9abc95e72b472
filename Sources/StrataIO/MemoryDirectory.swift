internal import Synchronization
internal import SystemPackage

/// A directory of a ``MemoryFileSystem`` that is open.
final class MemoryDirectory: Directory {
    private let fileSystem: MemoryFileSystem
    private let inode: Int

    init(_ fileSystem: MemoryFileSystem, inode: Int) {
        self.fileSystem = fileSystem
        self.inode = inode
    }

    func list() throws(Errno) -> [String] {
        fileSystem.state.withLock { $0.tree.names(inDirectory: inode) }
    }

    func attributes(of name: String) throws(Errno) -> FileAttributes? {
        fileSystem.state.withLock { state in
            state.tree.inode(at: entry(name)).map { state.attributes($0, fileSystem.device) }
        }
    }

    func open(_ name: String, _ mode: FileOpenMode) throws(Errno) -> any File {
        try fileSystem.state.withLock { state throws(Errno) in try fileSystem.open(entry(name), mode, &state) }
    }

    func rename(_ source: String, to target: String) throws(Errno) {
        try fileSystem.state.withLock { state throws(Errno) in
            guard let move = try state.tree.move(entry(source), to: entry(target)) else { return }
            state.apply(move)
        }
    }

    func unlink(_ name: String) throws(Errno) {
        try fileSystem.state.withLock { state throws(Errno) in
            guard let found = state.tree.inode(at: entry(name)) else { throw .noSuchFileOrDirectory }
            guard !state.tree.isDirectory(found) else { throw .isDirectory }
            state.tree.unlink(found, at: entry(name))
            state.files[found] = nil
        }
    }

    func sync() throws(Errno) {}

    func identity() throws(Errno) -> FileIdentity {
        fileSystem.identity(inode)
    }

    private func entry(_ name: String) -> DirectoryTree.Entry { .init(directory: inode, name: name) }
}
