import Foundation
import Strata
import StrataLog

/// Brings a file's persistent history along: its transactions, one after the other, with their authors and times.
///
/// The file has the rows only as they are now. So an object has its present values from the transaction that inserted
/// it on; transactions that update it say that they did, and one that was deleted is empty until then.
struct HistoryImporter {
    let file: CoreDataFile
    let plans: [ImportPlan]
    let builder: StoreBuilder
    let planner: ImportPlanner
    let account: ImportAccount

    /// Whether the file has a history.
    static func isNeeded(_ file: CoreDataFile) throws -> Bool {
        func has(_ table: String, _ columns: [String]) -> Bool {
            columns.allSatisfy { file.tables[table]?.columns[$0] != nil }
        }
        guard has("ATRANSACTION", ["Z_PK", "ZTIMESTAMP"]),
            has("ACHANGE", ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"])
        else { return false }
        return try file.database.prepare("SELECT 1 FROM ATRANSACTION LIMIT 1").step()
    }

    /// Puts what the history says into an order that it can be replayed in, in tables that SQLite keeps outside of
    /// memory. No file needs to have an index that finds a transaction's changes, or an object's.
    private func prepare() throws {
        let database = file.database
        try database.run("PRAGMA temp_store = FILE")
        // What each transaction does to each object: from the first to the last kind of its changes. What is no change
        // of an object has been counted.
        try database.run(
            "CREATE TEMP TABLE strata_changes (tx INTEGER, entity INTEGER, pk INTEGER, first INTEGER, last INTEGER, "
                + "PRIMARY KEY (tx, entity, pk)) WITHOUT ROWID")
        try database.run(
            "INSERT INTO temp.strata_changes SELECT ZTRANSACTIONID, ZENTITY, ZENTITYPK, min(ZCHANGETYPE), "
                + "max(ZCHANGETYPE) FROM ACHANGE WHERE typeof(ZTRANSACTIONID) = 'integer' "
                + "AND typeof(ZENTITY) = 'integer' AND typeof(ZENTITYPK) = 'integer' AND ZCHANGETYPE IN (0, 1, 2) "
                + "GROUP BY ZTRANSACTIONID, ZENTITY, ZENTITYPK")
        // The objects that the history inserts, by the transaction that does, and whether it deletes them again. One
        // that is inserted and deleted by one transaction never was there.
        try database.run(
            "CREATE TEMP TABLE strata_inserted (entity INTEGER, pk INTEGER, tx INTEGER, gone INTEGER, "
                + "PRIMARY KEY (entity, pk)) WITHOUT ROWID")
        try database.run(
            "INSERT INTO temp.strata_inserted SELECT entity, pk, min(CASE WHEN first = 0 AND last < 2 THEN tx END) AS t, "
                + "max(last) = 2 FROM temp.strata_changes GROUP BY entity, pk HAVING t IS NOT NULL")
        try database.run("CREATE INDEX temp.strata_inserted_tx ON strata_inserted (tx)")
    }

    /// What the history says of no transaction, or of objects that cannot be, is not passed over in silence.
    private func check() throws {
        let numbers = file.entities.keys.sorted().map(String.init).joined(separator: ", ")
        let statement = try file.database.prepare(
            "SELECT count(*), min(c.Z_PK) FROM ACHANGE c WHERE NOT EXISTS (SELECT 1 FROM ATRANSACTION a "
                + "WHERE a.Z_PK = c.ZTRANSACTIONID) OR ifnull(typeof(c.ZCHANGETYPE) <> 'integer' "
                + "OR c.ZCHANGETYPE NOT IN (0, 1, 2) OR typeof(c.ZENTITYPK) <> 'integer' OR c.ZENTITYPK <= 0 "
                + "OR c.ZENTITYPK >= \(Int64(1) << 48) OR c.ZENTITY NOT IN (\(numbers)), 1)")
        guard try statement.step(), let count = statement.integer(0), count > 0 else { return }
        try account.omit(
            "ACHANGE: changes of no transaction, or of no object of the model", count: Int(count),
            example: "row \(statement.integer(1) ?? 0)")
    }

    /// Inserts everything.
    ///
    /// - Parameter each: called after each row.
    func run(each: () throws -> Void) throws {
        try check()
        try prepare()
        for plan in plans {
            let statement = try file.database.prepare(
                plan.selection + " WHERE NOT EXISTS (SELECT 1 FROM temp.strata_inserted i WHERE i.entity = t.Z_ENT "
                    + "AND i.pk = t.Z_PK)")
            try RowImporter(file: file, plan: plan, builder: builder, account: account).insert(statement, each: each)
        }
        try insertLost()
        try builder.beginHistory()
        let replay = try Replay(importer: self)
        let transactions = try file.database.prepare(
            "SELECT Z_PK, ZTIMESTAMP, \(name("AUTHOR")), \(name("CONTEXTNAME")), \(name("PROCESSID")), "
                + "\(name("BUNDLEID")) FROM ATRANSACTION a ORDER BY Z_PK")
        while try transactions.step() {
            guard let number = transactions.integer(0) else {
                throw TransferError("\(file.url.path): ATRANSACTION: Z_PK is no integer")
            }
            func text(_ column: Int) throws -> String? {
                if transactions.isNull(column) { return nil }
                guard let text = transactions.string(column) else {
                    throw problem(number, "a name is no text in UTF-8")
                }
                return text
            }
            guard let seconds = transactions.double(1) else { throw problem(number, "ZTIMESTAMP is no number") }
            try builder.beginTransaction(
                author: try text(2), contextName: try text(3), date: Date(timeIntervalSinceReferenceDate: seconds),
                process: try text(4) ?? "", bundle: try text(5) ?? "")
            try replay.run(number, each: each)
        }
    }

    private func problem(_ transaction: Int64, _ what: String) -> TransferError {
        TransferError("\(file.url.path): ATRANSACTION, row \(transaction): \(what)")
    }

    /// A text of a transaction: newer files keep it in a table of texts.
    private func name(_ column: String) -> String {
        let columns = file.tables["ATRANSACTION"]?.columns ?? [:]
        let plain = columns["Z\(column)"] == nil ? "NULL" : "a.Z\(column)"
        guard columns["Z\(column)TS"] != nil, file.tables["ATRANSACTIONSTRING"] != nil else { return plain }
        return "coalesce((SELECT s.ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = a.Z\(column)TS), \(plain))"
    }

    /// Objects that were there before the history begins and that it deletes: nothing but their keys is known.
    private func insertLost() throws {
        let statement = try file.database.prepare(
            "SELECT DISTINCT entity, pk FROM temp.strata_changes c WHERE first > 0 AND last = 2 AND NOT EXISTS "
                + "(SELECT 1 FROM temp.strata_inserted i WHERE i.entity = c.entity AND i.pk = c.pk)")
        while try statement.step() { try insertEmpty(statement, 0) }
    }

    /// - Parameter column: where the statement has the entity; the key follows.
    private func insertEmpty(_ statement: SQLiteStatement, _ column: Int) throws {
        guard let entity = statement.integer(column), let key = statement.integer(column + 1),
            let rows = planner.rows(entity), !rows.entity.isAbstract, key > 0, key < 1 << 48,
            try !exists(entity, key)
        else { return }
        do {
            try builder.beginRow(entity: rows.number, root: rows.root, key: UInt64(key)).endRow()
        } catch let error as CocoaError where error.code == .persistentStoreSave {
            throw TransferError("\(file.url.path): ACHANGE: \(error.localizedDescription)")
        }
    }

    private func exists(_ entity: Int64, _ key: Int64) throws -> Bool {
        guard let plan = plans.first(where: { $0.entities[entity] != nil }) else { return true }
        let table = SQLiteFile.quoted(plan.table)
        return try file.database.prepare("SELECT 1 FROM \(table) WHERE Z_PK = \(key)").step()
    }

    /// Inserts, changes and deletes what one transaction after the other does. Its statements are made once: to compile
    /// them takes longer than most transactions.
    private struct Replay {
        let importer: HistoryImporter
        private let insertions: [(rows: RowImporter, statement: SQLiteStatement)]
        private let gone: SQLiteStatement
        private let changes: SQLiteStatement

        init(importer: HistoryImporter) throws {
            self.importer = importer
            let database = importer.file.database
            insertions = try importer.plans.map { plan in
                let numbers = plan.entities.keys.map(String.init).joined(separator: ", ")
                let statement = try database.prepare(
                    plan.selection + " JOIN temp.strata_inserted i ON t.Z_PK = i.pk AND t.Z_ENT = i.entity "
                        + "WHERE i.tx = ? AND i.entity IN (\(numbers))")
                let rows = RowImporter(
                    file: importer.file, plan: plan, builder: importer.builder, account: importer.account)
                return (rows, statement)
            }
            gone = try database.prepare("SELECT entity, pk FROM temp.strata_inserted WHERE tx = ? AND gone")
            changes = try database.prepare(
                "SELECT entity, pk, last FROM temp.strata_changes WHERE tx = ? AND first > 0")
        }

        func run(_ transaction: Int64, each: () throws -> Void) throws {
            for (rows, statement) in insertions {
                statement.restart(with: transaction)
                try rows.insert(statement, each: each)
            }
            gone.restart(with: transaction)
            while try gone.step() { try importer.insertEmpty(gone, 0) }
            changes.restart(with: transaction)
            while try changes.step() {
                // What is not so has been counted.
                guard let rows = changes.integer(0).flatMap({ importer.planner.rows($0) }),
                    let key = changes.integer(1), key > 0, key < 1 << 48
                else { continue }
                let ref = StoreBuilder.reference(entity: rows.number, key: UInt64(key))
                // What a batch request has taken away without a word is not there to be changed.
                _ =
                    changes.integer(2) == 2
                    ? try importer.builder.delete(ref) : try importer.builder.touch(ref, changed: SlotSet())
            }
        }
    }
}
