public import BenchSupport
import CBenchSupport
import CRocksDB
public import DataSet

/// The people in RocksDB, through its C API: packed rows under big-endian keys, LZ4, Bloom filters of ten bits a key,
/// the write-ahead log flushed with each write, two background threads.
public final class RocksDBPeople: Contestant {
    private let database: OpaquePointer
    private let options: OpaquePointer
    private let reading = rocksdb_readoptions_create()
    private let writing = rocksdb_writeoptions_create()

    /// Opens the database in `folder`, creating it when it is not there.
    ///
    /// - Parameter cacheByteCount: the budget of uncompressed blocks.
    public init(in folder: Folder, cacheByteCount: Int) throws {
        guard let options = rocksdb_options_create(), let table = rocksdb_block_based_options_create() else {
            throw BenchFailure("RocksDB gave no options")
        }
        self.options = options
        rocksdb_options_set_create_if_missing(options, 1)
        rocksdb_options_increase_parallelism(options, 2)
        rocksdb_options_set_compression(options, CInt(rocksdb_lz4_compression))
        rocksdb_block_based_options_set_block_cache(table, rocksdb_cache_create_lru(cacheByteCount))
        rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom(10))
        rocksdb_block_based_options_set_format_version(table, 5)
        rocksdb_options_set_block_based_table_factory(options, table)
        rocksdb_writeoptions_set_sync(writing, 1)
        var error: UnsafeMutablePointer<CChar>?
        let opened = rocksdb_open(options, folder.path, &error)
        try check(error)
        guard let opened else { throw BenchFailure("RocksDB gave no database") }
        database = opened
    }

    public func insert(_ rows: ArraySlice<PersonRow>, packed: PackedPeople) throws {
        try write { batch in
            for row in rows { put(packed.row(row.id).bytes, row.id, batch) }
        }
    }

    public func delete(_ ids: [UInt64]) throws {
        try write { batch in
            for id in ids { withKey(id) { rocksdb_writebatch_delete(batch, $0, 8) } }
        }
    }

    /// Each row is read, and written anew with its score changed.
    public func updateScores(_ changes: [(id: UInt64, score: Double)]) throws {
        try write { batch in
            var bytes = [UInt8](repeating: 0, count: 512)
            for change in changes {
                let count = try row(change.id) { row in
                    bytes.withUnsafeMutableBytes { $0.copyMemory(from: row.bytes) }
                    return row.bytes.count
                }
                bytes.withUnsafeMutableBytes {
                    $0.storeBytes(of: change.score, toByteOffset: PackedPerson.scoreOffset, as: Double.self)
                }
                bytes.withUnsafeBytes { put(UnsafeRawBufferPointer(rebasing: $0[..<count]), change.id, batch) }
            }
        }
    }

    public func read(_ ids: [UInt64], _ manner: ReadManner) throws -> UInt64? {
        guard manner != .strings else { return nil }
        var sum: UInt64 = 0
        for id in ids {
            sum &+= try row(id) { manner == .allFields ? $0.digest : UInt64($0.score) &+ nameDigest($0.name) }
        }
        return sum
    }

    public func readSequentially() throws -> UInt64? {
        var sum: UInt64 = 0
        try forEachRow { sum &+= $0.digest }
        return sum
    }

    public func scan(_ query: ScanQuery) throws -> UInt64? {
        switch query {
        case .predicate:
            var hits: UInt64 = 0
            try forEachRow { person in
                if person.age >= 40, bench_contains(person.bio.baseAddress, person.bio.count, "delta", 5) { hits += 1 }
            }
            return hits
        case .groupSum:
            var sums = [Double?](repeating: nil, count: PersonRow.departmentCount + 1)
            try forEachRow { person in
                sums[Int(person.department)] = (sums[Int(person.department)] ?? 0) + person.score
            }
            let present = sums.compactMap(\.self)
            return groupSumCheck(total: present.reduce(0, +), groups: present.count)
        case .numbers, .folded, .sorted: return nil
        }
    }

    public func close() throws {
        rocksdb_close(database)
        rocksdb_options_destroy(options)
        rocksdb_readoptions_destroy(reading)
        rocksdb_writeoptions_destroy(writing)
    }

    // MARK: Rows

    private func row<Result>(_ id: UInt64, _ body: (PackedPerson) throws -> Result) throws -> Result {
        var error: UnsafeMutablePointer<CChar>?
        let found = withKey(id) { rocksdb_get_pinned(database, reading, $0, 8, &error) }
        try check(error)
        guard let found else { throw BenchFailure("row \(id) is missing") }
        defer { rocksdb_pinnableslice_destroy(found) }
        var count = 0
        let start = rocksdb_pinnableslice_value(found, &count)
        return try body(PackedPerson(bytes: UnsafeRawBufferPointer(start: start, count: count)))
    }

    private func forEachRow(_ body: (PackedPerson) -> Void) throws {
        let iterator = rocksdb_create_iterator(database, reading)
        defer { rocksdb_iter_destroy(iterator) }
        rocksdb_iter_seek_to_first(iterator)
        while rocksdb_iter_valid(iterator) != 0 {
            var count = 0
            let start = rocksdb_iter_value(iterator, &count)
            body(PackedPerson(bytes: UnsafeRawBufferPointer(start: start, count: count)))
            rocksdb_iter_next(iterator)
        }
        var error: UnsafeMutablePointer<CChar>?
        rocksdb_iter_get_error(iterator, &error)
        try check(error)
    }

    private func write(_ body: (OpaquePointer?) throws -> Void) throws {
        let batch = rocksdb_writebatch_create()
        defer { rocksdb_writebatch_destroy(batch) }
        try body(batch)
        var error: UnsafeMutablePointer<CChar>?
        rocksdb_write(database, writing, batch, &error)
        try check(error)
    }

    private func put(_ bytes: UnsafeRawBufferPointer, _ id: UInt64, _ batch: OpaquePointer?) {
        withKey(id) { key in
            rocksdb_writebatch_put(
                batch, key, 8, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
    }
}

/// Keys are ordered byte by byte.
@inline(__always)
private func withKey<Result>(_ id: UInt64, _ body: (UnsafePointer<CChar>?) throws -> Result) rethrows -> Result {
    var key = id.bigEndian
    return try withUnsafeBytes(of: &key) { try body($0.baseAddress?.assumingMemoryBound(to: CChar.self)) }
}

private func check(_ error: UnsafeMutablePointer<CChar>?) throws {
    guard let error else { return }
    defer { rocksdb_free(error) }
    throw BenchFailure("RocksDB: " + String(cString: error))
}
