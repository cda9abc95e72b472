internal import Synchronization
public import SystemPackage

/// Files in memory, for in-memory stores.
///
/// Each instance is a tree of its own that starts with an empty root directory and goes when the instance and the files
/// opened from it are released. Nothing is durable; the sync calls do nothing. Any number of threads may read a file
/// while another appends to it. Space that was reserved or skipped costs no memory until it is written.
public final class MemoryFileSystem: FileSystem {
    struct State: Sendable {
        var tree = DirectoryTree()
        var files: [Int: MemoryInode] = [:]
        var nextInode = DirectoryTree.root + 1

        mutating func makeInode() -> Int {
            defer { nextInode += 1 }
            return nextInode
        }
    }

    private static let instanceCount = Atomic<UInt64>(0)

    /// Told apart from other instances by ``FileAttributes/device``.
    let device = MemoryFileSystem.instanceCount.add(1, ordering: .relaxed).newValue
    let state = Mutex(State())

    /// An empty file system.
    public init() {}

    /// True: there is no way to it but this instance.
    public var isPrivate: Bool { true }

    /// As ``FileSystem/open(_:_:)``.
    public func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        try state.withLock { state throws(Errno) in
            try open(try state.tree.entry(of: path), mode, &state)
        }
    }

    func open(_ entry: DirectoryTree.Entry, _ mode: FileOpenMode, _ state: inout State) throws(Errno) -> MemoryFile {
        if let inode = state.tree.inode(at: entry) {
            guard mode != .create else { throw .fileExists }
            guard let file = state.files[inode] else { throw .isDirectory }
            return MemoryFile(file, identity(inode), isWritable: mode != .read)
        }
        // One that was removed takes no more names.
        guard mode == .create || mode == .createIfMissing, state.tree.isDirectory(entry.directory) else {
            throw .noSuchFileOrDirectory
        }
        let inode = state.makeInode()
        let file = MemoryInode()
        state.files[inode] = file
        state.tree.link(inode, at: entry)
        return MemoryFile(file, identity(inode), isWritable: true)
    }

    func identity(_ inode: Int) -> FileIdentity { FileIdentity(device: device, inode: UInt64(inode)) }

    /// As ``FileSystem/createDirectory(_:)``.
    public func createDirectory(_ path: FilePath) throws(Errno) {
        try state.withLock { state throws(Errno) in
            let entry = try state.tree.entryForDirectory(path)
            let inode = state.makeInode()
            state.tree.addDirectory(inode)
            state.tree.link(inode, at: entry)
        }
    }

    /// As ``FileSystem/list(_:)``.
    public func list(_ directory: FilePath) throws(Errno) -> [String] {
        try state.withLock { state throws(Errno) in try state.tree.names(in: directory) }
    }

    /// Renames a file or a directory; what had the target's name is replaced if that is a file or an empty directory.
    public func rename(_ source: FilePath, to target: FilePath) throws(Errno) {
        try state.withLock { state throws(Errno) in
            guard let move = try state.tree.move(source, to: target) else { return }
            state.apply(move)
        }
    }

    /// Removes a file's name; files that are open keep working.
    public func unlink(_ path: FilePath) throws(Errno) {
        try state.withLock { state throws(Errno) in
            let (entry, inode) = try state.tree.entryForUnlink(path)
            state.tree.unlink(inode, at: entry)
            state.files[inode] = nil
        }
    }

    /// As ``FileSystem/removeDirectory(_:)``.
    public func removeDirectory(_ path: FilePath) throws(Errno) {
        try state.withLock { state throws(Errno) in
            let (entry, inode) = try state.tree.entryForRemoval(path)
            state.tree.unlink(inode, at: entry)
            state.tree.dropDirectory(inode)
        }
    }

    /// Checks that the directory exists; there is nothing to flush.
    public func syncDirectory(_ path: FilePath) throws(Errno) {
        try state.withLock { state throws(Errno) in
            guard state.tree.isDirectory(try state.tree.lookup(path)) else { throw .notDirectory }
        }
    }

    /// As ``FileSystem/attributes(_:)``.
    public func attributes(_ path: FilePath) throws(Errno) -> FileAttributes? {
        try state.withLock { state throws(Errno) in
            try state.tree.find(path).map { state.attributes($0, device) }
        }
    }

    /// As ``attributes(_:)``: there are no symbolic links here.
    public func linkAttributes(_ path: FilePath) throws(Errno) -> FileAttributes? { try attributes(path) }

    /// Swaps two files or directories.
    public func exchange(_ first: FilePath, with second: FilePath) throws(Errno) {
        try state.withLock { state throws(Errno) in
            guard let swap = try state.tree.swap(first, with: second) else { return }
            state.tree.link(swap.inode, at: swap.otherEntry)
            state.tree.link(swap.other, at: swap.entry)
        }
    }

    /// As ``FileSystem/openDirectory(_:)``.
    public func openDirectory(_ path: FilePath) throws(Errno) -> any Directory {
        let inode = try state.withLock { state throws(Errno) in try state.tree.lookup(path) }
        guard state.withLock({ $0.tree.isDirectory(inode) }) else { throw .notDirectory }
        return MemoryDirectory(self, inode: inode)
    }

    /// The absolute path without `.` and `..`; there are no symbolic links here.
    public func resolve(_ path: FilePath) throws(Errno) -> FilePath {
        try state.withLock { state throws(Errno) in try state.tree.resolve(path) }
    }
}

extension MemoryFileSystem.State {
    mutating func apply(_ move: DirectoryTree.Move) {
        tree.unlink(move.inode, at: move.source)
        tree.link(move.inode, at: move.target)
        if let replaced = move.replaced {
            files[replaced] = nil
            tree.dropDirectory(replaced)
        }
    }

    func attributes(_ inode: Int, _ device: UInt64) -> FileAttributes {
        let file = files[inode]
        return FileAttributes(
            kind: file == nil ? .directory : .regular,
            byteCount: Int64(file?.byteCount ?? 0),
            allocatedByteCount: Int64(file?.allocatedByteCount ?? 0),
            device: device,
            inode: UInt64(inode))
    }
}
