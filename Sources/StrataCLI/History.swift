import ArgumentParser
import Foundation
import Strata
import StrataBrowsing

/// The persistent history.
struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what was saved, change by change.",
        discussion: """
            With --follow changes come as they are saved, also by another process, and JSON is a record on each line. \
            --entity, --author and --last may be combined: the last transactions are those of that author with changes \
            of that entity. A transaction without changes is not printed.
            """)

    @OptionGroup var argument: StoreArgument
    @Option(help: "Begin after this transaction or time, such as 2026-05-01T12:00.")
    var after: Point?
    @Option(help: "Only the last transactions, so many.")
    var last: Int?
    @Option(help: "Only transactions of this author.")
    var author: String?
    @Option(help: "Only changes of this entity's objects, subentities included.", completion: NameCompletion.entities)
    var entity: String?
    @Flag(help: "Go on with what is saved from now on, until the command is interrupted.")
    var follow = false
    @OptionGroup var output: OutputOptions

    private static let columns = [
        "transaction", "time", "author", "context", "change", "entity", "uri", "properties", "tombstone",
    ]

    func validate() throws {
        if let last, last < 1 { throw ValidationError("--last is at least 1.") }
        if last != nil, after != nil { throw ValidationError("--last and --after exclude each other.") }
    }

    func run() async throws {
        do {
            let session = try argument.session()
            let printer = HistoryPrinter(
                RecordWriter(output, columns: Self.columns, isEndless: follow), author: author,
                entity: try entity.map { try session.entity($0) })
            var token: NSPersistentHistoryToken?
            switch after {
            case .transaction(let number): token = try session.token(number)
            case .time(let date): printer.after = date
            case nil: break
            }
            if let last {
                token = try printLast(last, session, printer)
            }
            if follow {
                for try await transaction in session.coordinator.persistentHistory(after: token) {
                    printer.print(transaction)
                }
            } else if last == nil {
                try forEach(session, after: token) { printer.print($0) }
            }
            printer.writer.finish()
        } catch {
            throw CommandError.reported(error)
        }
    }

    /// - Returns: the token after the last of them.
    private func printLast(
        _ count: Int, _ session: Session, _ printer: HistoryPrinter
    ) throws -> NSPersistentHistoryToken? {
        let newest = session.newestTransaction()
        var reach = Int64(clamping: count)
        while true {
            let start = max(0, newest - reach)
            var found: [[[Cell]]] = []
            // Some have no changes, or none that are wanted: then it is begun earlier.
            do {
                try forEach(session, after: start == 0 ? nil : session.token(start)) { transaction in
                    let records = printer.records(of: transaction)
                    guard !records.isEmpty else { return }
                    found.append(records)
                    if found.count > count { found.removeFirst() }
                }
            } catch let error as CocoaError
                where error.code.rawValue == NSPersistentHistoryTokenExpiredError && start > 0
            {
                // The history begins later.
                reach = newest
                continue
            }
            if found.count >= count || start == 0 {
                for record in found.joined() { printer.writer.write(record) }
                return newest == 0 ? nil : try session.token(newest)
            }
            reach = reach.multipliedReportingOverflow(by: 8).overflow ? newest : reach * 8
        }
    }

    /// Calls the body with each transaction after a token, up to the newest one now.
    private func forEach(
        _ session: Session, after token: NSPersistentHistoryToken?, _ body: (NSPersistentHistoryTransaction) -> Void
    ) throws {
        let newest = session.newestTransaction()
        let bar = ProgressBar("history", .transactions, besideOutput: true)
        defer { bar.finish() }
        let cursor = HistoryCursor(session.coordinator, token)
        while true {
            let transactions = try cursor.readNow()
            for transaction in transactions { body(transaction) }
            // What a program saves meanwhile is not waited for.
            guard let last = transactions.last?.transactionNumber, last < newest else { return }
            bar.update(Int(last), of: Int(newest))
        }
    }
}

/// Prints the changes of transactions that are wanted.
private final class HistoryPrinter {
    let writer: RecordWriter
    private let author: String?
    private let entity: NSEntityDescription?
    /// Transactions up to the first one after this time are not printed.
    var after: Date?

    init(_ writer: RecordWriter, author: String?, entity: NSEntityDescription?) {
        self.writer = writer
        self.author = author
        self.entity = entity
    }

    func print(_ transaction: NSPersistentHistoryTransaction) {
        for record in records(of: transaction) { writer.write(record) }
    }

    /// A record for each change that is wanted.
    func records(of transaction: NSPersistentHistoryTransaction) -> [[Cell]] {
        if let after {
            if transaction.timestamp <= after { return [] }
            self.after = nil
        }
        if let author, transaction.author != author { return [] }
        return (transaction.changes ?? []).compactMap { change in
            if let entity, !change.changedObjectID.entity.isKindOf(entity: entity) { return nil }
            return Self.record(change, of: transaction)
        }
    }

    private static func record(
        _ change: NSPersistentHistoryChange, of transaction: NSPersistentHistoryTransaction
    ) -> [Cell] {
        let kind =
            switch change.changeType {
            case .insert: "insert"
            case .update: "update"
            case .delete: "delete"
            }
        let tombstone = (change.tombstone ?? [:]).map { "\($0.key)=\(Cell($0.value).plainText)" }.sorted()
        return [
            .integer(transaction.transactionNumber), .text(Point.text(transaction.timestamp)),
            transaction.author.map { .text($0) } ?? .absent, transaction.contextName.map { .text($0) } ?? .absent,
            .text(kind), .text(change.changedObjectID.entity.name ?? ""), Cell(change.changedObjectID),
            .list((change.updatedProperties ?? []).map(\.name).sorted().map { .text($0) }),
            tombstone.isEmpty ? .absent : .text(tombstone.joined(separator: " ")),
        ]
    }
}
