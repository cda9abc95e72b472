import StrataIO
import SystemPackage

@testable import StrataLog

/// Whole segments: read as history, and opened as a store.
enum StoreTargets {
    static let all = [
        FuzzTarget("history", maximumByteCount: 16384, seeds: { Samples.segments() }) { history($0) },
        FuzzTarget("history-resealed", maximumByteCount: 16384, seeds: { Samples.segments() }) {
            history(resealed($0))
        },
        FuzzTarget("store", maximumByteCount: 16384, seeds: { Samples.segments() }) { store($0, nil) },
        FuzzTarget("store-resealed", maximumByteCount: 16384, seeds: { Samples.segments() }) {
            store(resealed($0), nil)
        },
        FuzzTarget("store-checkpoint-resealed", maximumByteCount: 16384, seeds: { try both() }) { split($0) },
    ]

    private static func resealed(_ input: [UInt8]) -> [UInt8] {
        var bytes = input
        bytes.withUnsafeMutableBytes { Reseal.segment($0, number: 1) }
        return bytes
    }

    private static func directory(_ segment: [UInt8]) -> MemoryFileSystem {
        let files = MemoryFileSystem()
        try? files.createDirectory("/s")
        try? Samples.write(segment, "/s/00000001.seg", files)
        return files
    }

    // MARK: History

    private static func history(_ input: [UInt8]) {
        let source = BlockSource(
            files: StoreFiles(fileSystem: directory(input), directory: "/s"), storeUUID: Samples.storeUUID,
            cacheMaximumBytes: 0)
        let schemas = [NumberedSchema(version: 1, schema: Samples.schema)]
        source.setSchemas(schemas)
        let end = LogWriter.End(position: LogPosition(segment: 1, offset: input.count), sequence: 99, checksum: 0)
        let snapshot = Snapshot.empty(layout: StoreLayout(schemas), source: source, end: end)
        for after in [0, 1] as [UInt64] { try? read(HistoryReader(snapshot: snapshot, after: after)) }
    }

    private static func read(_ history: HistoryReader) throws {
        var history = history
        while let transaction = try history.next() {
            for group in transaction.groups {
                for block in group.tombstones { try Probe.read(block, verifyFirst: false) }
            }
        }
    }

    // MARK: The store

    /// A segment's length (2 bytes), the segment, then a checkpoint of it.
    private static func both() throws -> [[UInt8]] {
        try [1, 4, 40].map { rows in
            let files = try Samples.store(rows: rows, large: false)
            let segment = try Samples.contents("/s/00000001.seg", files)
            let checkpoint = try Samples.contents("/s/00000001.chk", files)
            return withUnsafeBytes(of: UInt16(segment.count).littleEndian) { Array($0) } + segment + checkpoint
        }
    }

    private static func split(_ input: [UInt8]) {
        guard input.count >= 2 else { return }
        let count = min(Int(input[0]) | Int(input[1]) << 8, input.count - 2)
        store(resealed(Array(input[2..<2 + count])), CheckpointTargets.resealed(Array(input[(2 + count)...])))
    }

    private static func store(_ segment: [UInt8], _ checkpoint: [UInt8]?) {
        let files = directory(segment)
        if let checkpoint { try? Samples.write(checkpoint, "/s/00000001.chk", files) }
        guard let store = try? LogStore.open("/s", in: files, options: Samples.options, schema: Samples.schema) else {
            return
        }
        probe(store)
        // The log has to take commits whatever it holds, and a store that opened once must open again.
        let isWritten = (try? commit(store)) != nil
        try? store.checkpoint()
        do {
            try store.close()
        } catch {
            return
        }
        guard isWritten, checkpoint == nil else { return }
        do {
            _ = try LogStore.open("/s", in: files, options: Samples.options, schema: Samples.schema)
        } catch {
            fatalError("a store that was closed does not open again: \(error)")
        }
    }

    private static func probe(_ store: LogStore) {
        let snapshot = store.snapshot
        for entity in 0..<UInt16(5) {
            _ = snapshot.count(entity: entity)
            try? snapshot.forEachRun(root: entity) { run throws(StoreError) in
                let row = try store.row(at: run.location)
                for slot in 0..<row.block.slotCount {
                    let column = try row.block.column(slot)
                    if column.isExternal(row.index) { _ = try store.read(column.external(row.index)) }
                }
                return true
            }
            _ = try? snapshot.referrers(postings: 7, to: ObjectRef(entity: 1, key: UInt64(entity)))
            _ = try? snapshot.referrerCount(postings: 7, to: ObjectRef(entity: 1, key: UInt64(entity)))
        }
        if let history = try? store.history(after: 0) { try? read(history) }
        _ = try? store.verify()
    }

    private static func commit(_ store: LogStore) throws {
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: 2)
        writer.beginInsert(key: try store.allocateKeys(root: 2, count: 1))
        writer.set(0, "new")
        writer.set(4, ObjectRef(entity: 1, key: 1))
        writer.endRow()
        let ref = ObjectRef(entity: 2, key: 1)
        if let version = try store.snapshot.row(ref)?.version { try transaction.delete(ref, replacing: version) }
        _ = try store.commit(transaction)
    }
}
