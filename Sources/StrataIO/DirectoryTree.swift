package import SystemPackage

/// The names of a file system that lives in memory: which directory holds which names, and what they refer to.
///
/// Files and directories are numbers (inodes) here; what is in a file is the owner's business. The rules and errors are
/// those of POSIX. Relative paths start at the root. A value type: copies share storage until one of them changes.
package struct DirectoryTree: Sendable {
    /// The root directory's number.
    package static let root = 1

    /// The longest name, in bytes, as on most file systems.
    package static let nameMaximumByteCount = 255

    /// Each directory's names. A number is a directory's exactly if it is a key here; directories without a name (not
    /// linked yet, or removed) may be here too.
    package private(set) var directories: [Int: [String: Int]] = [root: [:]]

    /// A name in a directory.
    package struct Place: Hashable, Sendable {
        package var directory: Int
        package var name: String

        package init(directory: Int, name: String) {
            self.directory = directory
            self.name = name
        }
    }

    /// What a rename will do.
    package struct Move: Sendable {
        package var inode: Int
        package var source: Place
        package var target: Place
        /// What had the target's name before.
        package var replaced: Int?
    }

    /// A tree with an empty root.
    package init() {}

    package func isDirectory(_ inode: Int) -> Bool {
        directories[inode] != nil
    }

    package func inode(at place: Place) -> Int? {
        directories[place.directory]?[place.name]
    }

    /// What a path refers to.
    package func lookup(_ path: FilePath) throws(Errno) -> Int {
        guard !path.isEmpty else { throw .noSuchFileOrDirectory }
        return try walk(path.components)
    }

    /// What a path refers to, or nil when nothing is there.
    package func find(_ path: FilePath) throws(Errno) -> Int? {
        do throws(Errno) {
            return try lookup(path)
        } catch .noSuchFileOrDirectory {
            return nil
        } catch .notDirectory {
            return nil
        }
    }

    /// The directory and name a path stands for, whether or not something has that name.
    package func place(of path: FilePath) throws(Errno) -> Place {
        guard !path.isEmpty else { throw .noSuchFileOrDirectory }
        guard let last = path.lastComponent, last.kind == .regular else { throw .isDirectory }
        let directory = try walk(path.components.dropLast())
        guard isDirectory(directory) else { throw .notDirectory }
        let name = last.string
        guard name.utf8.count <= Self.nameMaximumByteCount else { throw .fileNameTooLong }
        return Place(directory: directory, name: name)
    }

    /// The names in a directory, sorted.
    package func names(in path: FilePath) throws(Errno) -> [String] {
        guard let entries = directories[try lookup(path)] else { throw .notDirectory }
        return entries.keys.sorted()
    }

    /// The path with `.` and `..` taken out; everything on the way must exist.
    package func resolve(_ path: FilePath) throws(Errno) -> FilePath {
        _ = try lookup(path)
        return FilePath("/").appending(path.components).lexicallyNormalized()
    }

    /// The place of a directory about to be made.
    package func placeForDirectory(_ path: FilePath) throws(Errno) -> Place {
        if path.lastComponent == nil && !path.isEmpty { throw .fileExists }
        let place = try place(of: path)
        guard inode(at: place) == nil else { throw .fileExists }
        return place
    }

    /// The place and inode of a file about to be unlinked.
    package func placeForUnlink(_ path: FilePath) throws(Errno) -> (place: Place, inode: Int) {
        let place = try place(of: path)
        guard let inode = inode(at: place) else { throw .noSuchFileOrDirectory }
        guard !isDirectory(inode) else { throw .isDirectory }
        return (place, inode)
    }

    /// The place and inode of a directory about to be removed.
    package func placeForRemoval(_ path: FilePath) throws(Errno) -> (place: Place, inode: Int) {
        let place = try place(of: path)
        guard let inode = inode(at: place) else { throw .noSuchFileOrDirectory }
        guard let entries = directories[inode] else { throw .notDirectory }
        guard entries.isEmpty else { throw .directoryNotEmpty }
        return (place, inode)
    }

    /// What renaming would do; nil when source and target are the same thing, so that there is nothing to do.
    package func move(_ source: FilePath, to target: FilePath) throws(Errno) -> Move? {
        let sourcePlace = try place(of: source)
        let targetPlace = try place(of: target)
        guard let inode = inode(at: sourcePlace) else { throw .noSuchFileOrDirectory }
        let replaced = self.inode(at: targetPlace)
        if replaced == inode { return nil }
        if isDirectory(inode) {
            guard !contains(inode, targetPlace.directory) else { throw .invalidArgument }
            if let replaced {
                guard let entries = directories[replaced] else { throw .notDirectory }
                guard entries.isEmpty else { throw .directoryNotEmpty }
            }
        } else if let replaced, isDirectory(replaced) {
            throw .isDirectory
        }
        return Move(inode: inode, source: sourcePlace, target: targetPlace, replaced: replaced)
    }

    /// Gives a name to an inode, taking it from whatever had it.
    package mutating func link(_ inode: Int, at place: Place) {
        directories[place.directory, default: [:]][place.name] = inode
    }

    /// Takes a name away if it refers to `inode`.
    package mutating func unlink(_ inode: Int, at place: Place) {
        guard directories[place.directory]?[place.name] == inode else { return }
        directories[place.directory]?[place.name] = nil
    }

    /// Makes `inode` an empty directory, which has no name yet.
    package mutating func addDirectory(_ inode: Int) {
        directories[inode] = [:]
    }

    /// Forgets a directory that has no name any more.
    package mutating func dropDirectory(_ inode: Int) {
        directories[inode] = nil
    }

    private func walk(_ components: some Sequence<FilePath.Component>) throws(Errno) -> Int {
        var inodes = [Self.root]
        for component in components {
            guard let current = inodes.last, let entries = directories[current] else { throw .notDirectory }
            switch component.kind {
            case .currentDirectory:
                continue
            case .parentDirectory:
                if inodes.count > 1 { inodes.removeLast() }
            case .regular:
                guard let inode = entries[component.string] else { throw .noSuchFileOrDirectory }
                inodes.append(inode)
            }
        }
        return inodes[inodes.count - 1]
    }

    /// Whether `inode` is `ancestor` or lies somewhere under it.
    private func contains(_ ancestor: Int, _ inode: Int) -> Bool {
        if ancestor == inode { return true }
        guard let entries = directories[ancestor] else { return false }
        return entries.values.contains { isDirectory($0) && contains($0, inode) }
    }
}
