public import StrataIO
internal import Synchronization
public import SystemPackage

/// A file system in memory that crashes, tears, refuses and lies on demand, and always the same way for the same seed.
///
/// **Persistence model.** Each file and each directory has two images: the *volatile* one, which every call sees, and
/// the *durable* one, which is what the device holds. Changes go to the volatile image at once and wait there:
///
/// - *Data* becomes durable with ``File/syncData()`` or ``File/sync()`` of its file, in whole sectors of 512 bytes.
/// - *Length* (of a file that grew, was cut or had space reserved) becomes durable with the same calls. Until then it
///   is independent of the data: after a crash the file may be longer than its data or shorter.
/// - *Names* (creations, renames, removals) become durable with ``syncDirectory(_:)`` of their directory, a rename
///   between two directories with both. Flushing a file does not make its name durable. A rename is atomic.
///
/// A crash keeps everything durable and, of the rest, what a ``CrashPolicy`` and a seed choose. Every sector that was
/// written several times without a flush may end at any of its versions, however the others end. Space that was never
/// written reads as zeros, except under ``CrashPolicy/evil``.
///
/// **Operations and calls.** An *operation* is a call that changed an image: a creation, rename, removal, write, change
/// of length, reservation, or flush. Operations are recorded in ``trace``, from which the disk can be built as a crash
/// after any of them would leave it, without running the workload again. A *call* is any call of the protocol; faults
/// (``inject(_:)``) count calls.
///
/// Mappings are copies: they do not show what is written after they were made.
///
/// Safe to use from any thread; calls wait for each other.
public final class SimulatedFileSystem: FileSystem {
    struct State: Sendable {
        var disk: SimulatedDisk
        /// The disk before the first operation.
        let base: SimulatedDisk
        var operations: [Operation] = []
        var marks: [Mark] = []
        var isOff = false
        var crashOperation: Int?
        var faults: [ArmedFault] = []
        var firedFaultCount = 0
        var callCounts = [Int](repeating: 0, count: Call.allCases.count)
        var locks: [Int: ObjectIdentifier] = [:]
        var openCounts: [Int: Int] = [:]
        /// Whether two names can be swapped in one step.
        var canExchange = true

        init(disk: SimulatedDisk) {
            self.disk = disk
            base = disk
        }
    }

    private static let instanceCount = Atomic<UInt64>(1 << 32)

    let device = SimulatedFileSystem.instanceCount.add(1, ordering: .relaxed).newValue
    let state: Mutex<State>
    /// Memory that processes share, by the place of its file. Not on the disk: it outlives processes, not the machine.
    private let pages: Mutex<[DirectoryTree.Entry: SharedPage]>

    /// An empty file system: a root directory and nothing in it.
    public convenience init() {
        self.init(disk: SimulatedDisk())
    }

    init(disk: SimulatedDisk, pages: [DirectoryTree.Entry: SharedPage] = [:]) {
        state = Mutex(State(disk: disk))
        self.pages = Mutex(pages)
    }

    /// Copies of the shared memory, as other processes find it later.
    var copiedPages: [DirectoryTree.Entry: SharedPage] {
        pages.withLock { pages in pages.mapValues { SharedPage(name: $0.name, copying: $0) } }
    }

    /// Not counted as a call: no disk is asked.
    public func sharedPage(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        guard !isOff else { throw .ioError }
        let entry = try state.withLock { state throws(Errno) in try state.disk.tree.entry(of: path) }
        return try sharedPage(at: entry, mode)
    }

    func sharedPage(at entry: DirectoryTree.Entry, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        guard !isOff else { throw .ioError }
        return try pages.withLock { pages throws(Errno) in
            if let page = pages[entry] { return page }
            guard mode == .create || mode == .createIfMissing else { throw .noSuchFileOrDirectory }
            let page = SharedPage(name: device)
            pages[entry] = page
            return page
        }
    }

    /// As ``FileSystem/open(_:_:)``.
    public func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        let inode = try state.withLock { state throws(Errno) -> Int in
            try state.enter(.open, path.text)
            return try state.openInode(try state.disk.tree.entry(of: path), path.text, mode)
        }
        return SimulatedFile(self, inode: inode, path: path.text, isWritable: mode != .read)
    }

    /// As ``FileSystem/createDirectory(_:)``: durable with the next ``syncDirectory(_:)`` of the directory above.
    public func createDirectory(_ path: FilePath) throws(Errno) {
        try state.withLock { state throws(Errno) in
            try state.enter(.createDirectory, path.text)
            let entry = try state.disk.tree.entryForDirectory(path)
            state.record(
                .createDirectory, path.text, .createDirectory(inode: state.disk.nextInode, entry))
        }
    }

    /// As ``FileSystem/list(_:)``.
    public func list(_ directory: FilePath) throws(Errno) -> [String] {
        try state.withLock { state throws(Errno) in
            try state.enter(.list, directory.text)
            return try state.disk.tree.names(in: directory)
        }
    }

    /// As ``FileSystem/rename(_:to:)``: durable with the next ``syncDirectory(_:)``.
    public func rename(_ source: FilePath, to target: FilePath) throws(Errno) {
        try state.withLock { state throws(Errno) in
            try state.enter(.rename, source.text)
            guard let move = try state.disk.tree.move(source, to: target) else { return }
            state.record(.rename, source.text + " -> " + target.text, .rename(move))
        }
    }

    /// As ``FileSystem/unlink(_:)``: durable with the next ``syncDirectory(_:)``.
    public func unlink(_ path: FilePath) throws(Errno) {
        try state.withLock { state throws(Errno) in
            try state.enter(.unlink, path.text)
            let (entry, inode) = try state.disk.tree.entryForUnlink(path)
            state.record(.unlink, path.text, .unlink(inode: inode, entry))
        }
    }

    /// As ``FileSystem/removeDirectory(_:)``: durable with the next ``syncDirectory(_:)`` of the directory above.
    public func removeDirectory(_ path: FilePath) throws(Errno) {
        try state.withLock { state throws(Errno) in
            try state.enter(.removeDirectory, path.text)
            let (entry, inode) = try state.disk.tree.entryForRemoval(path)
            state.record(.removeDirectory, path.text, .removeDirectory(inode: inode, entry))
        }
    }

    /// As ``FileSystem/syncDirectory(_:)``.
    public func syncDirectory(_ path: FilePath) throws(Errno) {
        try state.withLock { state throws(Errno) in
            let inode = try? state.disk.tree.lookup(path)
            try state.flushDirectory(inode, path.text)
        }
    }

    /// As ``FileSystem/attributes(_:)``.
    public func attributes(_ path: FilePath) throws(Errno) -> FileAttributes? {
        try state.withLock { state throws(Errno) in
            try state.enter(.attributes, path.text)
            return try state.find(path).map { state.attributes($0, device) }
        }
    }

    /// As ``attributes(_:)``: there are no symbolic links here.
    public func linkAttributes(_ path: FilePath) throws(Errno) -> FileAttributes? { try attributes(path) }

    /// As ``FileSystem/exchange(_:with:)``; a crash leaves both names swapped or neither.
    public func exchange(_ first: FilePath, with second: FilePath) throws(Errno) {
        try state.withLock { state throws(Errno) in
            try state.enter(.exchange, first.text)
            guard state.canExchange else { throw .notSupported }
            guard let swap = try state.disk.tree.swap(first, with: second) else { return }
            state.record(.exchange, first.text + " <-> " + second.text, .exchange(swap))
        }
    }

    /// Makes ``exchange(_:with:)`` throw `.notSupported` from now on, as on systems that have no such call.
    public func refuseExchange() {
        state.withLock { $0.canExchange = false }
    }

    /// As ``FileSystem/openDirectory(_:)``.
    public func openDirectory(_ path: FilePath) throws(Errno) -> any Directory {
        let inode = try state.withLock { state throws(Errno) in
            try state.enter(.openDirectory, path.text)
            let inode = try state.disk.tree.lookup(path)
            guard state.disk.tree.isDirectory(inode) else { throw .notDirectory }
            return inode
        }
        return SimulatedDirectory(self, inode: inode, path: path.text)
    }

    /// The absolute path without `.` and `..`; there are no symbolic links here.
    public func resolve(_ path: FilePath) throws(Errno) -> FilePath {
        try state.withLock { state throws(Errno) in
            try state.enter(.resolve, path.text)
            return try state.disk.tree.resolve(path)
        }
    }
}

extension SimulatedFileSystem.State {
    /// Counts a call and lets faults strike.
    ///
    /// - Parameter defersErrors: The caller carries a failure out itself, since a failing flush changes the disk.
    /// - Returns: A fault that changes what the call does, nil when none applies.
    /// - Throws: `.ioError` when the machine is off, and what a fault says.
    @discardableResult
    mutating func enter(
        _ call: SimulatedFileSystem.Call, _ path: String, defersErrors: Bool = false
    ) throws(Errno) -> SimulatedFileSystem.Fault? {
        guard !isOff else { throw .ioError }
        callCounts[call.rawValue] += 1
        guard let fault = strike(call, path) else { return nil }
        if case .fail(let error) = fault.effect, !defersErrors { throw error }
        return fault
    }

    mutating func record(
        _ call: SimulatedFileSystem.Call, _ path: String, _ change: SimulatedDisk.Change, failed: Errno? = nil
    ) {
        let openCounts = openCounts
        disk.apply(change, openInodes: { openCounts[$0] != nil })
        operations.append(SimulatedFileSystem.Operation(call: call, path: path, failure: failed, change: change))
        if operations.count == crashOperation {
            isOff = true
        }
    }

    /// What a path refers to, or nil when nothing is there.
    func find(_ path: FilePath) throws(Errno) -> Int? {
        // Most of what is looked for and is not there lies in a directory that is: nothing is thrown for it then, which
        // takes long in tests, since they keep a backtrace of each error.
        if let entry = try? disk.tree.entry(of: path) { return disk.tree.inode(at: entry) }
        return try disk.tree.find(path)
    }

    func attributes(_ inode: Int, _ device: UInt64) -> FileAttributes {
        let content = disk.files[inode]?.volatile
        return FileAttributes(
            kind: content == nil ? .directory : .regular,
            byteCount: Int64(content?.byteCount ?? 0),
            allocatedByteCount: Int64(content?.allocatedByteCount ?? 0),
            device: device,
            inode: UInt64(inode))
    }

    /// - Parameter inode: nil when there is nothing at the path.
    mutating func flushDirectory(_ inode: Int?, _ path: String) throws(Errno) {
        let fault = try enter(.syncDirectory, path, defersErrors: true)
        guard let inode else { throw .noSuchFileOrDirectory }
        guard disk.tree.isDirectory(inode) else { throw .notDirectory }
        if let fault, case .fail(let error) = fault.effect {
            record(.syncDirectory, path, .failedDirectorySync(inode: inode, fault.flushLoss), failed: error)
            throw error
        }
        record(.syncDirectory, path, .syncDirectory(inode: inode))
    }

    mutating func openInode(
        _ entry: DirectoryTree.Entry, _ path: String, _ mode: FileOpenMode
    ) throws(Errno) -> Int {
        let inode: Int
        if let found = disk.tree.inode(at: entry) {
            guard mode != .create else { throw .fileExists }
            guard !disk.tree.isDirectory(found) else { throw .isDirectory }
            inode = found
        } else {
            // A directory that has lost its name takes no more names.
            guard mode == .create || mode == .createIfMissing, disk.tree.isLinked(entry.directory) else {
                throw .noSuchFileOrDirectory
            }
            inode = disk.nextInode
            record(.open, path, .create(inode: inode, entry))
        }
        openCounts[inode, default: 0] += 1
        return inode
    }

    mutating func close(_ inode: Int, _ owner: ObjectIdentifier) {
        if locks[inode] == owner {
            locks[inode] = nil
        }
        guard let count = openCounts[inode] else { return }
        openCounts[inode] = count > 1 ? count - 1 : nil
        if count == 1 {
            disk.dropUnreachable(inode)
        }
    }
}
