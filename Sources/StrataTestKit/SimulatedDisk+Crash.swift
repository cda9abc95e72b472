internal import StrataIO

extension SimulatedDisk {
    /// The disk as the next start of the machine (or, for `.killed`, of the process) finds it.
    ///
    /// Complexity: O(number of files and names + bytes not flushed).
    func crashed(_ policy: SimulatedFileSystem.CrashPolicy, seed: UInt64) -> SimulatedDisk {
        guard policy != .killed else { return afterKill() }
        guard hasUnsyncedChanges else { return SimulatedDisk.atRest(durableTree, files, nextInode) { $1.durable } }
        var generator = SeededGenerator(seed: seed)
        let crashedTree = crashedTree(policy, &generator)
        // Half of the images treat all files alike, so that "nothing of the last step" is met often enough.
        let commonSeed = generator.chance(0.5) ? generator.next() : nil
        // Only what has a name: which nameless files still exist depends on who has them open.
        let donors = Set([tree, durableTree].flatMap { $0.directories.values.flatMap(\.values) }).sorted()
        return SimulatedDisk.atRest(crashedTree, files, nextInode) { inode, content in
            var own = SeededGenerator(seed: seed, stream: UInt64(inode))
            let retention: Retention
            if let commonSeed {
                var common = SeededGenerator(seed: commonSeed)
                retention = Retention(count: content.pending.count, &common)
            } else {
                retention = Retention(count: content.pending.count, &own)
            }
            let donor = donors.isEmpty ? nil : files[donors[own.below(donors.count)]]
            return content.crashed(policy, retention, &own, stale: donor?.volatile)
        }
    }

    /// Names and files that can be reached from the root, nothing pending.
    private static func atRest(
        _ tree: DirectoryTree, _ files: [Int: SimulatedContent], _ nextInode: Int,
        _ content: (Int, SimulatedContent) -> SparseBytes
    ) -> SimulatedDisk {
        var pruned = DirectoryTree()
        var contents: [Int: SparseBytes] = [:]
        var waiting = [DirectoryTree.root]
        while let directory = waiting.popLast() {
            for (name, inode) in tree.directories[directory] ?? [:] {
                pruned.link(inode, at: DirectoryTree.Entry(directory: directory, name: name))
                if tree.isDirectory(inode) {
                    pruned.addDirectory(inode)
                    waiting.append(inode)
                } else if let file = files[inode] {
                    contents[inode] = content(inode, file)
                }
            }
        }
        return SimulatedDisk(tree: pruned, contents: contents, nextInode: nextInode)
    }

    /// Page cache and device stay as they are; what only open files reached is gone.
    private func afterKill() -> SimulatedDisk {
        var disk = self
        disk.dropAllUnreachable()
        return disk
    }

    private func crashedTree(
        _ policy: SimulatedFileSystem.CrashPolicy, _ generator: inout SeededGenerator
    ) -> DirectoryTree {
        var tree = durableTree
        for names in keptNames(policy, &generator) {
            if names.target == nil, let entries = tree.directories[names.inode], !entries.isEmpty {
                // The removal of a directory whose contents are still there cannot have happened.
                continue
            }
            if let source = names.source, let target = names.target {
                // A rename moves the file from wherever the changes kept so far have left it.
                for (directory, entries) in tree.directories {
                    for (name, inode) in entries where inode == names.inode || inode == names.exchanged {
                        tree.unlink(inode, at: DirectoryTree.Entry(directory: directory, name: name))
                    }
                }
                tree.link(names.inode, at: target)
                if let exchanged = names.exchanged { tree.link(exchanged, at: source) }
            } else {
                names.apply(to: &tree)
            }
        }
        return tree
    }

    private func keptNames(
        _ policy: SimulatedFileSystem.CrashPolicy, _ generator: inout SeededGenerator
    ) -> [PendingNames] {
        let count = pendingNames.count
        switch policy {
        case .killed:
            return pendingNames
        case .ordered:
            let forced = pendingNames.prefix { $0.sequence < durableSequence }.count
            return Array(pendingNames.prefix(forced + generator.below(count - forced + 1)))
        case .strict:
            let retention = Retention(count: count, &generator)
            return pendingNames.enumerated().compactMap { index, names in
                (retention.whole(index) ?? retention.part(&generator)) ? names : nil
            }
        case .evil:
            let losing = [1, 1, 0.9, 0.5][generator.below(4)]
            let removing = generator.chance(0.5) ? 1 : 0.5
            return pendingNames.filter { names in
                names.target == nil ? generator.chance(removing) : !generator.chance(losing)
            }
        }
    }
}
