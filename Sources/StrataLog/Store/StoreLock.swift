internal import StrataIO

/// Keeps the lock in the directory of a closed store until ``release()`` or until the last reference goes.
///
/// Safe to use from any thread.
public final class StoreLock: Sendable {
    /// Gives its lock back when it goes, so it stays as long as the lock is kept.
    private let log: LogStore

    init(_ log: LogStore) {
        self.log = log
    }

    var file: (any File)? { log.lock }

    /// The directory that the lock is in.
    var directory: HeldDirectory? { log.files.held }

    /// Lets others write, replace or remove the store.
    public func release() {
        try? log.lock?.close()
    }

    deinit { release() }
}
