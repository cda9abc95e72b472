internal import StrataSupport
internal import Synchronization

/// What compaction must keep beside the rows that are live.
///
/// Floors are sequence numbers of transactions. Whoever has a policy (an age, a number of transactions, consumers that
/// have acknowledged) translates it into floors and sets them with ``LogStore/setRetention(_:)``; compaction reads them
/// when it begins.
public struct LogRetention: Sendable, Hashable {
    /// Change tables of transactions up to this one may be dropped; those of later ones stay. 0, the default, keeps
    /// the whole history.
    public var historyFloor: UInt64
    /// Rows that a transaction after this one replaced or deleted stay where they are, for reading the store as it
    /// was. `.max`, the default, keeps replaced rows only while a snapshot needs them.
    public var rowsFloor: UInt64

    /// Keeps what these floors say: by default the whole history, and replaced rows only while a snapshot needs them.
    public init(historyFloor: UInt64 = 0, rowsFloor: UInt64 = .max) {
        self.historyFloor = historyFloor
        self.rowsFloor = rowsFloor
    }
}

extension LogStore {
    /// What compaction keeps. Set in ``LogOptions/retention`` or by ``setRetention(_:)``; not stored.
    public var retention: LogRetention { state.withLock { $0.retention } }

    /// Changes what the next compaction keeps; one that is running is not affected. O(1).
    public func setRetention(_ retention: LogRetention) {
        state.withLock { $0.retention = retention }
    }

    /// The history has every transaction after this one; those up to it may have been dropped by compaction. 0 while
    /// nothing was dropped.
    public var historyFloor: UInt64 { state.withLock { $0.storeState.compaction.historyFloor } }
}
