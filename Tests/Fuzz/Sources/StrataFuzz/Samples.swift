import StrataIO
import SystemPackage

@testable import StrataLog

/// Small real stores that seeds are taken from.
enum Samples {
    static let storeUUID = StoreUUID(high: 0x1234, low: 0x5678)

    static let schema = Schema(entities: [
        EntityLayout(id: 1, rootID: 1, name: "Department", slots: [SlotLayout(.string)]),
        EntityLayout(
            id: 2, rootID: 2, name: "Person",
            slots: [
                SlotLayout(.string), SlotLayout(.int16), SlotLayout(.double), SlotLayout(.bool),
                SlotLayout(.reference, postingsID: 7), SlotLayout(.string, preservedInHistory: true),
                SlotLayout(.data), SlotLayout(.uuid),
            ]),
    ])

    static var options: LogOptions {
        var options = LogOptions()
        options.segmentMaximumBytes = 1 << 20
        options.preallocationMinimumBytes = 64
        options.checkpointsInBackground = false
        options.cacheMaximumBytes = 64 << 10
        options.newStoreUUID = storeUUID
        options.clock = { 1_000_000_000 }
        return options
    }

    /// A store with inserts, an update, deletions with preserved values, and metadata.
    static func store(rows: Int, large: Bool) throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        let store = try LogStore.open("/s", in: files, options: options, schema: schema)
        try store.maintain([OrderedTargets.definition])
        let insertion = store.makeTransaction()
        insertion.author = "author"
        let first = try store.allocateKeys(root: 2, count: rows)
        let writer = insertion.writer(for: 2)
        for key in first..<first + UInt64(rows) { write(key, writer, large: large) }
        _ = try store.commit(insertion)
        try store.setMetadata([1, 2, 3])
        let change = store.makeTransaction()
        let ref = ObjectRef(entity: 2, key: first)
        if let version = try store.snapshot.row(ref)?.version {
            let writer = change.writer(for: 2)
            try writer.beginUpdate(key: first, replacing: version, changed: SlotSet([1, 4]))
            writer.set(1, Int16(99))
            writer.set(4, ObjectRef(entity: 1, key: 2))
            writer.endRow()
        }
        let last = ObjectRef(entity: 2, key: first + UInt64(rows) - 1)
        if rows > 1, let version = try store.snapshot.row(last)?.version {
            try change.delete(last, replacing: version)
        }
        _ = try store.commit(change)
        try store.close()
        return files
    }

    private static func write(_ key: UInt64, _ writer: EntityWriter, large: Bool) {
        writer.beginInsert(key: key)
        writer.set(0, "person \(key)")
        writer.set(1, Int16(truncatingIfNeeded: key))
        writer.set(2, Double(key) / 3)
        writer.set(3, key % 2 == 0)
        writer.set(4, ObjectRef(entity: 1, key: 1 + key % 3))
        writer.set(5, "p\(key)@example.org")
        if large {
            [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 70_000).withUnsafeBytes {
                writer.set(6, bytes: $0)
            }
        }
        writer.endRow()
    }

    static func contents(_ path: FilePath, _ files: MemoryFileSystem) throws -> [UInt8] {
        let file = try files.open(path, .read)
        var bytes = [UInt8](repeating: 0, count: Int(try file.byteCount()))
        _ = try bytes.withUnsafeMutableBytes { try file.readAll(into: $0, at: 0) }
        return bytes
    }

    static func write(_ bytes: [UInt8], _ path: FilePath, _ files: MemoryFileSystem) throws {
        let file = try files.open(path, .createIfMissing)
        try bytes.withUnsafeBytes { try file.writeAll([$0], at: 0) }
    }

    static func segments() -> [[UInt8]] {
        [(1, false), (4, false), (40, false), (1, true)].compactMap { rows, large in
            try? contents("/s/00000001.seg", try store(rows: rows, large: large))
        }
    }

    static func segment() -> [UInt8] { segments().first ?? [] }

    /// All records of the segments.
    static func records() -> [[UInt8]] {
        var records: [[UInt8]] = []
        for segment in segments() {
            var offset = SegmentHeader.byteCount
            while offset + 64 <= segment.count {
                let byteCount = segment.withUnsafeBytes {
                    Int($0.loadUnaligned(fromByteOffset: offset + 24, as: UInt32.self))
                }
                guard byteCount >= 64, byteCount <= segment.count - offset else { break }
                records.append(Array(segment[offset..<offset + byteCount]))
                offset += byteCount
            }
        }
        return records
    }

    static func checkpoints() -> [[UInt8]] {
        [1, 4, 40, 400].compactMap { rows in
            try? contents("/s/00000001.chk", try store(rows: rows, large: false))
        }
    }
}
