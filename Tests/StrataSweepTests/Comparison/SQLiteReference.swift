import Foundation

/// A database of SQLite in memory, to ask it what Strata is asked.
///
/// The library is looked up when the program runs: Swift's own build tool is linked against it, so it is there wherever
/// these tests are built, with or without the headers that a system library target would need.
final class SQLiteReference {
    enum Value: Equatable, Hashable, CustomStringConvertible {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)

        var description: String {
            switch self {
            case .null: "NULL"
            case .integer(let value): "\(value)"
            case .real(let value): "\(value)"
            case .text(let value): "'\(value)'"
            }
        }

        /// As SQL.
        var literal: String {
            if case .text(let value) = self { return "'\(value.replacingOccurrences(of: "'", with: "''"))'" }
            return description
        }
    }

    struct Problem: Error, CustomStringConvertible {
        var description: String
    }

    private typealias Open = @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>) -> Int32
    private typealias Prepare =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<OpaquePointer?>, UnsafeMutableRawPointer?
        ) -> Int32
    private typealias Call = @convention(c) (OpaquePointer?) -> Int32
    private typealias Message = @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
    private typealias ColumnInt = @convention(c) (OpaquePointer?, Int32) -> Int32
    private typealias ColumnInt64 = @convention(c) (OpaquePointer?, Int32) -> Int64
    private typealias ColumnDouble = @convention(c) (OpaquePointer?, Int32) -> Double
    private typealias ColumnText = @convention(c) (OpaquePointer?, Int32) -> UnsafePointer<UInt8>?

    /// The library's handle as a number, which may be shared between threads.
    private static let library: Int = {
        for name in ["libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"] {
            if let handle = dlopen(name, RTLD_NOW) { return Int(bitPattern: handle) }
        }
        return 0
    }()

    /// Whether this machine has the library.
    static var isAvailable: Bool { library != 0 }

    private let database: OpaquePointer
    private let prepare: Prepare
    private let step: Call
    private let finalize: Call
    private let close: Call
    private let message: Message
    private let columnCount: Call
    private let columnType: ColumnInt
    private let columnInt64: ColumnInt64
    private let columnDouble: ColumnDouble
    private let columnText: ColumnText

    init() throws {
        func function<Function>(_ name: String, _ type: Function.Type) throws -> Function {
            guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: Self.library), name) else {
                throw Problem(description: "SQLite has no \(name)")
            }
            return unsafeBitCast(symbol, to: type)
        }
        prepare = try function("sqlite3_prepare_v2", Prepare.self)
        step = try function("sqlite3_step", Call.self)
        finalize = try function("sqlite3_finalize", Call.self)
        close = try function("sqlite3_close", Call.self)
        message = try function("sqlite3_errmsg", Message.self)
        columnCount = try function("sqlite3_column_count", Call.self)
        columnType = try function("sqlite3_column_type", ColumnInt.self)
        columnInt64 = try function("sqlite3_column_int64", ColumnInt64.self)
        columnDouble = try function("sqlite3_column_double", ColumnDouble.self)
        columnText = try function("sqlite3_column_text", ColumnText.self)
        var opened: OpaquePointer?
        guard try function("sqlite3_open", Open.self)(":memory:", &opened) == 0, let opened else {
            throw Problem(description: "SQLite does not open a database")
        }
        database = opened
    }

    deinit { _ = close(database) }

    /// Runs one statement and returns its rows.
    @discardableResult
    func rows(_ sql: String) throws -> [[Value]] {
        var statement: OpaquePointer?
        guard prepare(database, sql, -1, &statement, nil) == 0 else { throw problem(sql) }
        defer { _ = finalize(statement) }
        var rows: [[Value]] = []
        while true {
            switch step(statement) {
            case 100: rows.append((0..<columnCount(statement)).map { value(statement, $0) })
            case 101: return rows
            default: throw problem(sql)
            }
        }
    }

    private func value(_ statement: OpaquePointer?, _ column: Int32) -> Value {
        switch columnType(statement, column) {
        case 1: .integer(columnInt64(statement, column))
        case 2: .real(columnDouble(statement, column))
        case 3: .text(columnText(statement, column).map { String(cString: $0) } ?? "")
        default: .null
        }
    }

    private func problem(_ sql: String) -> Problem {
        Problem(description: "\(message(database).map { String(cString: $0) } ?? "an error of SQLite") in \(sql)")
    }
}
