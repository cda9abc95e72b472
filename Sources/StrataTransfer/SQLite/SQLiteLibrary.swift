import Foundation

/// The functions of SQLite, looked up in the system's library when they are first needed.
///
/// Strata itself needs no SQLite, so nothing is linked against it and no development package is asked for.
struct SQLiteLibrary: Sendable {
    typealias Handle = OpaquePointer
    typealias Open =
        @Sendable @convention(c) (
            UnsafePointer<CChar>, UnsafeMutablePointer<Handle?>, Int32, UnsafePointer<CChar>?
        ) -> Int32
    typealias Prepare =
        @Sendable @convention(c) (
            Handle?, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<Handle?>, UnsafeMutableRawPointer?
        ) -> Int32
    typealias Call = @Sendable @convention(c) (Handle?) -> Int32
    typealias Text = @Sendable @convention(c) (Handle?) -> UnsafePointer<CChar>?
    typealias ColumnInt = @Sendable @convention(c) (Handle?, Int32) -> Int32
    typealias ColumnInt64 = @Sendable @convention(c) (Handle?, Int32) -> Int64
    typealias ColumnDouble = @Sendable @convention(c) (Handle?, Int32) -> Double
    typealias ColumnBytes = @Sendable @convention(c) (Handle?, Int32) -> UnsafeRawPointer?
    typealias BindInt64 = @Sendable @convention(c) (Handle?, Int32, Int64) -> Int32
    typealias BindDouble = @Sendable @convention(c) (Handle?, Int32, Double) -> Int32
    typealias BindNull = @Sendable @convention(c) (Handle?, Int32) -> Int32
    typealias BindBytes =
        @Sendable @convention(c) (Handle?, Int32, UnsafeRawPointer?, Int32, UnsafeMutableRawPointer?) -> Int32

    let open: Open
    let close: Call
    let message: Text
    let prepare: Prepare
    let step: Call
    let reset: Call
    let finalize: Call
    let columnCount: Call
    let columnType: ColumnInt
    let columnInt64: ColumnInt64
    let columnDouble: ColumnDouble
    let columnText: ColumnBytes
    let columnBlob: ColumnBytes
    let columnByteCount: ColumnInt
    let bindInt64: BindInt64
    let bindDouble: BindDouble
    let bindNull: BindNull
    let bindText: BindBytes
    let bindBlob: BindBytes

    /// The library's names: the one of the run-time package first.
    private static let names = ["libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"]

    /// Loaded once; the process keeps it.
    private static let loaded: Result<SQLiteLibrary, TransferError> = {
        for name in names {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { continue }
            return Result { () throws(TransferError) in try SQLiteLibrary(handle) }
        }
        return .failure(
            TransferError("SQLite is not installed: \(names[0]) was not found. Install it (apt install libsqlite3-0)."))
    }()

    /// - Throws: ``TransferError`` when the machine has no SQLite, or one that lacks something.
    static func shared() throws(TransferError) -> SQLiteLibrary { try loaded.get() }

    private init(_ handle: UnsafeMutableRawPointer) throws(TransferError) {
        func function<Function>(_ name: String, _ type: Function.Type = Function.self) throws(TransferError) -> Function
        {
            guard let symbol = dlsym(handle, name) else { throw TransferError("the SQLite found here has no \(name)") }
            // SAFETY: the types are those of SQLite's documented interface, which has not changed since version 3.5.
            return unsafeBitCast(symbol, to: type)
        }
        open = try function("sqlite3_open_v2")
        close = try function("sqlite3_close")
        message = try function("sqlite3_errmsg")
        prepare = try function("sqlite3_prepare_v2")
        step = try function("sqlite3_step")
        reset = try function("sqlite3_reset")
        finalize = try function("sqlite3_finalize")
        columnCount = try function("sqlite3_column_count")
        columnType = try function("sqlite3_column_type")
        columnInt64 = try function("sqlite3_column_int64")
        columnDouble = try function("sqlite3_column_double")
        columnText = try function("sqlite3_column_text")
        columnBlob = try function("sqlite3_column_blob")
        columnByteCount = try function("sqlite3_column_bytes")
        bindInt64 = try function("sqlite3_bind_int64")
        bindDouble = try function("sqlite3_bind_double")
        bindNull = try function("sqlite3_bind_null")
        bindText = try function("sqlite3_bind_text")
        bindBlob = try function("sqlite3_bind_blob")
    }
}
