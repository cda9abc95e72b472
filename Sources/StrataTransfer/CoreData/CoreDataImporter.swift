public import Foundation
public import Strata

/// Makes a store of Strata's of one that Apple's Core Data wrote: a file of SQLite.
///
/// ```swift
/// let importer = try CoreDataImporter(appleFile)
/// let report = try importer.run(to: store, model: model)
/// print("\(report.objects) objects, \(report.transactions) transactions")
/// ```
///
/// Every object keeps its entity and its primary key, and the store its UUID: URIs and archived object IDs from before
/// lead to the same objects. The file is only read; a write-ahead log beside it is read with it, from a copy. The
/// program that the file belongs to must not be running.
///
/// Needs SQLite's library (libsqlite3.so.0) when it is used. Used by one thread at a time.
public final class CoreDataImporter {
    /// What was imported.
    public struct Report: Sendable, Equatable {
        /// Rows, one for each object.
        public var objects = 0
        /// Links of relationships that are to-many at both ends.
        public var links = 0
        /// Transactions of the persistent history.
        public var transactions = 0
        /// What a partial import has left out, with how many there were: one line for each table, column or kind.
        public var omissions: [String] = []
    }

    let file: CoreDataFile

    /// Opens a file.
    ///
    /// - Throws: ``TransferError`` when there is no file, it is no store of Core Data's, or SQLite is missing.
    public init(_ url: URL) throws {
        file = try CoreDataFile(url)
    }

    /// The metadata, as `NSPersistentStore.metadata` has it: also the program's own.
    public var metadata: [String: Any] {
        var metadata = file.metadata
        if let uuid = file.uuid { metadata[NSStoreUUIDKey] = uuid.uuidString }
        return metadata
    }

    /// The model that the store keeps.
    ///
    /// - Returns: nil when it keeps none: then ``run(to:model:partial:progress:)`` needs one.
    /// - Throws: ``TransferError`` when it cannot be read.
    public func model() throws -> NSManagedObjectModel? { try file.model() }

    /// Makes the store. It is complete and durable when this returns; if this throws, nothing is there.
    ///
    /// - Parameters:
    ///   - url: the new store's directory, which must not exist yet.
    ///   - model: the model that the file was written with; nil for the one that it keeps.
    ///   - partial: whether values, rows and links of the file that the store cannot take are left out, and listed in
    ///     the report: those of columns and tables that no property of the model has, and references to objects that
    ///     are not there. Otherwise they are errors.
    ///   - progress: called now and then with the number of rows that were written and of all.
    /// - Returns: what was imported.
    /// - Throws: ``TransferError`` for what is wrong with the file or does not fit to the model; `CocoaError` when the
    ///   store cannot be made.
    /// - Complexity: O(n) with bounded memory; what is gathered on the way lies in the temporary directory.
    @discardableResult
    public func run(
        to url: URL, model: NSManagedObjectModel? = nil, partial: Bool = false,
        progress: ((Int, Int) -> Void)? = nil
    ) throws -> Report {
        try run(to: url, options: nil, model: model, partial: partial, progress: progress)
    }

    /// As ``run(to:model:partial:progress:)``, with options for the new store.
    package func run(
        to url: URL, options: [AnyHashable: Any]?, model: NSManagedObjectModel? = nil, partial: Bool = false,
        progress: ((Int, Int) -> Void)? = nil
    ) throws -> Report {
        guard let model = try model ?? file.model() else {
            throw TransferError("\(file.url.path): it does not keep its model: name one")
        }
        var report = Report()
        let total = progress == nil ? 0 : try countRows()
        func step() {
            let done = report.objects + report.links
            if done % 4_096 == 0 { progress?(done, total) }
        }
        var settings = try settings(model)
        settings.options = options
        let account = ImportAccount(path: file.url.path, isPartial: partial)
        if file.uuid == nil, let stated = file.statedUUID {
            try account.omit("Z_METADATA.Z_UUID: what is no UUID; objects get other URIs", example: stated)
        }
        try StoreBuilder.build(at: url, model: model, settings) { builder in
            let planner = try ImportPlanner(file, builder.layouts)
            let plans = try planner.plans()
            let joins = try JoinTables(planner).find(builder.layouts.links)
            try check(plans, joins, account)
            for plan in plans where plan.greatestKey > 0 { builder.reserve(UInt64(plan.greatestKey), root: plan.root) }
            let hasHistory = try HistoryImporter.isNeeded(file)
            let history = HistoryImporter(
                file: file, plans: plans, builder: builder, planner: planner, account: account)
            // Links have no history of their own here: they are there from the beginning.
            for (links, join) in zip(builder.layouts.links, joins) {
                guard let join else { continue }
                let importer = LinkImporter(file: file, planner: planner, builder: builder, account: account)
                try importer.insert(links, join) {
                    report.links += 1
                    step()
                }
            }
            if hasHistory {
                report.transactions = try count("ATRANSACTION")
                try history.run {
                    report.objects += 1
                    step()
                }
                return
            }
            for plan in plans {
                let statement = try file.database.prepare(plan.selection)
                try RowImporter(file: file, plan: plan, builder: builder, account: account).insert(statement) {
                    report.objects += 1
                    step()
                }
            }
        }
        progress?(total, total)
        report.omissions = account.omissions
        return report
    }

    /// Sees to it that every table and column of the file is read, or known to be none that could be.
    private func check(_ plans: [ImportPlan], _ joins: [JoinTable?], _ account: ImportAccount) throws {
        let accounting = TableAccounting(file: file, account: account)
        var taken: Set<String> = []
        for plan in plans {
            guard let table = file.tables[plan.table.uppercased()] else { continue }
            taken.insert(plan.table.uppercased())
            try accounting.check(table, taken: plan.taken)
        }
        for case let join? in joins {
            taken.insert(join.table.name.uppercased())
            try accounting.check(join.table, taken: join.taken)
        }
        try accounting.check(taken: taken)
    }

    private func count(_ table: String) throws -> Int {
        let statement = try file.database.prepare("SELECT count(*) FROM \(SQLiteFile.quoted(table))")
        return try statement.step() ? Int(statement.integer(0) ?? 0) : 0
    }

    private func countRows() throws -> Int {
        var total = 0
        // Of entities and of links.
        for (name, table) in file.tables where table.columns["Z_ENT"] != nil || NumberedName.parts(name) != nil {
            if name.hasPrefix("Z"), name != "Z_PRIMARYKEY" { total += try count(table.name) }
        }
        return total
    }

    private func settings(_ model: NSManagedObjectModel) throws -> StoreBuilder.Settings {
        var settings = StoreBuilder.Settings()
        settings.uuid = file.uuid
        settings.metadata = file.metadata.filter { !$0.key.hasPrefix("NSStore") && !$0.key.hasPrefix("_NS") }
        settings.metadata[StoreMetadata.frameworkVersionKey] = nil
        var origin: [String: Any] = [:]
        for key in CoreDataOrigin.keptKeys { origin[key] = file.metadata[key] }
        origin[CoreDataOrigin.ownHashesKey] = model.entityVersionHashesByName
        if let model = try file.modelCache(), model.count <= CoreDataOrigin.maximumModelByteCount {
            origin[CoreDataOrigin.modelKey] = model
        }
        origin[CoreDataOrigin.numbersKey] = Dictionary(
            file.entities.values.map { ($0.name, NSNumber(value: $0.number)) }, uniquingKeysWith: { one, _ in one })
        settings.hiddenMetadata = [CoreDataOrigin.name: origin]
        return settings
    }
}

/// What a store remembers of the file it came from, so that it can become one again: the version hashes that Core Data
/// computed, the model as it was kept, the numbers of the entities.
enum CoreDataOrigin {
    static let name = "CoreDataOrigin"
    static let modelKey = "model"
    static let numbersKey = "numbers"
    /// The version hashes that Strata computes of the same model.
    static let ownHashesKey = "hashes"
    static let keptKeys = [
        "NSStoreModelVersionHashes", "NSStoreModelVersionHashesVersion", "NSStoreModelVersionHashesDigest",
        "NSStoreModelVersionChecksumKey", "NSStoreModelVersionIdentifiers", "NSPersistenceFrameworkVersion",
        "_NSAutoVacuumLevel",
    ]
    /// Metadata has to stay small.
    static let maximumModelByteCount = 256 << 10
}
