internal import StrataIO

/// The lock in the directory of a store that was closed. Given back by ``release()``, or when nobody has it any more.
///
/// Safe to use from any thread.
public final class StoreLock: Sendable {
    /// Gives its lock back when it goes, so it stays as long as the lock is kept.
    private let log: LogStore

    init(_ log: LogStore) {
        self.log = log
    }

    var file: (any File)? { log.lock }

    /// Lets others write, replace or remove the store.
    public func release() {
        try? log.lock?.close()
    }

    deinit { release() }
}
