internal import StrataIO

/// A device and the page cache over it: two images of each file and each directory. A value; copies share storage.
struct SimulatedDisk: Sendable {
    /// An operation that changes one of the images.
    enum Change: Sendable {
        case create(inode: Int, DirectoryTree.Entry)
        case createDirectory(inode: Int, DirectoryTree.Entry)
        case rename(DirectoryTree.Move)
        case exchange(DirectoryTree.Swap)
        case unlink(inode: Int, DirectoryTree.Entry)
        case removeDirectory(inode: Int, DirectoryTree.Entry)
        case write(inode: Int, offset: Int, bytes: [UInt8])
        case truncate(inode: Int, byteCount: Int)
        case preallocate(inode: Int, end: Int)
        case sync(inode: Int)
        case failedSync(inode: Int, SimulatedFileSystem.Fault.FlushLoss)
        case syncDirectory(inode: Int)
        case failedDirectorySync(inode: Int, SimulatedFileSystem.Fault.FlushLoss)
        case corrupt(inode: Int, SimulatedFileSystem.Corruption)
    }

    /// A change of names that is not durable yet.
    struct PendingNames: Sendable {
        var sequence: Int
        var inode: Int
        var source: DirectoryTree.Entry?
        var target: DirectoryTree.Entry?
        /// What lost its name to the target.
        var replaced: Int?
        /// What goes from the target to the source in the same step.
        var exchanged: Int?
        /// The directories whose flush it still waits for.
        var directories: [Int]

        func apply(to tree: inout DirectoryTree) {
            if let source { tree.unlink(inode, at: source) }
            if let target { tree.link(inode, at: target) }
            if let exchanged, let source { tree.link(exchanged, at: source) }
        }
    }

    private(set) var tree = DirectoryTree()
    private(set) var durableTree = DirectoryTree()
    private(set) var files: [Int: SimulatedContent] = [:]
    private(set) var pendingNames: [PendingNames] = []
    /// The newest change of names that a flush made durable; a journal has then written all before it, too.
    private(set) var durableSequence = 0
    private var nextSequence = 1
    private(set) var nextInode = DirectoryTree.root + 1

    /// An empty disk.
    init() {}

    /// A disk at rest.
    init(tree: DirectoryTree, contents: [Int: SparseBytes], nextInode: Int) {
        self.tree = tree
        durableTree = tree
        files = contents.mapValues { SimulatedContent(durable: $0) }
        self.nextInode = nextInode
    }

    var hasUnsyncedChanges: Bool {
        !pendingNames.isEmpty || files.values.contains { !$0.pending.isEmpty }
    }

    /// Carries out an operation.
    ///
    /// - Parameter openInodes: Files that stay although they have no name any more.
    mutating func apply(_ change: Change, openInodes: (Int) -> Bool = { _ in false }) {
        switch change {
        case .create(let inode, let entry):
            files[inode] = SimulatedContent()
            nextInode = inode + 1
            addNames(inode, from: nil, to: entry)
        case .createDirectory(let inode, let entry):
            tree.addDirectory(inode)
            durableTree.addDirectory(inode)
            nextInode = inode + 1
            addNames(inode, from: nil, to: entry)
        case .rename(let move):
            addNames(move.inode, from: move.source, to: move.target, replacing: move.replaced)
        case .exchange(let swap):
            addNames(swap.inode, from: swap.entry, to: swap.otherEntry, exchanging: swap.other)
        case .unlink(let inode, let entry), .removeDirectory(let inode, let entry):
            addNames(inode, from: entry, to: nil)
        case .write(let inode, let offset, let bytes):
            files[inode]?.write(bytes, at: offset)
        case .truncate(let inode, let byteCount):
            files[inode]?.truncate(to: byteCount)
        case .preallocate(let inode, let end):
            files[inode]?.preallocate(to: end)
        case .sync(let inode):
            files[inode]?.sync()
        case .failedSync(let inode, let loss):
            files[inode]?.failSync(loss)
        case .syncDirectory(let inode):
            syncDirectory(inode, openInodes: openInodes)
        case .failedDirectorySync(let inode, let loss):
            failDirectorySync(inode, loss)
        case .corrupt(let inode, let corruption):
            files[inode]?.corrupt(corruption)
        }
    }

    /// Forgets a file if nothing can reach it: no name in either image, and none on the way.
    ///
    /// Complexity: O(number of names).
    mutating func dropUnreachable(_ inode: Int) {
        guard files[inode] != nil else { return }
        let isNamed = { (tree: DirectoryTree) in tree.directories.values.contains { $0.values.contains(inode) } }
        guard !isNamed(tree), !isNamed(durableTree) else { return }
        guard !pendingNames.contains(where: { $0.inode == inode || $0.replaced == inode }) else { return }
        files[inode] = nil
    }

    /// As ``dropUnreachable(_:)`` for all files. Complexity: O(number of files and names).
    mutating func dropAllUnreachable() {
        var named = Set(pendingNames.flatMap { [$0.inode, $0.replaced ?? $0.inode] })
        for entries in [tree, durableTree].flatMap(\.directories.values) {
            named.formUnion(entries.values)
        }
        for inode in files.keys where !named.contains(inode) {
            files[inode] = nil
        }
    }

    private mutating func addNames(
        _ inode: Int, from source: DirectoryTree.Entry?, to target: DirectoryTree.Entry?,
        replacing replaced: Int? = nil, exchanging exchanged: Int? = nil
    ) {
        var directories = [source, target].compactMap { $0?.directory }
        if directories.count == 2, directories[0] == directories[1] { directories.removeLast() }
        let names = PendingNames(
            sequence: nextSequence, inode: inode, source: source, target: target, replaced: replaced,
            exchanged: exchanged, directories: directories)
        nextSequence += 1
        names.apply(to: &tree)
        pendingNames.append(names)
    }

    private mutating func syncDirectory(_ inode: Int, openInodes: (Int) -> Bool) {
        var waiting: [PendingNames] = []
        var done: [PendingNames] = []
        for var names in pendingNames {
            names.directories.removeAll { $0 == inode }
            if names.directories.isEmpty {
                names.apply(to: &durableTree)
                durableSequence = max(durableSequence, names.sequence)
                done.append(names)
            } else {
                waiting.append(names)
            }
        }
        pendingNames = waiting
        for names in done {
            for candidate in [names.target == nil ? names.inode : nil, names.replaced] {
                if let candidate, !openInodes(candidate) { dropUnreachable(candidate) }
            }
        }
    }

    private mutating func failDirectorySync(_ inode: Int, _ loss: SimulatedFileSystem.Fault.FlushLoss) {
        var generator: SeededGenerator
        switch loss {
        case .nothing: return
        case .everything: generator = SeededGenerator(seed: 0)
        case .some(let seed): generator = SeededGenerator(seed: seed)
        }
        var waiting: [PendingNames] = []
        for names in pendingNames {
            guard names.directories.contains(inode) else {
                waiting.append(names)
                continue
            }
            if loss != .everything, names.directories.count == 1, generator.chance(0.5) {
                names.apply(to: &durableTree)
            }
        }
        pendingNames = waiting
    }
}
