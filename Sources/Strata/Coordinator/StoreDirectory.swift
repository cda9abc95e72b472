import StrataIO
import StrataLog
import SystemPackage

/// The directory of a log store as a thing that is replaced and removed as a whole.
///
/// Everything goes through the file system's seam and is durable when it returns. A replacement is made under another
/// name. It counts once the old store has been renamed away; whoever opens the store next finishes what a crash
/// interrupted after that, and a crash before leaves the old store.
struct StoreDirectory {
    private let path: FilePath
    private let fileSystem: any FileSystem

    init(_ path: FilePath, _ fileSystem: any FileSystem) {
        self.path = path
        self.fileSystem = fileSystem
    }

    /// A copy that is being made.
    private var unfinished: FilePath { sibling("strata-copy") }
    /// A complete copy that is about to take the store's place.
    private var replacement: FilePath { sibling("strata-new") }
    /// What is about to be removed.
    private var discarded: FilePath { sibling("strata-old") }

    private func sibling(_ suffix: String) -> FilePath {
        parent.appending("\(path.lastComponent?.string ?? "store").\(suffix)")
    }

    private var parent: FilePath {
        let parent = path.removingLastComponent()
        return parent.isEmpty ? "." : parent
    }

    /// Ends a replacement that a crash interrupted, in the one or the other way.
    func finishReplacement() throws(Errno) {
        guard try fileSystem.attributes(replacement) != nil else { return }
        if try fileSystem.attributes(path) != nil {
            try removeTree(replacement)
        } else {
            try fileSystem.rename(replacement, to: path)
        }
        try fileSystem.syncDirectory(parent)
    }

    /// Removes the store. Nothing happens when there is none.
    func remove() throws(Errno) {
        try removeTree(unfinished)
        try removeTree(replacement)
        try removeTree(discarded)
        guard try fileSystem.attributes(path) != nil else { return }
        // Gone at once for whoever opens it, however long removing the files takes.
        try fileSystem.rename(path, to: discarded)
        try fileSystem.syncDirectory(parent)
        try removeTree(discarded)
        try fileSystem.syncDirectory(parent)
    }

    /// Puts a copy of another store in this one's place.
    ///
    /// - Precondition: nobody has this store open. The other may be open and even written: the copy is as it was at
    ///   some moment.
    /// - Throws: `.notFound` when there is no other store, `.corruption` when its copy cannot be opened. This store is
    ///   as before then.
    func replace(with source: FilePath) throws {
        try prepareReplacement()
        guard let place = try fileSystem.attributes(source) else {
            throw StoreError(.notFound, "there is no store to copy", path: source.string)
        }
        guard place.isDirectory else {
            throw StoreError(.corruption, "what is there is no store of Strata but a file", path: source.string)
        }
        do {
            try copyFiles(from: source)
            var options = LogOptions()
            options.createsIfMissing = false
            let log = try LogStore.open(unfinished, in: fileSystem, options: options, schema: nil)
            // As in Core Data the copy goes by the UUID of its source.
            try StoreLineage.settle(log, at: unfinished, in: fileSystem, keepsUUID: true)
            try log.close()
        } catch {
            try? removeTree(unfinished)
            throw error
        }
        try install()
    }

    /// Makes room for a replacement.
    ///
    /// - Returns: where it is to be made.
    @discardableResult
    func prepareReplacement() throws(Errno) -> FilePath {
        try finishReplacement()
        try removeTree(unfinished)
        try removeTree(discarded)
        return unfinished
    }

    /// Gives up a replacement that has been begun.
    func abandonReplacement() throws(Errno) {
        try removeTree(unfinished)
    }

    /// Puts the replacement, which is complete and closed, in the store's place.
    func install() throws(Errno) {
        if try fileSystem.attributes(path) == nil {
            try fileSystem.rename(unfinished, to: path)
            try fileSystem.syncDirectory(parent)
            return
        }
        try fileSystem.rename(unfinished, to: replacement)
        try fileSystem.syncDirectory(parent)
        try fileSystem.rename(path, to: discarded)
        try fileSystem.syncDirectory(parent)
        try fileSystem.rename(replacement, to: path)
        try fileSystem.syncDirectory(parent)
        try removeTree(discarded)
        try fileSystem.syncDirectory(parent)
    }

    /// Copies what a store consists of.
    ///
    /// Manifest and checkpoints say up to where the log was durable, so they are copied before the log is looked at: what
    /// they claim of a store that is being written is in the copy then. All segments are opened before the first is
    /// copied, since the bytes of an open file stay when compaction removes it; where one goes before it is open, its rows
    /// are in a later one, and everything is copied anew.
    private func copyFiles(from source: FilePath) throws(Errno) {
        for _ in 0..<Self.copyAttempts {
            try removeTree(unfinished)
            try fileSystem.createDirectory(unfinished)
            for name in try files(of: source) where !name.hasSuffix(".seg") {
                // A checkpoint that a newer one has taken the place of is none that the copy needs.
                guard let file = try openIfThere(source.appending(name)) else { continue }
                try copy([file], to: [unfinished.appending(name)])
            }
            let names = try files(of: source).filter { $0.hasSuffix(".seg") }
            var segments: [any File] = []
            for name in names {
                guard let file = try openIfThere(source.appending(name)) else { break }
                segments.append(file)
            }
            guard segments.count == names.count else {
                for segment in segments { try segment.close() }
                continue
            }
            try copy(segments, to: names.map(unfinished.appending))
            return try fileSystem.syncDirectory(unfinished)
        }
        throw .resourceBusy
    }

    /// How often a copy is begun anew because a segment went while it was being opened. Each time takes a compaction that
    /// ends within that moment.
    private static let copyAttempts = 100

    /// Belong to the processes that have the store.
    private static let leftOut: Set = ["LOCK", "TAIL", "RESERVE"]

    private func files(of source: FilePath) throws(Errno) -> [String] {
        try fileSystem.list(source).filter { !Self.leftOut.contains($0) && !$0.hasSuffix(".tmp") }
    }

    private func openIfThere(_ path: FilePath) throws(Errno) -> (any File)? {
        do {
            return try fileSystem.open(path, .read)
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }

    /// Copies open files and closes them.
    private func copy(_ files: [any File], to targets: [FilePath]) throws(Errno) {
        for index in files.indices {
            do {
                try copy(files[index], to: targets[index])
            } catch {
                for file in files[index...] { try? file.close() }
                throw error
            }
            try files[index].close()
        }
    }

    private static let chunkByteCount = 1 << 20

    private func copy(_ input: any File, to target: FilePath) throws(Errno) {
        let output = try fileSystem.open(target, .create)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkByteCount, alignment: 16)
        defer { buffer.deallocate() }
        let byteCount = try input.byteCount()
        try output.truncate(to: byteCount)
        var offset: Int64 = 0
        while offset < byteCount {
            let count = try input.readPrefix(into: buffer, at: offset)
            if count == 0 { break }
            let chunk = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            // Space that was reserved and not written need not be written in the copy either.
            if chunk.contains(where: { $0 != 0 }) { try output.writeAll([chunk], at: offset) }
            offset += Int64(count)
        }
        try output.sync()
        try output.close()
    }

    private func removeTree(_ path: FilePath) throws(Errno) {
        guard let place = try fileSystem.attributes(path) else { return }
        guard place.isDirectory else { return try fileSystem.unlink(path) }
        for name in try fileSystem.list(path) { try removeTree(path.appending(name)) }
        try fileSystem.removeDirectory(path)
    }
}
