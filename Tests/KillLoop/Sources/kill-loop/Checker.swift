import StrataLog

/// Something is not as it has to be.
struct Finding: Error, CustomStringConvertible {
    var description: String
}

/// Compares a store with what its history and the plan say must be in it.
struct Checker {
    /// The newest transaction that has been looked at.
    private(set) var last: UInt64 = 0
    /// What has to be there then: the transaction that wrote each object.
    private var live: [UInt64: UInt64] = [:]
    private var history: HistoryReader?

    /// - Returns: the sequence number of the newest transaction.
    @discardableResult
    static func check(_ store: LogStore) throws -> UInt64 {
        var checker = Checker()
        let snapshot = store.snapshot
        try checker.follow(store, to: snapshot)
        try checker.compare(snapshot, store)
        return checker.last
    }

    /// Goes on to a snapshot: each transaction in between must be there once, whole and as planned.
    mutating func follow(_ store: LogStore, to snapshot: Snapshot) throws {
        var history = try self.history ?? store.history(after: last)
        try history.advance(to: snapshot)
        while last < snapshot.sequence, let transaction = try history.next() {
            guard transaction.sequence == last + 1 else {
                throw Finding(description: "the history goes from \(last) to \(transaction.sequence)")
            }
            last = transaction.sequence
            try apply(transaction)
        }
        guard last == snapshot.sequence else {
            throw Finding(description: "the history ends at \(last), the store at \(snapshot.sequence)")
        }
        self.history = history
    }

    private mutating func apply(_ transaction: HistoryTransaction) throws {
        let expected = Plan.steps(sequence: transaction.sequence, live: live.count)
        var found = Plan.Steps(inserts: 0, updates: 0, deletions: 0)
        for group in transaction.groups {
            switch group.kind {
            case .insert: found.inserts += group.keys.count
            case .update: found.updates += group.keys.count
            case .delete: found.deletions += group.keys.count
            }
            for key in group.keys {
                guard (live[key] == nil) == (group.kind == .insert) else {
                    throw Finding(description: "\(group.kind) of \(key) in transaction \(transaction.sequence)")
                }
                live[key] = group.kind == .delete ? nil : transaction.sequence
            }
        }
        guard found == expected else {
            throw Finding(description: "transaction \(transaction.sequence) is partial: \(found), not \(expected)")
        }
    }

    /// The snapshot of the newest transaction looked at must hold what the history says.
    func compare(_ snapshot: Snapshot, _ store: LogStore) throws {
        guard snapshot.count(entity: Plan.entity) == live.count else {
            throw Finding(description: "\(snapshot.count(entity: Plan.entity)) objects instead of \(live.count)")
        }
        var members: [ObjectRef: Int] = [:]
        for (key, sequence) in live {
            guard let row = try snapshot.row(ObjectRef(entity: Plan.entity, key: key)) else {
                throw Finding(description: "object \(key) of transaction \(sequence) is missing")
            }
            let block = row.block
            let target = Plan.target(key: key, sequence: sequence)
            members[target, default: 0] += 1
            let data = try block.column(3)
            var bytes: [UInt8]?
            if !data.isNull(row.index) {
                bytes =
                    data.isExternal(row.index)
                    ? try store.read(data.external(row.index)) : Array(data.bytes(row.index))
            }
            guard row.ref.key == key, row.version.sequence == sequence,
                try block.column(0).int64(row.index) == Int64(sequence),
                try block.column(1).string(row.index) == Plan.text(key: key, sequence: sequence),
                try block.column(2).reference(row.index) == target,
                bytes == Plan.data(key: key, sequence: sequence)
            else { throw Finding(description: "object \(key) is not what transaction \(sequence) wrote") }
        }
        for key in 1...UInt64(5) {
            let target = ObjectRef(entity: Plan.entity, key: key)
            guard try snapshot.referrerCount(postings: Plan.postings, to: target) == members[target] ?? 0 else {
                throw Finding(description: "the relationship to \(key) has the wrong number of members")
            }
        }
    }
}
