import CSQLite

/// A prepared INSERT whose parameters are bound one after another.
///
/// Text is gathered in memory of the statement's own and bound without a further copy (SQLITE_STATIC), which is the
/// fastest way to hand Swift strings to SQLite.
final class Statement {
    let handle: OpaquePointer
    private let database: Database
    private let text: UnsafeMutablePointer<UInt8>
    private static let textCapacity = 1 << 20
    private var used = 0
    private var column: Int32 = 0

    init(_ database: Database, _ sql: String) throws {
        var prepared: OpaquePointer?
        guard
            sqlite3_prepare_v3(database.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
                == SQLITE_OK,
            let prepared
        else { throw database.failure(sql) }
        self.database = database
        handle = prepared
        text = .allocate(capacity: Self.textCapacity)
    }

    deinit {
        sqlite3_finalize(handle)
        text.deallocate()
    }

    func bind(_ value: Int) {
        column += 1
        sqlite3_bind_int64(handle, column, Int64(value))
    }

    func bind(_ value: Int?) {
        if let value { bind(value) } else { column += 1 }
    }

    func bind(_ value: String?) {
        column += 1
        guard let value else { return }
        let count = value.utf8.count
        precondition(used + count <= Self.textCapacity, "a row of more than \(Self.textCapacity) bytes")
        let start = text + used
        let isCopied: Void? = value.utf8.withContiguousStorageIfAvailable { bytes in
            if let base = bytes.baseAddress { start.update(from: base, count: bytes.count) }
        }
        precondition(isCopied != nil, "strings made on Linux are contiguous")
        used += count
        // SAFETY: the bytes stay where they are until step() has reset the statement.
        start.withMemoryRebound(to: CChar.self, capacity: count) {
            _ = sqlite3_bind_text(handle, column, $0, Int32(count), nil)
        }
    }

    /// Inserts the row and forgets its values.
    func step() throws {
        guard sqlite3_step(handle) == SQLITE_DONE else { throw database.failure("insert") }
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        used = 0
        column = 0
    }
}
