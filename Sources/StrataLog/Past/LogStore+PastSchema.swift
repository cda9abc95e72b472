internal import StrataSupport
internal import SystemPackage

// The past, as the schema of then had it.
extension LogStore {
    /// The store as it was after a transaction, by an earlier version of its schema: a store of its own, for reading,
    /// which stays what it is.
    ///
    /// Rows are shown as that version had them, also slots, entities and relationships that a later one does without.
    /// The files that it needs stay open as long as it or one of its snapshots does.
    ///
    /// - Parameters:
    ///   - sequence: the last transaction to be shown; 0 for the empty store before the first.
    ///   - version: the schema that the store had then; see ``schemas``.
    /// - Throws: `.expired` when the store does not retain that state any more; `.invalidArgument` when there is no
    ///   such
    ///   transaction yet, or no such version; `.io`, `.corruption`. Where compaction has written rows anew by a later
    ///   version that has not all their values, reading them throws `.expired`.
    /// - Complexity: reads what was committed since. O(n) in the rows that have relationships which a later version
    ///   does
    ///   without; where entities are gone, reads the headers of the whole log.
    public func past(at sequence: UInt64, schemaVersion version: UInt16) throws(StoreError) -> LogStore {
        let newest = snapshot
        var storeState = state.withLock { $0.storeState }
        guard sequence <= newest.sequence, let schema = storeState.schema(version: version) else {
            throw StoreError(
                .invalidArgument, "there is no transaction \(sequence) yet, or no schema version \(version)",
                path: files.directory.string)
        }
        let later = storeState.schemas.filter { $0.version > version }
        storeState.schemas.removeAll { $0.version > version }
        let past = source.showing(
            version: version, in: newest.epoch, cacheMaximumBytes: self.options.cacheMaximumBytes)
        let shown = try Self.state(of: newest, at: sequence, by: schema, later.map(\.schema), past)
        var options = self.options
        options.access = .readOnly
        let opened = OpenedStore(
            files: files, source: past, snapshot: shown, storeState: storeState, checkpoint: 0,
            checkpointEnd: shown.end,
            manifestNumber: 0, report: RecoveryReport(),
            end: LogWriter.End(position: shown.end, sequence: shown.sequence, checksum: shown.checksum))
        return LogStore(opened, options: options)
    }

    private static func state(
        of newest: Snapshot, at sequence: UInt64, by schema: Schema, _ later: [Schema], _ source: BlockSource
    ) throws(StoreError) -> Snapshot {
        // What a migration does without is not in the newest state, also where a later one has it again.
        let migrations = later.filter(\.isMigration)
        func survives(_ isThere: (Schema) -> Bool) -> Bool { migrations.allSatisfy(isThere) }
        let postings = Set(schema.entities.flatMap { $0.slots.map(\.postingsID) }).subtracting([0])
        let kept = postings.filter { id in
            survives { $0.entities.contains { $0.slots.contains { $0.postingsID == id } } }
        }
        let roots = Set(schema.entities.map(\.rootID)).filter { root in
            !survives { $0.entities.contains { $0.rootID == root } }
        }
        var builder = PastSnapshotBuilder(base: newest, at: sequence, source: source, keeping: kept)
        if !roots.isEmpty { try builder.restore(roots) }
        let reader = try HistoryReader(snapshot: newest, after: sequence == 0 ? 0 : sequence - 1)
        let state = try builder.build(reader).with(source)
        return try state.adding(postings.subtracting(kept), of: schema)
    }
}

extension PastSnapshotBuilder {
    /// Brings back the objects of hierarchies that the newest schema does without, as they were when it came.
    ///
    /// - Throws: `.expired` when the log does not have all of their rows any more; `.io`, `.corruption`.
    /// - Complexity: reads the headers and change tables of the whole log, and the keys of their rows.
    mutating func restore(_ roots: Set<UInt16>) throws(StoreError) {
        guard base.epoch.compaction.holes.isEmpty, base.epoch.compaction.historyFloor == 0 else {
            throw StoreError(
                .expired,
                "the store as of transaction \(target) is no longer retained: the model of then has entities that a later "
                    + "one does without, and compaction has taken away what lay before")
        }
        let layout = base.layout
        var walker = try RecordWalker(snapshot: base, after: 0)
        while let record = try walker.next() {
            let body = try record.body()
            func isGone(_ entity: UInt16) -> Bool { layout.root(ofEntity: entity).map { roots.contains($0) } == true }
            guard body.changes.contains(where: { isGone($0.entity) }) else { continue }
            let locations = try record.blocks(of: RecordPieces(body))
            for (piece, location) in zip(body.blocks, locations) where piece.role != .tombstone {
                // Its keys count: as what version the rows are shown does not matter.
                let block = try base.source.storedBlock(at: location)
                guard isGone(block.entity) else { continue }
                let keys = (0..<block.rowCount).map { block.key($0) }
                try edit.setRows(
                    of: block.entity, keys: keys, at: block.location, isInsertion: piece.role == .inserted)
            }
            for change in body.changes where change.kind == .delete && isGone(change.entity) {
                try edit.remove(change.keys, entity: change.entity)
            }
        }
    }
}

extension Snapshot {
    /// With relationships that are read from the rows.
    ///
    /// - Complexity: O(n) in the rows of the entities that have them.
    fileprivate func adding(_ postings: Set<UInt16>, of schema: Schema) throws(StoreError) -> Snapshot {
        guard !postings.isEmpty else { return self }
        let entities = schema.entities.filter { $0.slots.contains { postings.contains($0.postingsID) } }
        var changes: [UInt16: [PostingChange]] = [:]
        for root in Set(entities.map(\.rootID)) {
            try forEachRun(root: root) { run throws(StoreError) in
                let block = try source.block(at: run.location)
                for (slot, layout) in block.layout.slots.enumerated()
                where postings.contains(layout.postingsID) && slot < block.slotCount {
                    let column = try block.column(slot)
                    for row in run.location.row..<run.location.row + run.count where !column.isNull(row) {
                        changes[layout.postingsID, default: []].append(
                            PostingChange(target: column.reference(row), referrer: block.ref(row), isRemoval: false))
                    }
                }
                return true
            }
        }
        var edit = SnapshotEdit(base: self)
        for (id, changes) in changes { try edit.change(id, changes) }
        return try edit.finish(end: end, checksum: checksum, epoch: epoch)
    }
}
