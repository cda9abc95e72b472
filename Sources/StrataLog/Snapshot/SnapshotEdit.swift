internal import StrataSupport

/// The next snapshot while transactions are being laid over the one before.
///
/// Belongs to the thread that commits (or recovers); nothing is visible before ``finish(end:checksum:)``.
struct SnapshotEdit {
    let base: Snapshot
    private let layout: StoreLayout
    private var indexes: [IndexEdit?]
    private var postings: NumberTable<Postings>
    private var ordered: OrderedIndexes
    private var counts: [Int]
    /// Roots whose objects are gone with the entities.
    private var retiredRoots: Set<UInt16> = []
    private(set) var sequence: UInt64
    private(set) var timestampNanoseconds: Int64

    init(base: Snapshot, layout: StoreLayout? = nil) {
        self.base = base
        self.layout = layout ?? base.layout
        // Not made all at once: other ways to make an array look up its type each time.
        indexes = []
        indexes.reserveCapacity(self.layout.roots.count)
        for _ in self.layout.roots { indexes.append(nil) }
        postings = base.postings
        ordered = base.ordered
        counts = base.counts
        if counts.count < self.layout.entityLimit {
            counts += repeatElement(0, count: self.layout.entityLimit - counts.count)
        }
        sequence = base.sequence
        timestampNanoseconds = base.timestampNanoseconds
    }

    private func baseIndex(at position: Int) -> ObjectIndex {
        let root = layout.roots[position]
        if retiredRoots.contains(root) { return ObjectIndex() }
        return base.layout.position(ofRoot: root).map { base.indexes[$0] } ?? ObjectIndex()
    }

    private mutating func withIndex<Result>(
        ofEntity entity: UInt16, _ body: (IndexEdit) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard let position = layout.position(ofEntity: entity) else {
            throw StoreError(.corruption, "the log names entity \(entity), which no schema of the store has")
        }
        if let index = indexes[position] { return try body(index) }
        let index = IndexEdit(base: baseIndex(at: position))
        indexes[position] = index
        return try body(index)
    }

    private mutating func location(of ref: ObjectRef) throws(StoreError) -> Location {
        try withIndex(ofEntity: ref.entity) { index throws(StoreError) in try index.location(of: ref.key) }
    }

    /// Objects of the transaction whose rows are no longer those it read, and those it deletes although others refer to
    /// them.
    mutating func conflicts(of transaction: WriteTransaction) throws(StoreError) -> [ObjectRef] {
        var conflicts: [ObjectRef] = []
        let published = base.end
        for (ref, version) in transaction.required {
            let current = try location(of: ref)
            if current == version.location { continue }
            if try !Self.isMoved(current, from: version, in: transaction.source, before: published) {
                conflicts.append(ref)
            }
        }
        for ref in transaction.referenced where try location(of: ref).isAbsent { conflicts.append(ref) }
        for writer in transaction.writers {
            try addConflicts(of: writer.updated, writer.entity, transaction.source, before: published, &conflicts)
            try addConflicts(of: writer.deleted, writer.entity, transaction.source, before: published, &conflicts)
            if writer.insertedKeys.isEmpty { continue }
            try withIndex(ofEntity: writer.entity) { index throws(StoreError) in
                let known = index.maximumKey
                for key in writer.insertedKeys where key <= known {
                    if try !index.location(of: key).isAbsent {
                        conflicts.append(ObjectRef(entity: writer.entity, key: key))
                    }
                }
            }
        }
        if transaction.referrerCheck.isEmpty { return conflicts }
        let referred = try transaction.referrerCheck.referred(of: transaction, in: postings)
        if referred.isEmpty { return conflicts }
        var known = Set(conflicts)
        for ref in referred where known.insert(ref).inserted { conflicts.append(ref) }
        return conflicts
    }

    /// Adds the objects whose rows are no longer those that were read as what is replaced.
    private mutating func addConflicts(
        of replacements: [EntityWriter.Replacement], _ entity: UInt16, _ source: BlockSource,
        before published: LogPosition, _ conflicts: inout [ObjectRef]
    ) throws(StoreError) {
        if replacements.isEmpty { return }
        try withIndex(ofEntity: entity) { index throws(StoreError) in
            for replacement in replacements {
                let (key, version) = (replacement.key, replacement.version)
                let current = try index.location(of: key)
                if current == version.location && !current.isAbsent { continue }
                if try Self.isMoved(current, from: version, in: source, before: published) { continue }
                conflicts.append(ObjectRef(entity: entity, key: key))
            }
        }
    }

    /// Whether compaction moved a row without changing it: then the sequence number is still the same.
    private static func isMoved(
        _ current: Location, from version: RowVersion, in source: BlockSource, before end: LogPosition
    ) throws(StoreError) -> Bool {
        guard !current.isAbsent, !version.location.isAbsent, LogPosition(current) < end else { return false }
        return try source.row(at: current).version.sequence == version.sequence
    }

    /// Lays a placed transaction over what is there.
    mutating func apply(
        _ transaction: WriteTransaction, sequence: UInt64, timestampNanoseconds: Int64
    ) throws(StoreError) {
        for job in transaction.jobs where job.role != .tombstone {
            try setRows(of: job.entity, keys: job.keys, at: job.location, isInsertion: job.role == .inserted)
        }
        for writer in transaction.writers {
            if !writer.deleted.isEmpty { try remove(writer.deleted.map { $0.key }, entity: writer.entity) }
        }
        for list in transaction.accumulators {
            try change(list.postingsID, list.others.isEmpty ? list.inserted : list.inserted + list.others)
        }
        ordered = try ordered.applying(transaction)
        self.sequence = sequence
        self.timestampNanoseconds = timestampNanoseconds
    }

    /// Points the rows of a transaction that was written again at their new places, unless they were replaced since.
    mutating func move(_ transaction: TransactionRecord) throws(StoreError) {
        for job in transaction.jobs where job.role != .tombstone {
            try withIndex(ofEntity: job.entity) { index throws(StoreError) in
                for (row, key) in job.keys.enumerated() {
                    let before = Location(rawValue: job.replacedLocation.rawValue | UInt64(row))
                    if try index.location(of: key) == before {
                        index.set(key, Location(rawValue: job.location.rawValue | UInt64(row)))
                    }
                }
            }
        }
    }

    /// Records which rows are no longer where a compaction copied them from, and forgets keys that are not absent.
    mutating func exclude(from compaction: PreparedCompaction) throws(StoreError) {
        for block in compaction.rows.indices {
            let entity = compaction.rows[block].entity
            let excluded = try withIndex(ofEntity: entity) { index throws(StoreError) in
                var excluded: [UInt64] = []
                for row in compaction.rows[block].keys.indices {
                    let current = try index.location(of: compaction.rows[block].keys[row])
                    if current != compaction.rows[block].sources[row] { excluded.append(UInt64(row)) }
                }
                return excluded
            }
            compaction.rows[block].excluded = excluded
        }
        for group in compaction.absent.indices {
            let keys = compaction.absent[group].keys
            compaction.absent[group].keys = try withIndex(ofEntity: compaction.absent[group].entity) {
                index throws(StoreError) in
                if let range = keys.consecutiveRange, try index.isEmpty(in: range) { return keys }
                var absent: [UInt64] = []
                for key in keys where try index.location(of: key).isAbsent { absent.append(key) }
                return IntegerList(absent)
            }
        }
    }

    /// Points the rows of a placed compaction at their new places.
    mutating func apply(_ compaction: PreparedCompaction) throws(StoreError) {
        for block in compaction.rows {
            try setRows(of: block.entity, keys: block.keys, at: block.location, excluding: block.excluded)
        }
    }

    /// Rows that were said again: nothing but their places changes.
    mutating func setRows(
        of entity: UInt16, keys: [UInt64], at block: Location, excluding excluded: [UInt64]
    ) throws(StoreError) {
        if excluded.isEmpty { return try setRows(of: entity, keys: keys, at: block, isInsertion: false) }
        try withIndex(ofEntity: entity) { index throws(StoreError) in
            var skipped = excluded[...]
            for (row, key) in keys.enumerated() {
                if skipped.first == UInt64(row) {
                    skipped.removeFirst()
                } else {
                    index.set(key, Location(rawValue: block.rawValue | UInt64(row)))
                }
            }
        }
    }

    /// Points the rows of a compaction that was written again at their new places, unless they were replaced since.
    mutating func move(_ compaction: PreparedCompaction) throws(StoreError) {
        for block in compaction.rows {
            try withIndex(ofEntity: block.entity) { index throws(StoreError) in
                for (row, key) in block.keys.enumerated() {
                    let before = Location(rawValue: block.replacedLocation.rawValue | UInt64(row))
                    if try index.location(of: key) == before {
                        index.set(key, Location(rawValue: block.location.rawValue | UInt64(row)))
                    }
                }
            }
        }
    }

    /// Keys of which a compaction says that they are not there (any more).
    mutating func setAbsent(_ keys: IntegerList, entity: UInt16) throws(StoreError) {
        guard !keys.isEmpty else { return }
        try withIndex(ofEntity: entity) { index throws(StoreError) in
            if let range = keys.consecutiveRange {
                _ = try index.removeAll(in: range)
                return
            }
            for key in keys { index.set(key, .absent) }
        }
    }

    mutating func setRows(
        of entity: UInt16, keys: [UInt64], at block: Location, isInsertion: Bool
    ) throws(StoreError) {
        guard !keys.isEmpty else { return }
        try withIndex(ofEntity: entity) { index throws(StoreError) in
            var start = 0
            while start < keys.count {
                var end = start + 1
                while end < keys.count && keys[end] == keys[end - 1] + 1 { end += 1 }
                let location = Location(rawValue: block.rawValue | UInt64(start))
                if end - start == 1 {
                    index.set(keys[start], location)
                } else {
                    index.setRun(firstKey: keys[start], count: end - start, location: location)
                }
                start = end
            }
        }
        if isInsertion { counts[Int(entity)] += keys.count }
    }

    /// Objects that a record says are gone, counted whether they are there or not.
    ///
    /// - Complexity: O(keys); for consecutive ones O(pages that have objects).
    mutating func remove(_ keys: IntegerList, entity: UInt16) throws(StoreError) {
        guard !keys.isEmpty else { return }
        try setAbsent(keys, entity: entity)
        counts[Int(entity)] -= keys.count
    }

    /// Removes the objects that are there of those that a record says are gone.
    ///
    /// - Returns: their keys.
    /// - Complexity: as ``remove(_:entity:)``, and O(objects that were there).
    mutating func remove(present keys: IntegerList, entity: UInt16) throws(StoreError) -> [UInt64] {
        guard !keys.isEmpty else { return [] }
        let gone = try withIndex(ofEntity: entity) { index throws(StoreError) in
            if let range = keys.consecutiveRange { return try index.removeAll(in: range) }
            var gone: [UInt64] = []
            for key in keys where try !index.location(of: key).isAbsent {
                index.set(key, .absent)
                gone.append(key)
            }
            return gone
        }
        counts[Int(entity)] -= gone.count
        return gone
    }

    mutating func remove(_ keys: [UInt64], entity: UInt16) throws(StoreError) {
        guard !keys.isEmpty else { return }
        try withIndex(ofEntity: entity) { index throws(StoreError) in
            for key in keys { index.set(key, .absent) }
        }
        counts[Int(entity)] -= keys.count
    }

    /// Points an object at its row; its entity's count stays.
    mutating func place(_ ref: ObjectRef, at location: Location) throws(StoreError) {
        try withIndex(ofEntity: ref.entity) { index throws(StoreError) in index.set(ref.key, location) }
    }

    mutating func raiseCount(of entity: UInt16, by count: Int) throws(StoreError) {
        guard Int(entity) < counts.count else {
            throw StoreError(.corruption, "the log names entity \(entity), which no schema of the store has")
        }
        counts[Int(entity)] += count
    }

    mutating func change(_ postingsID: UInt16, _ changes: [PostingChange]) throws(StoreError) {
        guard !changes.isEmpty else { return }
        postings[postingsID] = (postings[postingsID] ?? Postings()).adding(changes)
    }

    /// After migrations: forgets the objects of entities, and the relationships, that not all of their schemas have:
    /// what one of them did without does not come back with the next.
    ///
    /// - Precondition: nothing has been laid over the base yet.
    mutating func retire(by schemas: [Schema]) {
        guard let first = schemas.first else { return }
        var kept = Set(first.entities.flatMap { $0.slots.map(\.postingsID) })
        var roots = Set(first.entities.map(\.rootID))
        var entities = Set(first.entities.map(\.id))
        for schema in schemas.dropFirst() {
            kept.formIntersection(schema.entities.flatMap { $0.slots.map(\.postingsID) })
            roots.formIntersection(schema.entities.map(\.rootID))
            entities.formIntersection(schema.entities.map(\.id))
        }
        postings.removeAll { id, _ in !kept.contains(UInt16(id)) }
        retiredRoots = Set(layout.roots).subtracting(roots)
        for entity in counts.indices where counts[entity] != 0 && !entities.contains(UInt16(entity)) {
            counts[entity] = 0
        }
    }

    mutating func record(sequence: UInt64, timestampNanoseconds: Int64) {
        self.sequence = sequence
        self.timestampNanoseconds = timestampNanoseconds
    }

    /// - Parameter epoch: what the snapshot keeps; as a rule the same as the one before it.
    func finish(
        end: LogPosition, checksum: UInt32, epoch: SegmentEpoch? = nil
    ) throws(StoreError) -> Snapshot {
        var finished: [ObjectIndex] = []
        finished.reserveCapacity(indexes.count)
        for position in indexes.indices {
            if let edit = indexes[position] {
                finished.append(try edit.finish())
            } else {
                finished.append(baseIndex(at: position))
            }
        }
        return Snapshot(
            sequence: sequence, timestampNanoseconds: timestampNanoseconds, layout: layout, indexes: finished,
            postings: postings, counts: counts, source: base.source, end: end, checksum: checksum,
            ordered: ordered, epoch: epoch ?? base.epoch)
    }
}
