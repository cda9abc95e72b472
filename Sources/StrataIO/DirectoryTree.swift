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
    package struct Entry: Hashable, Sendable {
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
        package var source: Entry
        package var target: Entry
        /// What had the target's name before.
        package var replaced: Int?
    }

    /// What an exchange will do.
    package struct Swap: Sendable {
        package var inode: Int
        package var entry: Entry
        package var other: Int
        package var otherEntry: Entry
    }

    /// A tree with an empty root.
    package init() {}

    package func isDirectory(_ inode: Int) -> Bool {
        directories[inode] != nil
    }

    /// Whether a directory has a name, or is the root. Complexity: O(number of names).
    package func isLinked(_ directory: Int) -> Bool {
        directory == Self.root || directories.values.contains { $0.values.contains(directory) }
    }

    package func inode(at entry: Entry) -> Int? {
        directories[entry.directory]?[entry.name]
    }

    /// What a path refers to.
    package func lookup(_ path: FilePath) throws(Errno) -> Int {
        guard !path.isEmpty else { throw .noSuchFileOrDirectory }
        return try walk(path.parts[...]).inode
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
    package func entry(of path: FilePath) throws(Errno) -> Entry {
        guard !path.isEmpty else { throw .noSuchFileOrDirectory }
        let parts = path.parts
        guard let name = parts.last, name != ".", name != ".." else { throw .isDirectory }
        let directory = try walk(parts.dropLast()).inode
        guard isDirectory(directory) else { throw .notDirectory }
        guard name.utf8.count <= Self.nameMaximumByteCount else { throw .fileNameTooLong }
        return Entry(directory: directory, name: name)
    }

    /// The names in a directory, sorted.
    package func names(in path: FilePath) throws(Errno) -> [String] {
        guard let entries = directories[try lookup(path)] else { throw .notDirectory }
        return entries.keys.sorted()
    }

    /// The path with `.` and `..` taken out; everything on the way must exist.
    package func resolve(_ path: FilePath) throws(Errno) -> FilePath {
        guard !path.isEmpty else { throw .noSuchFileOrDirectory }
        return FilePath("/" + (try walk(path.parts[...])).names.joined(separator: "/"))
    }

    /// The place of a directory about to be made.
    package func entryForDirectory(_ path: FilePath) throws(Errno) -> Entry {
        if !path.isEmpty && path.parts.isEmpty { throw .fileExists }
        let entry = try self.entry(of: path)
        guard inode(at: entry) == nil else { throw .fileExists }
        return entry
    }

    /// The place and inode of a file about to be unlinked.
    package func entryForUnlink(_ path: FilePath) throws(Errno) -> (entry: Entry, inode: Int) {
        let entry = try self.entry(of: path)
        guard let inode = inode(at: entry) else { throw .noSuchFileOrDirectory }
        guard !isDirectory(inode) else { throw .isDirectory }
        return (entry, inode)
    }

    /// The place and inode of a directory about to be removed.
    package func entryForRemoval(_ path: FilePath) throws(Errno) -> (entry: Entry, inode: Int) {
        let entry = try self.entry(of: path)
        guard let inode = inode(at: entry) else { throw .noSuchFileOrDirectory }
        guard let entries = directories[inode] else { throw .notDirectory }
        guard entries.isEmpty else { throw .directoryNotEmpty }
        return (entry, inode)
    }

    /// What renaming would do; nil when source and target are the same thing, so that there is nothing to do.
    package func move(_ source: FilePath, to target: FilePath) throws(Errno) -> Move? {
        try move(try entry(of: source), to: try entry(of: target))
    }

    /// As ``move(_:to:)``, of names in directories that are open.
    package func move(_ sourceEntry: Entry, to targetEntry: Entry) throws(Errno) -> Move? {
        guard let inode = inode(at: sourceEntry) else { throw .noSuchFileOrDirectory }
        let replaced = self.inode(at: targetEntry)
        if replaced == inode { return nil }
        if isDirectory(inode) {
            guard !contains(inode, targetEntry.directory) else { throw .invalidArgument }
            if let replaced {
                guard let entries = directories[replaced] else { throw .notDirectory }
                guard entries.isEmpty else { throw .directoryNotEmpty }
            }
        } else if let replaced, isDirectory(replaced) {
            throw .isDirectory
        }
        return Move(inode: inode, source: sourceEntry, target: targetEntry, replaced: replaced)
    }

    /// The names in a directory that is open, sorted.
    package func names(inDirectory directory: Int) -> [String] {
        (directories[directory] ?? [:]).keys.sorted()
    }

    /// The two places whose names an exchange swaps; nil when both refer to the same thing.
    package func swap(_ first: FilePath, with second: FilePath) throws(Errno) -> Swap? {
        let firstEntry = try entry(of: first)
        let secondEntry = try entry(of: second)
        guard let inode = inode(at: firstEntry), let other = self.inode(at: secondEntry) else {
            throw .noSuchFileOrDirectory
        }
        guard inode != other else { return nil }
        guard !contains(inode, secondEntry.directory), !contains(other, firstEntry.directory) else {
            throw .invalidArgument
        }
        return Swap(inode: inode, entry: firstEntry, other: other, otherEntry: secondEntry)
    }

    /// Gives a name to an inode, taking it from whatever had it.
    package mutating func link(_ inode: Int, at entry: Entry) {
        directories[entry.directory, default: [:]][entry.name] = inode
    }

    /// Takes a name away if it refers to `inode`.
    package mutating func unlink(_ inode: Int, at entry: Entry) {
        guard directories[entry.directory]?[entry.name] == inode else { return }
        directories[entry.directory]?[entry.name] = nil
    }

    /// Makes `inode` an empty directory, which has no name yet.
    package mutating func addDirectory(_ inode: Int) {
        directories[inode] = [:]
    }

    /// Forgets a directory that has no name any more.
    package mutating func dropDirectory(_ inode: Int) {
        directories[inode] = nil
    }

    /// Follows the parts of a path from the root; the names are those on the way, without `.` and `..`.
    private func walk(_ parts: ArraySlice<String>) throws(Errno) -> (inode: Int, names: [String]) {
        var inodes = [Self.root]
        var names: [String] = []
        for part in parts {
            guard let entries = directories[inodes[inodes.count - 1]] else { throw .notDirectory }
            if part == "." { continue }
            if part == ".." {
                if inodes.count > 1 {
                    inodes.removeLast()
                    names.removeLast()
                }
                continue
            }
            guard let inode = entries[part] else { throw .noSuchFileOrDirectory }
            inodes.append(inode)
            names.append(part)
        }
        return (inodes[inodes.count - 1], names)
    }

    /// Whether `inode` is `ancestor` or lies somewhere under it.
    private func contains(_ ancestor: Int, _ inode: Int) -> Bool {
        if ancestor == inode { return true }
        guard let entries = directories[ancestor] else { return false }
        return entries.values.contains { isDirectory($0) && contains($0, inode) }
    }
}

// FilePath's own components and string cost some hundred microseconds a path in debug builds, which is more than all
// the rest of a call on files in memory; crash sweeps make millions of them.
extension FilePath {
    /// The path as a string.
    package var text: String {
        withPlatformString { String(cString: $0) }
    }

    /// The names between the slashes, `.` and `..` among them.
    fileprivate var parts: [String] {
        withPlatformString { path in
            var parts: [String] = []
            var start = path
            while start.pointee != 0 {
                var end = start
                while end.pointee != 0, end.pointee != 0x2F {
                    end += 1
                }
                if end > start {
                    // `start..<end` lies within the NUL-terminated path.
                    let bytes = UnsafeRawBufferPointer(start: start, count: end - start)
                    parts.append(String(decoding: bytes, as: UTF8.self))
                }
                start = end.pointee == 0 ? end : end + 1
            }
            return parts
        }
    }
}
