import Foundation
import Strata
import StrataLog

/// Writes a store's persistent history as Core Data keeps it: transactions, their changes, and the texts that they
/// share.
///
/// Which properties an update changed is left out: how Core Data writes that down is not known. An object of which
/// nothing has changed but a relationship that is to-many at both ends was updated, as requests for history say, too.
struct HistoryExporter {
    let numbers: EntityNumbers
    let database: SQLiteFile

    /// The history's own entities.
    private static let entities: [(number: Int64, name: String)] = [
        (16_001, "CHANGE"), (16_002, "TRANSACTION"), (16_003, "TRANSACTIONSTRING"),
    ]
    private static let tables = [
        "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, "
            + "ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )",
        "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, "
            + "ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, "
            + "ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )",
        "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
        "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
    ]
    private static let indexes = [
        "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
        "CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)",
        "CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)",
        "CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)",
        "CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS)",
        "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
        "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
    ]

    /// - Returns: how many transactions were written.
    func run(_ reader: StoreReader) throws -> Int {
        for sql in Self.tables { try database.run(sql) }
        let byNumber = Dictionary(
            numbers.ordered.map { ($0.number, numbers.number($0.name)) }, uniquingKeysWith: { one, _ in one })
        let transactions = try database.prepare(
            "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZTIMESTAMP) "
                + "VALUES (?, 16002, 1, ?, ?, ?, ?, ?)")
        let changes = try database.prepare("INSERT INTO ACHANGE VALUES (?, 16001, 1, ?, ?, ?, ?, NULL)")
        let texts = Texts(
            insertion: try database.prepare("INSERT OR IGNORE INTO ATRANSACTIONSTRING VALUES (NULL, 16003, 1, ?)"),
            search: try database.prepare("SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?"))
        var count: Int64 = 0
        var changeCount: Int64 = 0
        try reader.forEachTransaction { transaction in
            count += 1
            transactions.bind(0, count)
            let names = [transaction.author, transaction.bundle, transaction.contextName, transaction.process]
            for (index, name) in names.enumerated() { try texts.bind(name, to: transactions, 1 + index) }
            transactions.bind(5, transaction.date.timeIntervalSinceReferenceDate)
            try transactions.execute()
            func write(_ key: UInt64, of entity: Int64, _ kind: ChangeKind) throws {
                changeCount += 1
                changes.bind(0, changeCount)
                changes.bind(1, Int64(kind.rawValue))
                changes.bind(2, entity)
                changes.bind(3, Int64(key))
                changes.bind(4, count)
                try changes.execute()
            }
            for group in transaction.groups {
                // Links have no entity of their own.
                guard let entity = byNumber[group.entity] else { continue }
                for key in group.keys { try write(key, of: entity, group.kind) }
            }
            for ref in transaction.linked {
                if let entity = byNumber[ref.entity] { try write(ref.key, of: entity, .update) }
            }
        }
        for sql in Self.indexes { try database.run(sql) }
        try writeNumbers([changeCount, count, try texts.count(database)])
        return Int(count)
    }

    private func writeNumbers(_ greatest: [Int64]) throws {
        let statement = try database.prepare("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, 0, ?)")
        for (entity, key) in zip(Self.entities, greatest) {
            statement.bind(0, entity.number)
            try statement.bind(1, entity.name)
            statement.bind(2, key)
            try statement.execute()
        }
    }

    /// The texts that transactions name, each once.
    private struct Texts {
        let insertion: SQLiteStatement
        let search: SQLiteStatement

        func bind(_ text: String?, to statement: SQLiteStatement, _ parameter: Int) throws {
            guard let text else { return statement.bindNull(parameter) }
            try insertion.bind(0, text)
            try insertion.execute()
            try search.bind(0, text)
            if try search.step(), let key = search.integer(0) { statement.bind(parameter, key) }
            try search.execute()
        }

        func count(_ database: SQLiteFile) throws -> Int64 {
            let statement = try database.prepare("SELECT count(*) FROM ATRANSACTIONSTRING")
            return try statement.step() ? statement.integer(0) ?? 0 : 0
        }
    }
}
