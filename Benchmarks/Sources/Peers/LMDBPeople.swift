public import BenchSupport
import CBenchSupport
import CLMDB
public import DataSet

/// The people in LMDB: packed rows under integer keys, one sync for each commit, no WRITEMAP.
public final class LMDBPeople: Contestant {
    private let environment: OpaquePointer
    private var map: MDB_dbi = 0

    /// Opens the environment in `folder`, creating it when it is not there.
    public init(in folder: Folder) throws {
        var environment: OpaquePointer?
        try check(mdb_env_create(&environment))
        guard let environment else { throw BenchFailure("LMDB gave no environment") }
        self.environment = environment
        try check(mdb_env_set_mapsize(environment, 16 << 30))
        try check(mdb_env_open(environment, folder.path, UInt32(MDB_NORDAHEAD), 0o600))
        try transaction { transaction in
            try check(mdb_dbi_open(transaction, nil, UInt32(MDB_CREATE | MDB_INTEGERKEY), &map))
        }
    }

    public func insert(_ rows: ArraySlice<PersonRow>, packed: PackedPeople) throws {
        try transaction { transaction in
            for row in rows {
                try withKey(row.id) { key in
                    let bytes = UnsafeMutableRawBufferPointer(mutating: packed.row(row.id).bytes)
                    var value = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
                    try check(mdb_put(transaction, map, key, &value, UInt32(MDB_APPEND)))
                }
            }
        }
    }

    public func delete(_ ids: [UInt64]) throws {
        try transaction { transaction in
            for id in ids {
                try withKey(id) { key in try check(mdb_del(transaction, map, key, nil)) }
            }
        }
    }

    public func read(_ ids: [UInt64], _ manner: ReadManner) throws -> UInt64? {
        guard manner != .strings else { return nil }
        var sum: UInt64 = 0
        try transaction(flags: UInt32(MDB_RDONLY)) { transaction in
            for id in ids {
                var value = MDB_val()
                try withKey(id) { key in try check(mdb_get(transaction, map, key, &value)) }
                let person = person(value)
                sum &+= manner == .allFields ? person.digest : UInt64(person.score) &+ nameDigest(person.name)
            }
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
                if person.age >= 40, bench_contains(person.bio.baseAddress, person.bio.count, "delta", 5) {
                    hits += 1
                }
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
        mdb_env_close(environment)
    }

    private func forEachRow(_ body: (PackedPerson) -> Void) throws {
        try transaction(flags: UInt32(MDB_RDONLY)) { transaction in
            var cursor: OpaquePointer?
            try check(mdb_cursor_open(transaction, map, &cursor))
            defer { mdb_cursor_close(cursor) }
            var key = MDB_val()
            var value = MDB_val()
            while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0 { body(person(value)) }
        }
    }

    private func transaction(flags: UInt32 = 0, _ body: (OpaquePointer) throws -> Void) throws {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, flags, &transaction))
        guard let transaction else { throw BenchFailure("LMDB gave no transaction") }
        do {
            try body(transaction)
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        try check(mdb_txn_commit(transaction))
    }
}

@inline(__always)
private func person(_ value: MDB_val) -> PackedPerson {
    PackedPerson(bytes: UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
}

@inline(__always)
private func withKey(_ id: UInt64, _ body: (UnsafeMutablePointer<MDB_val>) throws -> Void) throws {
    var id = id
    try withUnsafeMutableBytes(of: &id) { bytes in
        var key = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
        try body(&key)
    }
}

private func check(_ code: CInt) throws {
    guard code == 0 else { throw BenchFailure("LMDB: " + String(cString: mdb_strerror(code))) }
}
