public import Foundation
import Strata
import StrataIO
import StrataLog
import SystemPackage

/// Writes a store of Strata's as a file that Apple's Core Data opens.
///
/// ```swift
/// let exported = try CoreDataExporter(store).run(to: appleFile)
/// print("\(exported.objects) objects")
/// ```
///
/// Tables and columns are called as Core Data calls them. Objects keep entity and primary key, and the store its UUID.
/// The persistent history comes along if it is asked for.
///
/// Needs SQLite's library (libsqlite3.so.0) when it is used. Used by one thread at a time.
public final class CoreDataExporter {
    /// What was exported.
    public struct Report: Sendable, Equatable {
        /// Rows, one for each object.
        public var objects = 0
        /// Links of relationships that are to-many at both ends.
        public var links = 0
        /// Transactions of the persistent history.
        public var transactions = 0
        /// Whether the file has the version hashes that Core Data computes. Only a store that was imported knows them,
        /// as long as it has the model that it was imported with. Without them Core Data refuses the file (134100)
        /// unless it is opened with `NSIgnorePersistentStoreVersioningOption`.
        public var hasVersionHashes = false
    }

    private let reader: StoreReader
    private let schema: ExportSchema
    private let origin: [String: Any]

    /// Opens the store in a directory.
    ///
    /// - Throws: `CocoaError` when there is no store, or it cannot be read.
    public init(_ store: URL) throws {
        reader = try StoreReader(store)
        origin = reader.hiddenMetadata(CoreDataOrigin.name) ?? [:]
        let known = (origin[CoreDataOrigin.numbersKey] as? [String: NSNumber])?.mapValues(\.int64Value)
        schema = ExportSchema(reader.layouts, EntityNumbers(reader.layouts, known: known))
    }

    /// Writes the file, with mode 0600. It is complete and durable when this returns; if this throws, nothing is there.
    ///
    /// - Parameters:
    ///   - url: the file, which must not exist yet.
    ///   - history: whether the persistent history is written, too: transactions with author, context name, program and
    ///     time, and which objects they inserted, updated and deleted. Core Data opens a file that has one for reading
    ///     only, unless `NSPersistentHistoryTrackingKey` is set.
    ///   - progress: called now and then with the number of rows that were written and of all.
    /// - Throws: ``TransferError`` when the file exists or cannot be written; `CocoaError` when the store is damaged.
    /// - Complexity: O(n) with bounded memory.
    @discardableResult
    public func run(to url: URL, history: Bool = false, progress: ((Int, Int) -> Void)? = nil) throws -> Report {
        do {
            let (file, path) = try Self.makeFile(url)
            let report = try write(try Self.database(file, path), history: history, progress)
            try file.install(replacing: false)
            return report
        } catch let error as Errno {
            throw ByteWriter.failure(url.path, error)
        }
    }

    /// The file, and the path that SQLite is to open it by.
    private static func makeFile(_ url: URL) throws(Errno) -> (UnfinishedFile, FilePath) {
        let fileSystem = PosixFileSystem()
        let place = FilePath(url.path)
        guard try fileSystem.linkAttributes(place) == nil else { throw .fileExists }
        let path = try fileSystem.resolve(place.directoryAbove).appending(place.lastName + UnfinishedFile.suffix)
        // Beside an empty database SQLite removes them, whoever they belong to.
        for suffix in ["-journal", "-wal"] {
            guard try fileSystem.linkAttributes(FilePath(path.string + suffix)) == nil else { throw .fileExists }
        }
        return (try UnfinishedFile(for: place) { ByteWriter.isLeft($0, of: "SQLite format 3\0") }, path)
    }

    private static func database(_ file: UnfinishedFile, _ path: FilePath) throws -> SQLiteFile {
        let database = try SQLiteFile.filling(path)
        // Nothing has been read or written yet. SQLite knows no open directories.
        guard try PosixFileSystem().linkAttributes(path)?.identity == file.file.identity() else {
            throw Errno.staleNFSFileHandle
        }
        return database
    }

    /// Writes the tables into a file that is there, and empty, without a name that anybody knows.
    private func write(
        _ database: SQLiteFile, history: Bool, _ progress: ((Int, Int) -> Void)?
    ) throws -> Report {
        var report = Report()
        try database.run("PRAGMA auto_vacuum = 2")
        try database.run("PRAGMA journal_mode = OFF")
        try database.run("PRAGMA synchronous = OFF")
        try database.run("BEGIN")
        for statement in schema.statements { try database.run(statement) }
        try writeRows(database, &report, progress)
        if history {
            report.transactions = try HistoryExporter(numbers: schema.numbers, database: database).run(reader)
        }
        try database.run("COMMIT")
        for statement in schema.indexes + schema.triggers { try database.run(statement) }
        return report
    }

    private func writeRows(_ database: SQLiteFile, _ report: inout Report, _ progress: ((Int, Int) -> Void)?) throws {
        var total = 0
        for table in schema.tables { total += try reader.count(root: table.root.root) }
        for join in schema.joins { total += try reader.count(root: join.links.number) }
        for table in schema.tables {
            try TableExporter(schema: schema, table: table, database: database).run(reader) {
                report.objects += 1
                if report.objects % 4_096 == 0 { progress?(report.objects, total) }
            }
        }
        for join in schema.joins { report.links += try write(join, database) }
        for statement in orderStatements { try database.run(statement) }
        try writeNumbers(database)
        report.hasVersionHashes = try writeMetadata(database)
        progress?(total, total)
    }

    private func write(_ join: ExportSchema.JoinTable, _ database: SQLiteFile) throws -> Int {
        let orders = [(join.memberOrder, 2), (join.ownerOrder, 3)].compactMap { name, slot in name.map { ($0, slot) } }
        let columns = [join.owner, join.member] + orders.map(\.0)
        let list = columns.map { SQLiteFile.quoted($0) }.joined(separator: ", ")
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        let isReflexive = join.links.inverse === join.links.relationship
        let statement = try database.prepare(
            "INSERT OR IGNORE INTO \(SQLiteFile.quoted(join.name)) (\(list)) VALUES (\(marks))")
        var count = 0
        try reader.forEachRow(root: join.links.number) { row in
            guard let owner = try row.reference(0), let member = try row.reference(1) else { return }
            // Core Data keeps a relationship that is its own inverse from both sides.
            for pair in isReflexive ? [(owner, member), (member, owner)] : [(owner, member)] {
                statement.bind(0, Int64(pair.0.key))
                statement.bind(1, Int64(pair.1.key))
                for (index, order) in orders.enumerated() { statement.bind(2 + index, try row.integer(order.1) ?? 0) }
                try statement.execute()
            }
            count += 1
        }
        return count
    }

    /// Core Data's places in an order are small numbers: 1024, 2048 and so on.
    private var orderStatements: [String] {
        let quoted = SQLiteFile.quoted
        func renumber(_ table: String, _ key: String, _ owner: String, _ order: String) -> String {
            "UPDATE \(quoted(table)) SET \(quoted(order)) = r.origin * 1024 FROM (SELECT \(key) AS k, row_number() OVER "
                + "(PARTITION BY \(quoted(owner)) ORDER BY \(quoted(order)), rowid) AS origin FROM \(quoted(table)) "
                + "WHERE \(quoted(owner)) IS NOT NULL) r WHERE \(quoted(table)).rowid = r.k"
        }
        var statements: [String] = []
        for table in schema.tables {
            var done: Set<String> = []
            for rows in table.family {
                let columns = table.columnsBySlot[rows.name] ?? []
                for (slot, info) in rows.slots.enumerated() where info.kind == .position {
                    guard let place = columns[slot], let owner = columns[slot - 1] else { continue }
                    let order = table.columns[place.value].name
                    guard done.insert(order).inserted else { continue }
                    statements.append(renumber(table.name, "rowid", table.columns[owner.value].name, order))
                }
            }
        }
        for join in schema.joins {
            if let order = join.memberOrder { statements.append(renumber(join.name, "rowid", join.owner, order)) }
            if let order = join.ownerOrder { statements.append(renumber(join.name, "rowid", join.member, order)) }
        }
        return statements
    }

    private func writeNumbers(_ database: SQLiteFile) throws {
        let greatest = reader.greatestKeys
        let statement = try database.prepare("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, ?)")
        for rows in schema.numbers.ordered {
            statement.bind(0, schema.numbers.number(rows.name))
            try statement.bind(1, rows.name)
            statement.bind(2, schema.numbers.number(rows.entity.superentity?.name))
            statement.bind(3, Int64(clamping: greatest[rows.name] ?? 0))
            try statement.execute()
        }
    }

    /// - Returns: whether the version hashes are Core Data's.
    private func writeMetadata(_ database: SQLiteFile) throws -> Bool {
        let own = reader.metadata
        let strata = [NSStoreUUIDKey, NSStoreTypeKey, StoreMetadata.frameworkVersionKey]
        var metadata = own.filter { !strata.contains($0.key) }
        metadata["NSStoreType"] = "SQLite"
        metadata["NSStoreModelVersionHashesVersion"] = 3
        metadata["_NSAutoVacuumLevel"] = "2"
        // The hashes are those of the model that the store has as long as Strata's own have not changed.
        let hashes = own[NSStoreModelVersionHashesKey] as? [String: Data]
        let isUnchanged = hashes != nil && origin[CoreDataOrigin.ownHashesKey] as? [String: Data] == hashes
        if isUnchanged {
            for key in CoreDataOrigin.keptKeys { metadata[key] = origin[key] ?? metadata[key] }
        }
        let data = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        let statement = try database.prepare("INSERT INTO Z_METADATA VALUES (1, ?, ?)")
        try statement.bind(0, reader.uuid)
        try data.withUnsafeBytes { try statement.bind(1, blob: $0) }
        try statement.execute()
        if isUnchanged, let model = origin[CoreDataOrigin.modelKey] as? Data {
            let statement = try database.prepare("INSERT INTO Z_MODELCACHE VALUES (?)")
            try model.withUnsafeBytes { try statement.bind(0, blob: $0) }
            try statement.execute()
        }
        return isUnchanged && origin["NSStoreModelVersionHashes"] != nil
    }
}
