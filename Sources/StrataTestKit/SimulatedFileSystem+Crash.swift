import StrataIO
internal import StrataSupport
internal import Synchronization
public import SystemPackage

extension SimulatedFileSystem {
    /// What a crash does to changes that were not flushed.
    public enum CrashPolicy: Sendable, CaseIterable {
        /// Any subset: each sector, each length and each change of names is kept or lost on its own.
        case strict
        /// As a journal in ordered mode: changes of names are kept up to some point, and where a file became longer,
        /// the new part holds its data. Sectors that are overwritten still fare as they like.
        case ordered
        /// Against those who forget to flush: creations and renames are mostly lost while removals are kept, and
        /// lengths are mostly kept without their data, so that zeros, noise or other files' old bytes are read there.
        case evil
        /// Only the process ends: everything survives, flushed or not, and locks are free. What was not flushed is
        /// still not durable in the image.
        case killed
    }

    /// Turns the machine off as soon as `operationCount` operations have happened (at once if they have): every later
    /// call throws `.ioError`.
    public func crash(atOperation operationCount: Int) {
        state.withLock { state in
            state.crashOperation = operationCount
            if state.operations.count >= operationCount { state.isOff = true }
        }
    }

    /// Whether a scheduled crash has happened.
    public var isOff: Bool {
        state.withLock { $0.isOff }
    }

    /// The disk as it is found after a crash now; this file system is not changed.
    ///
    /// The same as ``Trace/image(after:policy:seed:)`` after all operations.
    public func crashImage(policy: CrashPolicy, seed: UInt64) -> SimulatedFileSystem {
        SimulatedFileSystem(
            disk: state.withLock { $0.disk }.crashed(policy, seed: seed), pages: policy == .killed ? copiedPages : [:])
    }

    /// A copy of its own, without locks and faults. Complexity: O(number of files and names).
    public func fork() -> SimulatedFileSystem {
        crashImage(policy: .killed, seed: 0)
    }

    /// All files, by path. Not counted as a call; works when the machine is off.
    public var filePaths: [FilePath] {
        let tree = state.withLock { $0.disk.tree }
        var paths: [FilePath] = []
        var waiting: [(FilePath, Int)] = [("/", 1)]
        while let (path, directory) = waiting.popLast() {
            for (name, inode) in tree.directories[directory] ?? [:] {
                if tree.isDirectory(inode) {
                    waiting.append((path.appending(name), inode))
                } else {
                    paths.append(path.appending(name))
                }
            }
        }
        return paths.sorted { $0.string < $1.string }
    }

    /// What programs see in a file. Not counted as a call; works when the machine is off.
    public func contents(of path: FilePath) throws(Errno) -> [UInt8] {
        try state.withLock { state throws(Errno) in
            guard let file = state.disk.files[try state.disk.tree.lookup(path)] else { throw .isDirectory }
            return file.volatile.contents
        }
    }
}
