import ArgumentParser
import Foundation
import Strata

/// The persistent history.
struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what was saved, change by change.",
        discussion: """
            With --follow changes come as they are saved, also by another process, and JSON is a record on each line. \
            --entity and --author may be combined; a transaction without changes is not printed.
            """)

    @OptionGroup var argument: StoreArgument
    @Option(help: "Begin after this transaction or time, such as 2026-05-01T12:00.")
    var after: Point?
    @Option(help: "Only transactions of this author.")
    var author: String?
    @Option(help: "Only changes of this entity's objects, subentities included.")
    var entity: String?
    @Flag(help: "Go on with what is saved from now on, until the command is interrupted.")
    var follow = false
    @OptionGroup var output: OutputOptions

    private static let columns = [
        "transaction", "time", "author", "context", "change", "entity", "uri", "properties", "tombstone",
    ]

    func run() async throws {
        do {
            let session = try argument.session()
            let printer = HistoryPrinter(
                RecordWriter(output.format, columns: Self.columns, isEndless: follow), author: author,
                entity: try entity.map { try session.entity($0) })
            var token: NSPersistentHistoryToken?
            switch after {
            case .transaction(let number): token = try session.token(number)
            case .time(let date): printer.after = date
            case nil: break
            }
            if follow {
                for try await transaction in session.coordinator.persistentHistory(after: token) {
                    printer.print(transaction)
                }
            } else {
                try printAll(session, after: token, printer)
            }
            printer.writer.finish()
        } catch {
            throw CommandError.reported(error)
        }
    }

    private func printAll(
        _ session: Session, after token: NSPersistentHistoryToken?, _ printer: HistoryPrinter
    ) throws {
        let newest = session.newestTransaction()
        let bar = ProgressBar("history", besideOutput: true)
        defer { bar.finish() }
        let cursor = HistoryCursor(session.coordinator, token)
        while true {
            let transactions = try cursor.readNow()
            for transaction in transactions { printer.print(transaction) }
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
        if let after {
            if transaction.timestamp <= after { return }
            self.after = nil
        }
        if let author, transaction.author != author { return }
        for change in transaction.changes ?? [] {
            if let entity, !change.changedObjectID.entity.isKindOf(entity: entity) { continue }
            print(change, of: transaction)
        }
    }

    private func print(_ change: NSPersistentHistoryChange, of transaction: NSPersistentHistoryTransaction) {
        let kind =
            switch change.changeType {
            case .insert: "insert"
            case .update: "update"
            case .delete: "delete"
            }
        let tombstone = (change.tombstone ?? [:]).map { "\($0.key)=\(Cell($0.value).plainText)" }.sorted()
        writer.write([
            .integer(transaction.transactionNumber), .text(Point.text(transaction.timestamp)),
            transaction.author.map { .text($0) } ?? .null, transaction.contextName.map { .text($0) } ?? .null,
            .text(kind), .text(change.changedObjectID.entity.name ?? ""), Cell(change.changedObjectID),
            .list((change.updatedProperties ?? []).map(\.name).sorted().map { .text($0) }),
            tombstone.isEmpty ? .null : .text(tombstone.joined(separator: " ")),
        ])
    }
}

extension Session {
    /// The number of the newest transaction; 0 if there is none.
    func newestTransaction() -> Int64 {
        let store = coordinator.persistentStores[0]
        return coordinator.currentPersistentHistoryToken(fromStores: nil)?.transactionNumber(of: store) ?? 0
    }

    /// The token after a transaction of the store.
    func token(_ number: Int64) throws -> NSPersistentHistoryToken {
        let newest = coordinator.currentPersistentHistoryToken(fromStores: nil)
        guard let token = newest?.at(transaction: number, of: coordinator.persistentStores[0]) else {
            throw CommandError("there is no transaction \(number) yet; the newest is \(newestTransaction())")
        }
        return token
    }
}
