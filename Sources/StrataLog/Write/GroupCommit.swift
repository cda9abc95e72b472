/// Commits one group: checks for conflicts, places, writes, flushes, publishes.
///
/// Runs under the writer's lock.
struct GroupCommit {
    let writer: LogWriter
    private(set) var base: Snapshot
    let durability: LogOptions.Durability

    /// What was accepted into one write.
    private struct Accepted {
        var request: CommitRequest
        var sequence: UInt64
        var timestampNanoseconds: Int64
    }

    init(writer: LogWriter, base: Snapshot, durability: LogOptions.Durability) {
        self.writer = writer
        self.base = base
        self.durability = durability
    }

    /// Gives every request its result. `publish` makes a snapshot the one that readers get.
    mutating func run(_ group: [CommitRequest], publish: (Snapshot) -> Void) {
        var remaining = group[...]
        while !remaining.isEmpty {
            var accepted: [Accepted] = []
            do throws(StoreError) {
                try commitNext(&remaining, &accepted, publish)
            } catch {
                writer.uniqueness?.settle(isCommitted: false)
                writer.conflictKeys.settle(isCommitted: false)
                for entry in accepted { entry.request.result = .failure(error) }
                if accepted.isEmpty, let first = remaining.popFirst() { first.result = .failure(error) }
            }
        }
    }

    /// Commits as many of the requests, from the front, as fit behind the end of the log.
    private mutating func commitNext(
        _ remaining: inout ArraySlice<CommitRequest>, _ accepted: inout [Accepted], _ publish: (Snapshot) -> Void
    ) throws(StoreError) {
        guard let first = remaining.first else { return }
        try writer.makeRoom(for: first.prepared.byteCount)
        try publishRelocated(publish)
        var edit = SnapshotEdit(base: base)
        var end = writer.end
        var records: [LogWriter.PlacedRecord] = []
        while let request = remaining.first {
            let transaction = request.prepared.transaction
            guard records.isEmpty || writer.fits(request.prepared.byteCount, at: end.position) else { break }
            remaining.removeFirst()
            do throws(StoreError) {
                try admit(transaction, to: &edit)
            } catch {
                request.result = .failure(error)
                continue
            }
            let entry = Accepted(
                request: request, sequence: end.sequence + 1, timestampNanoseconds: writer.options.clock())
            accepted.append(reservingOne: entry)
            writer.conflictKeys.record(transaction, sequence: entry.sequence)
            let record = LogWriter.UnsyncedRecord.transaction(
                request.prepared.record, sequence: entry.sequence, timestampNanoseconds: entry.timestampNanoseconds)
            records.append(reservingOne: writer.place(record, at: &end))
            try edit.apply(
                transaction, sequence: entry.sequence, timestampNanoseconds: entry.timestampNanoseconds)
        }
        guard !accepted.isEmpty else { return }
        // Before anything is written: this may have to read pages of the checkpoint, and a commit that is in the log
        // must not fail any more.
        var snapshot = try edit.finish(end: end.position, checksum: end.checksum)
        try writer.write(records, newEnd: end)
        if durability == .full || writer.mustFlushSoon {
            if try writer.flush() {
                snapshot = try rebuilt(accepted, publish)
            }
        }
        finish(snapshot, accepted, publish)
    }

    /// Refuses a transaction that others have overtaken.
    private func admit(_ transaction: WriteTransaction, to edit: inout SnapshotEdit) throws(StoreError) {
        let conflicts = try edit.conflicts(of: transaction)
        guard conflicts.isEmpty else { throw WriteTransaction.conflict(conflicts) }
        guard writer.conflictKeys.admits(transaction) else {
            throw StoreError(.conflict, "another commit has changed what this one goes by")
        }
        guard let changes = transaction.uniqueChanges, let index = writer.uniqueness else { return }
        let doubles = try index.admit(changes, over: base)
        guard doubles.isEmpty else {
            throw StoreError(
                .conflict, "\(doubles.count) objects have values that must be unique and are not",
                uniqueConflicts: doubles)
        }
    }

    /// The snapshot of transactions that a failed flush moved, over the rows of earlier ones that it moved too.
    private mutating func rebuilt(
        _ accepted: [Accepted], _ publish: (Snapshot) -> Void
    ) throws(StoreError) -> Snapshot {
        do throws(StoreError) {
            try publishRelocated(publish, butNot: accepted.map(\.sequence))
            var edit = SnapshotEdit(base: base)
            for entry in accepted {
                try edit.apply(
                    entry.request.prepared.transaction, sequence: entry.sequence,
                    timestampNanoseconds: entry.timestampNanoseconds)
            }
            return try edit.finish(end: writer.end.position, checksum: writer.end.checksum)
        } catch {
            // The log has the commits, but the index cannot show them. Opening again rebuilds the index.
            let failure = StoreError(
                .readOnly,
                "a commit is in the log but the index cannot be read: \(error). The store refuses writes until it is opened again, "
                    + "which will show the commit")
            writer.refuse(failure)
            throw failure
        }
    }

    private mutating func finish(_ snapshot: Snapshot, _ accepted: [Accepted], _ publish: (Snapshot) -> Void) {
        base = snapshot
        publish(snapshot)
        writer.uniqueness?.settle(isCommitted: true)
        writer.conflictKeys.settle(isCommitted: true)
        writer.countCommits(accepted.count, rows: accepted.reduce(0) { $0 + $1.request.prepared.changeCount })
        for entry in accepted {
            entry.request.result = .success(
                CommitReceipt(
                    sequence: entry.sequence, timestampNanoseconds: entry.timestampNanoseconds, snapshot: snapshot))
        }
    }

    /// After a flush that failed and was made good elsewhere: points the index at the rows' new places.
    private mutating func publishRelocated(
        _ publish: (Snapshot) -> Void, butNot unpublished: [UInt64] = []
    ) throws(StoreError) {
        let records = writer.takeRelocated()
        guard !records.isEmpty else { return }
        do throws(StoreError) {
            var edit = SnapshotEdit(base: base)
            for record in records {
                switch record {
                case .transaction(let transaction, let sequence, _) where !unpublished.contains(sequence):
                    try edit.move(transaction)
                case .compaction(let prepared):
                    try edit.move(prepared)
                    writer.recordArchive(of: prepared)
                case .transaction, .plain:
                    break
                }
            }
            base = try edit.finish(end: writer.end.position, checksum: writer.end.checksum)
        } catch {
            // The index goes on pointing at bytes that were given up: nothing may be built on that.
            let failure = StoreError(
                .readOnly,
                "commits were moved by a failed flush and the index cannot be read: \(error). Open the store again to rebuild it"
            )
            writer.refuse(failure)
            throw failure
        }
        publish(base)
    }

    static func publishRelocated(
        _ writer: LogWriter, base: Snapshot, publish: (Snapshot) -> Void
    ) throws(StoreError) {
        var commit = GroupCommit(writer: writer, base: base, durability: .full)
        try commit.publishRelocated(publish)
    }

    /// Flushes what commits left unflushed.
    static func flush(_ writer: LogWriter, base: Snapshot, publish: (Snapshot) -> Void) throws(StoreError) {
        try writer.flush()
        try publishRelocated(writer, base: base, publish: publish)
    }
}
