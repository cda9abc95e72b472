public import StrataIO
internal import StrataSupport
internal import Synchronization
public import SystemPackage

extension LogStore {
    /// Opens or creates the store in a directory.
    ///
    /// Loads the newest sound checkpoint, replays what was committed after it, and cuts off what was never
    /// acknowledged (``recovery`` tells).
    ///
    /// ```swift
    /// let schema = Schema(entities: [
    ///     EntityLayout(id: 1, rootID: 1, name: "Book", slots: [SlotLayout(.string), SlotLayout(.int64)])
    /// ])
    /// let store = try LogStore.open("/store", in: fileSystem, schema: schema)
    /// ```
    ///
    /// - Parameters:
    ///   - path: the store's directory; created with mode 0700 if it is missing and the options allow it.
    ///   - fileSystem: where the directory is: the operating system's, or one in memory.
    ///   - options: how durable commits are, who may write, and what the store may use.
    ///   - schema: the shape of rows to be written; registered as a new version if the store's newest differs. Nil
    ///   keeps what is there.
    /// - Throws: `.locked` when another process (or another open in this one) writes the store, or others make, replace
    ///   or remove it all the while; `.notFound` when nothing is there, or a link to nothing, and nothing may be made;
    ///   `.corruption`, naming segment and offset, when acknowledged data is damaged, and when there are files of a
    ///   store whose log or manifest is missing; `.unsupportedFormat` for a file that is no directory, a directory that
    ///   holds files of others and no store, and a store of another version; `.io`; `.schemaMismatch` when a read-only
    ///   open asks for another schema than the stored one, or the schema does not continue the stored one;
    ///   `.invalidArgument` for options out of range. Nothing on disk is changed then.
    /// - Complexity: in proportion to what was committed since the last checkpoint, not to the size of the store.
    public static func open(
        _ path: FilePath, in fileSystem: any FileSystem, options: LogOptions = LogOptions(), schema: Schema?
    ) throws(StoreError) -> LogStore {
        guard options.segmentMaximumBytes >= 64 << 10, options.segmentMaximumBytes <= Location.segmentMaximumBytes
        else {
            throw StoreError(.invalidArgument, "segmentMaximumBytes must be 64 KiB to 1 GiB")
        }
        guard options.cacheMaximumBytes >= 0, options.checkpointTailBytes > 0, options.preallocationMinimumBytes > 0
        else {
            throw StoreError(.invalidArgument, "cache, checkpoint and preallocation sizes must not be negative or zero")
        }
        var opener = StoreOpener(
            files: StoreFiles(fileSystem: fileSystem, directory: path), options: options)
        let opened = try EventHub.telling(.opening, of: [.at(path.string)], as: { .opening($0) }) {
            () throws(StoreError) in
            try opener.open(schema: schema)
        }
        let store = LogStore(opened, options: options)
        if let schema {
            do throws(StoreError) {
                try store.register(schema)
            } catch {
                try? store.close()
                throw error
            }
        }
        return store
    }

    /// Makes a schema the newest one, unless it is already. Rows of earlier versions are read as it says from then on;
    /// none is written.
    ///
    /// Durable when it returns. After an error the store is as before, unless it says that the disk refuses to be
    /// written. Snapshots that were taken before must not be used any more if the schema is a migration.
    ///
    /// - Throws: `.schemaMismatch` for a read-only store, or a schema that rows cannot be read by; `.io`; `.closed`.
    /// - Complexity: O(1) in the rows.
    public func register(_ schema: Schema) throws(StoreError) {
        let current = state.withLock { $0.storeState.schemas.last }
        guard current?.schema != schema else { return }
        guard !isReadOnly else {
            throw StoreError(
                .schemaMismatch, "the stored schema differs from the one asked for, and the store is open read-only",
                path: files.directory.string)
        }
        if let current {
            if schema.isMigration {
                try checkMigration(schema, from: current.schema)
            } else {
                try Self.check(schema, follows: current.schema, files.directory.string)
            }
        }
        let (version, isOverflow) = (current?.version ?? 0).addingReportingOverflow(1)
        guard !isOverflow else { throw StoreError(.tooLarge, "the store has used all 65,535 schema versions") }
        let numbered = NumberedSchema(version: version, schema: schema)
        var body = ByteWriter()
        numbered.append(to: &body)
        try append(schema.isMigration ? .migration : .schema, body: body.bytes) { $0.schemas.append(numbered) }
        try withWriter { writer throws(StoreError) in
            let schemas = writer.storeState.schemas
            let ordered = snapshot.ordered.lifted(from: schemas.dropLast(), to: schemas)
            source.setSchemas(schemas)
            source.pinSchema()
            var edit = SnapshotEdit(base: snapshot.with(ordered), layout: StoreLayout(schemas))
            if schema.isMigration { edit.retire(by: [schema]) }
            let extended = try edit.finish(end: writer.end.position, checksum: writer.end.checksum)
            published.withLock { $0 = extended }
            state.withLock { $0.orderedRules = extended.ordered.rules }
        }
    }

    /// A migration may do with an entity's slots what it likes, as long as each value stays what it is.
    private func checkMigration(_ new: Schema, from old: Schema) throws(StoreError) {
        func mismatch(_ what: String) -> StoreError {
            StoreError(.schemaMismatch, what, path: files.directory.string)
        }
        let earlier = state.withLock { $0.storeState.schemas }
        for entity in new.entities {
            guard let before = old.entity(entity.id) else {
                guard !earlier.contains(where: { $0.schema.entity(entity.id) != nil }) else {
                    throw mismatch("the number \(entity.id) of \(entity.name) was another entity's")
                }
                continue
            }
            guard before.rootID == entity.rootID else {
                throw mismatch("entity \(entity.name) (\(entity.id)) has the keys of another root")
            }
            for slot in entity.slots {
                if let fill = slot.lift.fill, slot.kind.fixedWidth > 0, fill.count != slot.kind.fixedWidth {
                    throw mismatch("a slot of \(entity.name) is filled with \(fill.count) bytes")
                }
                guard let source = slot.lift.source else { continue }
                guard source < before.slots.count, before.slots[source].kind == slot.kind,
                    slot.postingsID == 0 || before.slots[source].postingsID == slot.postingsID
                else {
                    throw mismatch("entity \(entity.name) (\(entity.id)) has slots that its rows cannot be read as")
                }
            }
        }
    }

    /// A newer schema may add entities, and slots behind those that an entity has: rows of all versions are addressed
    /// by one numbering.
    private static func check(_ new: Schema, follows old: Schema, _ path: String) throws(StoreError) {
        for entity in old.entities {
            guard let other = new.entity(entity.id) else { continue }
            let isExtension =
                other.rootID == entity.rootID && other.slots.count >= entity.slots.count
                && zip(entity.slots, other.slots).allSatisfy { $0.kind == $1.kind && $0.postingsID == $1.postingsID }
            guard isExtension else {
                throw StoreError(
                    .schemaMismatch, "entity \(entity.name) (\(entity.id)) has other slots than its stored rows",
                    path: path)
            }
        }
    }

    /// Committed transactions with a higher number than `sequence`, in order, up to the newest now. 0 starts at the
    /// beginning.
    ///
    /// - Complexity: O(log segments) to find the place; reading is sequential.
    public func history(after sequence: UInt64) throws(StoreError) -> HistoryReader {
        try HistoryReader(snapshot: snapshot, after: sequence)
    }

    /// Counts and sizes, for people and tests.
    public var statistics: StoreStatistics {
        let cache = source.cache.statistics
        let snapshot = snapshot
        let (counters, compaction, freshRows) = state.withLock { state in
            (
                state.counters, state.compactionSchedule,
                (completed: state.freshRows.completed, failed: state.freshRows.failed)
            )
        }
        return StoreStatistics(
            commits: counters.commits, flushes: counters.flushes, writtenByteCount: counters.writtenBytes,
            relocations: counters.relocations, newestSegment: snapshot.end.segment,
            indexByteCount: snapshot.indexes.reduce(0) { $0 + $1.memoryByteCount },
            postingsByteCount: snapshot.postings.values.reduce(0) { $0 + $1.memoryByteCount },
            orderedByteCount: snapshot.ordered.memoryByteCount,
            cacheByteCount: cache.byteCount, cacheHits: cache.hits, cacheMisses: cache.misses,
            compactions: compaction.completed, failedCompactions: compaction.failed, merges: freshRows.completed,
            failedMerges: freshRows.failed)
    }

    /// Forgets all decoded blocks, as if nothing had been read yet.
    public func dropCache() {
        source.cache.removeAll()
    }
}

/// The counters of ``LogStore/statistics``, which start when the store is opened.
public struct StoreStatistics: Sendable, Hashable {
    /// Transactions that were committed and acknowledged.
    public var commits: Int
    /// Successful flushes of the log; several commits may share one.
    public var flushes: Int
    /// Bytes of records written to the log.
    public var writtenByteCount: Int
    /// Failed flushes that were made good by writing the log on in a new segment.
    public var relocations: Int
    /// The number of the segment that the log is written to.
    public var newestSegment: UInt32
    /// Memory of the object index that has been loaded or made.
    public var indexByteCount: Int
    /// Memory of the postings (inverse relationships) that has been loaded or made.
    public var postingsByteCount: Int
    /// Memory of the ordered indexes.
    public var orderedByteCount: Int
    /// Memory of the decoded blocks that are kept, at most ``LogOptions``' budget but for what is being read.
    public var cacheByteCount: Int
    /// How often a block that was wanted was in the cache.
    public var cacheHits: UInt64
    /// How often a block had to be read and decoded.
    public var cacheMisses: UInt64
    /// Times that the background looked at the segments, and compacted what was worth it.
    public var compactions: Int
    /// Times that an error kept it from doing so.
    public var failedCompactions: Int
    /// Times that the background merged blocks of few rows.
    public var merges: Int
    /// Times that an error kept it from doing so.
    public var failedMerges: Int
}
