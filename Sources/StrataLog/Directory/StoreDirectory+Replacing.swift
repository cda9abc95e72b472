internal import StrataIO
internal import StrataSupport
public import SystemPackage

extension StoreDirectory {
    /// Puts a copy of another store in this one's place.
    ///
    /// The other may be open and even be written: the copy is as it was at some moment.
    ///
    /// - Parameters:
    ///   - source: the directory of the other store.
    ///   - isInUse: whether this process has the store open, until `beforeInstalling` closes it.
    ///   - beforeInstalling: as for ``replace(mustBeSound:isInUse:beforeInstalling:make:)``.
    ///   - finishing: called with the copy, which is open, and its path, before it takes its place.
    /// - Throws: `.notFound` when there is no other store, `.corruption` when its copy cannot be opened, `.locked` when
    ///   somebody has this store, `.unsupportedFormat` when there is something that is no store's in this one's place;
    ///   what the closure throws. This store is as before then.
    public func replace(
        with source: FilePath, isInUse: Bool = false, beforeInstalling: () throws -> StoreLock? = { nil },
        finishing: (LogStore, FilePath) throws -> Void = { _, _ in }
    ) throws {
        let other = try StoreDirectory(source, fileSystem)
        try replace(isInUse: isInUse, beforeInstalling: beforeInstalling) { target in
            try other.copyFiles(to: target)
            var options = Self.briefOptions
            options.access = .readWrite
            let log = try LogStore.open(target, in: fileSystem, options: options, schema: nil)
            do {
                try finishing(log, target)
            } catch {
                try? log.close()
                throw error
            }
            try log.close()
        }
    }

    /// Puts a new store in this one's place, if there is one.
    ///
    /// - Parameters:
    ///   - mustBeSound: whether what is replaced has to be a store that can be read.
    ///   - isInUse: whether this process has the store open, until `beforeInstalling` closes it.
    ///   - beforeInstalling: called when the new store is complete. Of a store in use it returns the lock, so that
    ///     nobody writes the old store between its closing and its end; nil if it was not open for writing.
    ///   - make: makes the store at the path that it is given, where nothing is, and closes it.
    /// - Throws: as ``replace(with:isInUse:beforeInstalling:finishing:)``.
    public func replace(
        mustBeSound: Bool = false, isInUse: Bool = false, beforeInstalling: () throws -> StoreLock? = { nil },
        make: (FilePath) throws -> Void
    ) throws {
        guard let beside = try DirectoryLock.take(lockPath, fileSystem) else { throw try cannotLock() }
        defer { beside.release() }
        try finish(beside)
        // Before anything is copied: a store that others use is not replaced.
        var lock = try isInUse ? nil : lockForReplacing(mustBeSound: mustBeSound)
        defer { unlock(lock) }
        guard try attributes(copy) == nil else {
            throw StoreError(
                .unsupportedFormat, "something that is no store's is where the new store is to be made",
                path: copy.string)
        }
        do {
            try make(copy)
            // Whoever makes it need not have flushed the names in it.
            try io("flush directory", copy) { () throws(Errno) in try fileSystem.syncDirectory(copy) }
            let kept = try beforeInstalling()
            defer { kept?.release() }
            if let file = kept?.file {
                try checkIsInPlace(file)
            } else if isInUse {
                lock = try lockForReplacing(mustBeSound: false)
            }
            try checkCanBeReplaced()
            try checkIsInPlace(beside)
            try install(inPlaceOf: (kept?.directory ?? lock?.files.held)?.identity)
        } catch let error as NotUndone {
            throw error.cause
        } catch {
            // What was undone has to be durable first: a crash must not bring back the name of what is removed here.
            // In another directory the copy is somebody else's.
            if (try? flushParent()) != nil, (try? beside.isInPlace) == true { _ = try? removeTree(copy) }
            throw error
        }
    }

    private func cannotLock() throws(StoreError) -> StoreError {
        let isMissing = try attributes(parent) == nil
        return StoreError(
            .io, "the directory that the store lies in \(isMissing ? "is missing" : "may not be written")",
            errno: isMissing ? .noSuchFileOrDirectory : .permissionDenied, path: parent.string)
    }

    private func lockForReplacing(mustBeSound: Bool) throws(StoreError) -> Locked? {
        try checkCanBeReplaced()
        guard let lock = try lockStore() else { return nil }
        do throws(StoreError) {
            if mustBeSound { try checkIsStore(try files.list(), ignoringDamage: false) }
            return lock
        } catch {
            unlock(lock)
            throw error
        }
    }

    /// Somebody may have moved the directory away, and another one to its place, while the store was open.
    private func checkIsInPlace(_ lock: any File) throws(StoreError) {
        guard try StoreOpener(files: files, options: Self.briefOptions).isInPlace(lock) else {
            throw StoreError(.locked, "another store has taken the place of the one that is open", path: path.string)
        }
    }

    /// The same of the directory that it lies in.
    private func checkIsInPlace(_ beside: DirectoryLock) throws(StoreError) {
        guard try io("look at", lockPath, { () throws(Errno) in try beside.isInPlace }) else {
            throw StoreError.displaced("could not replace the store", path)
        }
    }

    /// Takes back a lock file that was made where there was no store.
    private func unlock(_ lock: Locked?) {
        guard let lock else { return }
        if lock.isNew, (try? lock.files.list().holdsSomething) == false { try? lock.files.remove(files.lock) }
        try? lock.file.close()
    }

    private func checkCanBeReplaced() throws(StoreError) {
        guard let found = try attributes(path) else { return }
        try checkIsDirectory(found)
        let listing = try files.list()
        guard listing.foreign.isEmpty else {
            throw StoreError(
                .unsupportedFormat,
                "the directory holds files that are not the store's (\(listing.foreign.shortList)): nothing was replaced",
                path: path.string)
        }
    }

    /// Puts the new store, which is complete and closed, in the place of the old one, which nobody can open for
    /// writing.
    ///
    /// - Parameter old: which directory is locked; nil when there is none.
    private func install(inPlaceOf old: FileIdentity?) throws {
        guard try attributes(path) != nil else {
            try move(copy, to: path)
            do throws(StoreError) {
                return try flushParent()
            } catch {
                try? move(path, to: copy)
                throw error
            }
        }
        guard old != nil else {
            throw StoreError(
                .locked, "a store was put there while the one to take the place was being made: nothing was replaced",
                path: path.string)
        }
        do throws(Errno) {
            try fileSystem.exchange(copy, with: path)
        } catch .notSupported {
            return try installInSteps(inPlaceOf: old)
        } catch {
            throw StoreError(.io, "could not exchange", errno: error, path: path.string)
        }
        do throws(StoreError) {
            try checkIsReplaced(old, by: copy)
            try flushParent()
        } catch {
            // Otherwise nothing may be removed: which of the two has the name after a crash is not known.
            guard (try? fileSystem.exchange(copy, with: path)) != nil else { throw NotUndone(cause: error) }
            throw error
        }
        // The new one has taken the store's place, whatever becomes of the old one: the next opening removes it.
        _ = try? removeTree(copy)
    }

    /// Between the last look at the path and the renaming somebody may have put another directory there: that is not
    /// ours to remove.
    private func checkIsReplaced(_ old: FileIdentity?, by path: FilePath) throws(StoreError) {
        guard let old else { return }
        let found = try io("look at", path) { () throws(Errno) in try fileSystem.identity(path) }
        if found != old { throw StoreError.displaced("could not replace the store", self.path) }
    }

    /// Where names cannot be swapped: the store has no name for a moment. Who would make one waits for the lock, and
    /// who reads looks again. From the second step on whoever comes next can end it, so nothing is lost if it cannot be
    /// undone.
    private func installInSteps(inPlaceOf old: FileIdentity?) throws(StoreError) {
        try move(copy, to: replacement)
        do throws(StoreError) {
            try flushParent()
            try move(path, to: discarded)
        } catch {
            try? move(replacement, to: copy)
            throw error
        }
        do throws(StoreError) {
            try checkIsReplaced(old, by: discarded)
            try flushParent()
            try move(replacement, to: path)
        } catch {
            try move(discarded, to: path)
            try move(replacement, to: copy)
            throw error
        }
        try flushParent()
        _ = try? removeTree(discarded)
    }

    // MARK: Copying

    /// Copies what the store consists of.
    ///
    /// Manifest and checkpoints say up to where the log was durable, so they are copied before the log is looked at:
    /// what they claim of a store that is being written is in the copy then. All segments are opened before the first
    /// is copied, since the bytes of an open file stay when compaction removes it; where one goes before it is open,
    /// its rows are in a later one, and everything is copied anew. All of it is looked up in one open directory, so
    /// that a store that is replaced meanwhile is not mixed with the one in its place.
    fileprivate func copyFiles(to target: FilePath) throws {
        for _ in 0..<Self.copyAttempts {
            guard let found = try attributes(path) else { throw try missing() }
            try checkIsDirectory(found)
            let source = try io("open directory", path) { () throws(Errno) in try fileSystem.openDirectory(path) }
            try removeTree(target)
            try io("create directory", target) { () throws(Errno) in try fileSystem.createDirectory(target) }
            let made = try io("open directory", target) { () throws(Errno) in try fileSystem.openDirectory(target) }
            if try io("copy", path, { () throws(Errno) in try copyFiles(of: source, to: made) }) { return }
        }
        throw StoreError(.io, "the store changes too quickly to copy it", errno: .resourceBusy, path: path.string)
    }

    /// Why there is no store.
    func missing() throws(StoreError) -> StoreError {
        guard try attributes(replacement) != nil else {
            return StoreError(.notFound, "there is no store", path: path.string)
        }
        return DirectoryLock.isHeld(lockPath, fileSystem)
            ? StoreError(.locked, "the store is being replaced by another process", path: path.string)
            : StoreError(
                .notFound,
                "the store's replacement was interrupted: opening it for writing once brings it back from \(replacement)",
                path: path.string)
    }

    /// How often a copy is begun anew because a segment went while it was being opened. Each time takes a compaction
    /// that ends within that moment.
    private static let copyAttempts = 100

    /// Belong to the processes that have the store.
    private static let leftOut: Set = ["LOCK", "TAIL", "RESERVE"]

    /// - Returns: false when something went that is needed.
    private func copyFiles(of source: any Directory, to target: any Directory) throws(Errno) -> Bool {
        for name in try names(of: source) where !name.hasSuffix(".seg") {
            // A checkpoint that a newer one has taken the place of is none that the copy needs.
            guard let file = try openIfThere(name, source) else { continue }
            try copy([file], to: target, [name])
        }
        let names = try names(of: source).filter { $0.hasSuffix(".seg") }
        var segments: [any File] = []
        for name in names {
            guard let file = try openIfThere(name, source) else { break }
            segments.append(file)
        }
        guard segments.count == names.count else {
            for segment in segments { try segment.close() }
            return false
        }
        try copy(segments, to: target, names)
        return true
    }

    private func names(of source: any Directory) throws(Errno) -> [String] {
        try source.list().filter { StoreFiles.isOwn($0) && !Self.leftOut.contains($0) && !$0.hasSuffix(".tmp") }
    }

    private func openIfThere(_ name: String, _ source: any Directory) throws(Errno) -> (any File)? {
        do {
            return try source.open(name)
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }

    /// Copies open files and closes them.
    private func copy(_ files: [any File], to target: any Directory, _ names: [String]) throws(Errno) {
        for index in files.indices {
            do {
                try copy(files[index], to: try target.open(names[index], .create))
            } catch {
                for file in files[index...] { try? file.close() }
                throw error
            }
            try files[index].close()
        }
    }

    private static let chunkByteCount = 1 << 20

    private func copy(_ input: any File, to output: any File) throws(Errno) {
        let byteCount = try input.byteCount()
        let capacity = Int(min(byteCount, Int64(Self.chunkByteCount)))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
        defer { buffer.deallocate() }
        try output.truncate(to: byteCount)
        var offset: Int64 = 0
        while offset < byteCount {
            let count = try input.readPrefix(into: buffer, at: offset)
            if count == 0 { break }
            let chunk = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            // Space that was reserved and not written need not be written in the copy either.
            if !chunk.isZero { try output.writeAll([chunk], at: offset) }
            offset += Int64(count)
        }
        try output.sync()
        try output.close()
    }
}

/// Installing failed half-way and could not be undone: nothing may be removed.
private struct NotUndone: Error {
    let cause: StoreError
}
