internal import StrataIO
internal import Synchronization
internal import SystemPackage

/// A directory of a ``SimulatedFileSystem`` that is open.
final class SimulatedDirectory: Directory {
    private let fileSystem: SimulatedFileSystem
    private let inode: Int
    private let path: String

    init(_ fileSystem: SimulatedFileSystem, inode: Int, path: String) {
        self.fileSystem = fileSystem
        self.inode = inode
        self.path = path
    }

    func list() throws(Errno) -> [String] {
        try fileSystem.state.withLock { state throws(Errno) in
            try state.enter(.list, path)
            return state.disk.tree.names(inDirectory: inode)
        }
    }

    func attributes(of name: String) throws(Errno) -> FileAttributes? {
        try fileSystem.state.withLock { state throws(Errno) in
            try state.enter(.attributes, path(name))
            return state.disk.tree.inode(at: entry(name)).map { state.attributes($0, fileSystem.device) }
        }
    }

    func open(_ name: String, _ mode: FileOpenMode) throws(Errno) -> any File {
        let found = try fileSystem.state.withLock { state throws(Errno) -> Int in
            try state.enter(.open, path(name))
            return try state.openInode(entry(name), path(name), mode)
        }
        return SimulatedFile(fileSystem, inode: found, path: path(name), isWritable: mode != .read)
    }

    func rename(_ source: String, to target: String) throws(Errno) {
        try fileSystem.state.withLock { state throws(Errno) in
            try state.enter(.rename, path(source))
            guard let move = try state.disk.tree.move(entry(source), to: entry(target)) else { return }
            state.record(.rename, path(source) + " -> " + path(target), .rename(move))
        }
    }

    func sharedPage(_ name: String, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        try fileSystem.sharedPage(at: entry(name), mode)
    }

    func unlink(_ name: String) throws(Errno) {
        try fileSystem.state.withLock { state throws(Errno) in
            try state.enter(.unlink, path(name))
            guard let found = state.disk.tree.inode(at: entry(name)) else { throw .noSuchFileOrDirectory }
            guard !state.disk.tree.isDirectory(found) else { throw .isDirectory }
            state.record(.unlink, path(name), .unlink(inode: found, entry(name)))
        }
    }

    func sync() throws(Errno) {
        try fileSystem.state.withLock { state throws(Errno) in try state.flushDirectory(inode, path) }
    }

    func identity() throws(Errno) -> FileIdentity {
        FileIdentity(device: fileSystem.device, inode: UInt64(inode))
    }

    private func entry(_ name: String) -> DirectoryTree.Entry { .init(directory: inode, name: name) }

    private func path(_ name: String) -> String { path + "/" + name }
}
