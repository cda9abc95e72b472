/// The conflict keys of recent commits. A transaction is refused when another one that was committed since the snapshot
/// it read holds one of its keys, unless both only read what the key names.
///
/// Used under the writer's lock. In memory only: whoever read a snapshot of an earlier opening is gone.
struct ConflictKeys {
    /// How many names are remembered.
    static let maximumCount = 1 << 16

    /// The last commits, by sequence number, that changed what a key names and that read it.
    private struct Use {
        var changed: UInt64 = 0
        var read: UInt64 = 0
    }

    private var committed: [UInt64: Use] = [:]
    /// Of those that are being written.
    private var pending: [UInt64: Use] = [:]
    /// The keys of commits up to this one have been forgotten.
    private var floor: UInt64 = 0

    /// Whether no other commit has used the transaction's keys since the snapshot it read.
    func admits(_ transaction: WriteTransaction) -> Bool {
        if transaction.conflictKeys.isEmpty { return true }
        let basis = transaction.basis
        if basis < floor { return false }
        return transaction.conflictKeys.allSatisfy { key in
            [committed[key.name], pending[key.name]].allSatisfy { other in
                guard let other else { return true }
                return other.changed <= basis && (!key.isExclusive || other.read <= basis)
            }
        }
    }

    /// The transaction has been accepted. ``settle(isCommitted:)`` has to follow.
    mutating func record(_ transaction: WriteTransaction, sequence: UInt64) {
        for key in transaction.conflictKeys {
            if key.isExclusive {
                pending[key.name, default: Use()].changed = sequence
            } else {
                pending[key.name, default: Use()].read = sequence
            }
        }
    }

    /// What was accepted has been written, or could not be.
    mutating func settle(isCommitted: Bool) {
        if pending.isEmpty { return }
        if isCommitted {
            if committed.count > Self.maximumCount {
                floor = committed.values.reduce(floor) { max($0, $1.changed, $1.read) }
                committed = [:]
            }
            committed.merge(pending) { Use(changed: max($0.changed, $1.changed), read: max($0.read, $1.read)) }
        }
        pending = [:]
    }
}
