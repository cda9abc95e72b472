import ArgumentParser
import Foundation
import Strata

/// The persistent history.
struct History: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what was saved, change by change.",
        discussion: "With --follow JSON is a record on each line.")

    @OptionGroup var argument: StoreArgument
    @Option(help: "Begin after this transaction or time.")
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
    /// Seconds between two looks at a store that is followed.
    private static let pollInterval = 0.1

    func run() throws {
        try reporting {
            let writer = RecordWriter(output.format, columns: Self.columns, isEndless: follow)
            var session = try argument.session()
            let wanted = try entity.map { try session.entity($0).name ?? "" }
            var (last, since) = try start(session)
            while true {
                let cursor = HistoryCursor(session.coordinator, try last.map { try session.token($0) })
                while true {
                    let transactions = try cursor.readNow()
                    if transactions.isEmpty { break }
                    for transaction in transactions {
                        last = transaction.transactionNumber
                        if let since, transaction.timestamp <= since { continue }
                        if let author, transaction.author != author { continue }
                        write(transaction, wanted, writer)
                    }
                }
                guard follow else { break }
                since = nil
                Thread.sleep(forTimeInterval: Self.pollInterval)
                session = try argument.session()
            }
            writer.finish()
        }
    }

    /// Where to begin: after a transaction, after a time.
    private func start(_ session: Session) throws -> (Int64?, Date?) {
        switch after {
        case nil: (nil, nil)
        case .transaction(let number): (number, nil)
        case .time(let date): (nil, date)
        }
    }

    private func write(_ transaction: NSPersistentHistoryTransaction, _ wanted: String?, _ writer: RecordWriter) {
        for change in transaction.changes ?? [] {
            let entity = change.changedObjectID.entity
            if let wanted, !isKind(entity, wanted) { continue }
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
                .text(kind), .text(entity.name ?? ""),
                .text(change.changedObjectID.uriRepresentation().absoluteString),
                .list((change.updatedProperties ?? []).map(\.name).sorted().map { .text($0) }),
                tombstone.isEmpty ? .null : .text(tombstone.joined(separator: " ")),
            ])
        }
    }

    private func isKind(_ entity: NSEntityDescription, _ name: String) -> Bool {
        var entity: NSEntityDescription? = entity
        while let current = entity {
            if current.name == name { return true }
            entity = current.superentity
        }
        return false
    }
}

extension Session {
    /// The token after a transaction of the store.
    func token(_ number: Int64) throws -> NSPersistentHistoryToken {
        let newest = coordinator.currentPersistentHistoryToken(fromStores: nil)
        guard let token = newest?.at(transaction: number, of: coordinator.persistentStores[0]) else {
            throw CommandError("there is no transaction \(number)")
        }
        return token
    }
}
