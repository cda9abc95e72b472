import Foundation
import StrataIO
import SystemPackage

/// A database of SQLite. Used by one thread at a time.
final class SQLiteFile {
    private static let readOnly: Int32 = 0x1
    private static let readWrite: Int32 = 0x2
    private static let create: Int32 = 0x4
    private static let uri: Int32 = 0x40
    /// Refuses paths with links in them; older libraries ignore it.
    private static let noLinks: Int32 = 0x0100_0000

    fileprivate let library: SQLiteLibrary
    let database: OpaquePointer
    private let name: String
    /// Where a copy lies that goes away with the object.
    private var temporary: URL?

    private init(_ library: SQLiteLibrary, _ database: OpaquePointer, _ name: String) {
        self.library = library
        self.database = database
        self.name = name
    }

    deinit {
        _ = library.close(database)
        if let temporary { try? FileManager.default.removeItem(at: temporary) }
    }

    /// Opens a file for reading. The file and what lies beside it stay as they are: where SQLite would have to write (a
    /// write-ahead log or a rollback journal is there), a copy in a temporary directory is read.
    ///
    /// - Throws: ``TransferError`` when there is no SQLite, no file, or no database in it, and what ``ForeignDatabase``
    ///   throws.
    static func reading(_ url: URL) throws -> SQLiteFile { try reading(ForeignDatabase(url)) }

    /// As above.
    static func reading(_ source: ForeignDatabase) throws -> SQLiteFile {
        let library = try SQLiteLibrary.shared()
        var temporary: URL?
        do {
            var path = source.path
            if source.isUnfinished {
                let directory = FileManager.default.temporaryDirectory
                    .appendingPathComponent("strata-import-\(UUID().uuidString)", isDirectory: true)
                // Not in a folder that others can write to, so with mode 0700 from the beginning.
                try PosixFileSystem().createDirectory(FilePath(directory.path))
                temporary = directory
                path = FilePath(directory.path).appending("copy.sqlite")
                try source.copy(to: path)
            }
            let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "/.-_"))
            let escaped = path.string.addingPercentEncoding(withAllowedCharacters: allowed) ?? path.string
            let query = temporary == nil ? "?mode=ro&immutable=1" : "?mode=rw"
            let flags = (temporary == nil ? readOnly | noLinks : readWrite) | uri
            let file = try open(library, "file:\(escaped)\(query)", flags, source.name)
            file.temporary = temporary
            temporary = nil
            guard try source.isInPlace() else { throw TransferError("\(source.name) has become another file") }
            // Nothing that the file itself defines is to be run.
            try file.run("PRAGMA trusted_schema = OFF")
            try file.run("PRAGMA cell_size_check = ON")
            let encoding = try file.prepare("PRAGMA encoding")
            guard try encoding.step(), encoding.isText(0, "UTF-8") else {
                throw TransferError("\(source.name): its texts are not UTF-8, as those of Core Data are")
            }
            return file
        } catch {
            if let temporary { try? FileManager.default.removeItem(at: temporary) }
            throw error
        }
    }

    /// Makes a new file.
    ///
    /// - Throws: ``TransferError`` when there is no SQLite or the file cannot be made.
    static func creating(_ url: URL) throws -> SQLiteFile {
        try open(try SQLiteLibrary.shared(), url.path, readWrite | create, url.path)
    }

    /// Opens an empty file that nobody else knows: without locks, which would meet those of whoever made it.
    ///
    /// - Parameter path: without links.
    static func filling(_ path: FilePath) throws -> SQLiteFile {
        let name = path.string
        return try open(try SQLiteLibrary.shared(), name, readWrite | noLinks, name, fileSystem: "unix-none")
    }

    private static func open(
        _ library: SQLiteLibrary, _ path: String, _ flags: Int32, _ name: String, fileSystem: String? = nil
    ) throws -> SQLiteFile {
        var database: OpaquePointer?
        let result = library.open(path, &database, flags, fileSystem)
        guard let database else { throw TransferError("\(name): SQLite has no memory to open it") }
        let file = SQLiteFile(library, database, name)
        guard result == 0 else { throw file.problem("it cannot be opened") }
        return file
    }

    /// Runs a statement that has no rows.
    func run(_ sql: String) throws {
        let statement = try prepare(sql)
        while try statement.step() {}
    }

    /// - Throws: ``TransferError`` when SQLite refuses the statement.
    func prepare(_ sql: String) throws -> SQLiteStatement {
        var statement: OpaquePointer?
        guard library.prepare(database, sql, -1, &statement, nil) == 0, let statement else { throw problem(sql) }
        return SQLiteStatement(self, statement, library, sql)
    }

    func problem(_ what: String) -> TransferError {
        let message = library.message(database).map { String(cString: $0) } ?? "an error of SQLite"
        return TransferError("\(name): \(message) (\(what))")
    }

    /// A name as SQL has it.
    static func quoted(_ name: String) -> String { "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\"" }
}

/// A prepared statement and its current row. Used by one thread at a time.
final class SQLiteStatement {
    enum ColumnType: Int32 {
        case integer = 1
        case real, text, blob, null
    }

    private let file: SQLiteFile
    private let statement: OpaquePointer
    private let library: SQLiteLibrary
    /// For errors.
    private let sql: String

    fileprivate init(_ file: SQLiteFile, _ statement: OpaquePointer, _ library: SQLiteLibrary, _ sql: String) {
        self.sql = sql
        self.file = file
        self.statement = statement
        self.library = library
    }

    deinit { _ = library.finalize(statement) }

    /// Goes to the next row; false when there is none.
    func step() throws -> Bool {
        switch library.step(statement) {
        case 100: return true
        case 101: return false
        default: throw file.problem(sql)
        }
    }

    var columnCount: Int { Int(library.columnCount(statement)) }

    func type(_ column: Int) -> ColumnType {
        ColumnType(rawValue: library.columnType(statement, Int32(column))) ?? .null
    }

    func isNull(_ column: Int) -> Bool { library.columnType(statement, Int32(column)) == ColumnType.null.rawValue }

    /// The number that is stored; nil for everything that is not exactly an integer of 64 bits.
    func integer(_ column: Int) -> Int64? {
        switch type(column) {
        case .integer: library.columnInt64(statement, Int32(column))
        case .real: Int64(exactly: library.columnDouble(statement, Int32(column)))
        default: nil
        }
    }

    /// The number that is stored; nil for everything that is not exactly a floating-point number.
    func double(_ column: Int) -> Double? {
        switch type(column) {
        case .real: library.columnDouble(statement, Int32(column))
        // Columns for numbers keep a whole one as an integer.
        case .integer: Double(exactly: library.columnInt64(statement, Int32(column)))
        default: nil
        }
    }

    /// The text that is stored as UTF-8 bytes, good until the next step; nil for everything else, also for broken
    /// UTF-8.
    func text(_ column: Int) -> UnsafeRawBufferPointer? {
        guard type(column) == .text else { return nil }
        let start = library.columnText(statement, Int32(column))
        let bytes = UnsafeRawBufferPointer(
            start: start, count: Int(library.columnByteCount(statement, Int32(column))))
        return UTF8Check.isValid(bytes) ? bytes : nil
    }

    /// The bytes that are stored as such, good until the next step; nil for everything else.
    func blob(_ column: Int) -> UnsafeRawBufferPointer? {
        guard type(column) == .blob else { return nil }
        let start = library.columnBlob(statement, Int32(column))
        let count = start == nil ? 0 : Int(library.columnByteCount(statement, Int32(column)))
        return UnsafeRawBufferPointer(start: start, count: count)
    }

    /// As ``text(_:)``.
    func string(_ column: Int) -> String? { text(column).map { String(decoding: $0, as: UTF8.self) } }

    func isText(_ column: Int, _ wanted: String) -> Bool { string(column) == wanted }

    // MARK: Binding

    /// Runs the statement once, with what has been bound, for another run.
    func execute() throws {
        while try step() {}
        _ = library.reset(statement)
    }

    /// Begins anew, with another value of the only parameter.
    func restart(with value: Int64) {
        _ = library.reset(statement)
        bind(0, value)
    }

    /// Parameters are counted from 0.
    func bind(_ parameter: Int, _ value: Int64) { _ = library.bindInt64(statement, Int32(parameter + 1), value) }

    func bind(_ parameter: Int, _ value: Double) { _ = library.bindDouble(statement, Int32(parameter + 1), value) }

    func bindNull(_ parameter: Int) { _ = library.bindNull(statement, Int32(parameter + 1)) }

    func bind(_ parameter: Int, text: UnsafeRawBufferPointer) throws {
        try check(
            library.bindText(
                statement, Int32(parameter + 1), Self.start(text), Int32(clamping: text.count), Self.copies))
    }

    func bind(_ parameter: Int, blob: UnsafeRawBufferPointer) throws {
        try check(
            library.bindBlob(
                statement, Int32(parameter + 1), Self.start(blob), Int32(clamping: blob.count), Self.copies))
    }

    func bind(_ parameter: Int, _ value: String) throws {
        var value = value
        try value.withUTF8 { try bind(parameter, text: UnsafeRawBufferPointer($0)) }
    }

    private func check(_ result: Int32) throws {
        guard result == 0 else { throw file.problem("a value of \(sql)") }
    }

    /// SQLite takes a null pointer for NULL, also with no bytes.
    private static func start(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
    }

    /// SQLITE_TRANSIENT: SQLite copies the bytes at once.
    private static var copies: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: -1) }
}
