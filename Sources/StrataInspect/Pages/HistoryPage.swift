import Foundation
import Strata
import StrataBrowsing
import StrataLog
import StrataModelFile

/// Who saved what when, the newest first.
struct HistoryPage {
    let inspector: Inspector
    let query: Query
    let deadline: Deadline

    static let columns = [
        "transaction", "time", "author", "context", "process", "inserted", "updated", "deleted", "entities",
    ]

    func content() throws -> PageContent {
        let search = try HistorySearch(inspector, author: query["author"], entity: query["entity"])
        let newest = inspector.newestTransaction()
        let before = try query.number("before").map { min($0, newest + 1) } ?? newest + 1
        let (found, earlier) = try search.transactions(before: before, wanted: try query.limit(), deadline)
        let names = inspector.newest.model.entities.compactMap(\.name).sorted()
        let older = earlier.map { query.link(setting: ["before": "\($0)"]) }
        let isNewest = before > newest
        return PageContent(
            title: "History", body: body(found, names, older, isLive: isNewest), columns: Self.columns,
            records: found.map(\.cells),
            fields: [
                ("newest", "\(newest)"),
                (
                    "older",
                    earlier.map { QuotedText.of(query.link(.json, setting: ["before": "\($0)"]).text) } ?? "null"
                ),
            ])
    }

    private func body(
        _ found: [TransactionRecord], _ names: [String], _ older: Link?, isLive: Bool
    ) -> Markup {
        let rows = found.map { record -> Markup in
            let changes = Link(
                "/changes",
                ["from": "\(record.number - 1)", "to": "\(record.number)", "entity": query["entity"]])
            let cells = record.cells.dropFirst().map { cell -> Markup in
                let kind: Markup = cell.isNumeric ? " class=\"number\"" : ""
                return "<td\(kind)>\(CellMarkup.short(cell, at: nil))</td>"
            }
            return """
                <tr tabindex="-1"><th scope="row" class="number"><a href="\(changes)">\(record.number)</a></th>\(cells)</tr>

                """
        }
        let live = query.link(.events, setting: ["before": nil, "limit": nil])
        let stream: Markup = isLive ? " data-live=\"\(live)\"" : ""
        let state: Markup = isLive ? "<p id=\"live\" role=\"status\"></p>" : ""
        var pages: [Markup] = []
        if !isLive { pages.append("<a rel=\"prev\" href=\"\(query.link(setting: ["before": nil]))\">Newest</a>") }
        if let older { pages.append("<a rel=\"next\" href=\"\(older)\">Older</a>") }
        return """
            <form class="fields" action="/history" method="get">
            \(PageFrame.field("author", "Author", query["author"]))
            \(PageFrame.choice("entity", "Entity", names, query["entity"], none: "all"))
            \(PageFrame.field("limit", "Rows", query["limit"], hint: "\(Limits.defaultRows)", kind: "number"))<button>Show</button>
            </form>\(TimeLine(found).markup)\(state)
            <div class="scroll" tabindex="0" role="region" aria-label="Table"><table id="results"\(stream)>
            <caption>Transactions, the newest first</caption>
            <thead><tr>\(Self.columns.map { "<th scope=\"col\">\($0)</th>" as Markup })</tr></thead>
            <tbody>\(rows)</tbody></table></div><p class="pages">\(pages.joined(separator: " · "))</p>
            """
    }
}

/// A transaction and how much it changed.
struct TransactionRecord: Sendable {
    let number: Int64
    let time: Date
    let author: String?
    let cells: [Cell]
    let changeCount: Int

    /// - Parameter entity: of which the changes count, with its subentities; nil for all.
    /// - Returns: nil when there is no such change.
    init?(_ transaction: NSPersistentHistoryTransaction, entity: NSEntityDescription?) {
        var counts = [0, 0, 0]
        var names: [String: Int] = [:]
        for change in transaction.changes ?? [] {
            let changed = change.changedObjectID.entity
            if let entity, !changed.isKindOf(entity: entity) { continue }
            counts[change.changeType.rawValue] += 1
            names[changed.name ?? "", default: 0] += 1
        }
        changeCount = counts.reduce(0, +)
        if changeCount == 0, entity != nil { return nil }
        number = transaction.transactionNumber
        time = transaction.timestamp
        author = transaction.author
        let entities = names.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(6)
        cells = [
            .integer(number), .text(Point.text(time)), author.map { .text($0) } ?? .absent,
            transaction.contextName.map { .text($0) } ?? .absent, .text(transaction.processID), .count(counts[0]),
            .count(counts[1]), .count(counts[2]),
            .text(entities.map { "\($0.key) \($0.value)" }.joined(separator: ", ") + (names.count > 6 ? ", …" : "")),
        ]
    }

    var json: String {
        let values = zip(HistoryPage.columns, cells).map { "\(QuotedText.of($0)):\($1.json)" }
        return "{\(values.joined(separator: ","))}"
    }
}

/// Looks for transactions backwards.
struct HistorySearch {
    private let inspector: Inspector
    private let author: String?
    private let entity: NSEntityDescription?

    /// So many are read at first, as each may have changed much; more when few of them are wanted.
    private static let window: Int64 = 8

    init(_ inspector: Inspector, author: String?, entity: String?) throws {
        self.inspector = inspector
        self.author = author
        self.entity = try entity.map { try inspector.newest.entity($0) }
    }

    /// What a transaction is shown as; nil if it is not wanted.
    func record(_ transaction: NSPersistentHistoryTransaction) -> TransactionRecord? {
        if let author, transaction.author != author { return nil }
        return TransactionRecord(transaction, entity: entity)
    }

    /// The last wanted transactions before one, the newest first, and before which to go on; nil when there are none.
    func transactions(
        before: Int64, wanted: Int, _ deadline: Deadline
    ) throws -> (found: [TransactionRecord], earlier: Int64?) {
        try inspector.log.refresh()
        let first = Int64(clamping: HistoryMetadata.start(inspector.log.metadata))
        var found: [TransactionRecord] = []
        var end = before - 1
        var window = Self.window
        while found.count < wanted, end >= first {
            let start = max(first - 1, end - window)
            // What is found in time is shown, with the way on.
            guard let part = try records(after: start, through: end, deadline) else {
                guard !found.isEmpty || end < before - 1 else { throw Deadline.error }
                return (found, end + 1)
            }
            let enough = part.reversed().prefix(wanted - found.count)
            found += enough
            // What was read of this part and not taken comes on the next page.
            if found.count == wanted, let last = found.last { return (found, last.number > first ? last.number : nil) }
            end = start
            window = min(window * 4, 16_384)
        }
        return (found, end >= first ? end + 1 : nil)
    }

    /// - Returns: nil when there was no time to read them all.
    private func records(
        after start: Int64, through end: Int64, _ deadline: Deadline
    ) throws -> [TransactionRecord]? {
        let cursor = HistoryCursor(inspector.newest.coordinator, start == 0 ? nil : try inspector.newest.token(start))
        var records: [TransactionRecord] = []
        while true {
            if deadline.isOver { return nil }
            let transactions = try cursor.readNow()
            for transaction in transactions where transaction.transactionNumber <= end {
                if let record = record(transaction) { records.append(record) }
            }
            guard let last = transactions.last?.transactionNumber, last < end else { return records }
        }
    }
}

/// Transactions by their times, as bars that are as high as they changed much.
struct TimeLine {
    private let records: [TransactionRecord]

    init(_ records: [TransactionRecord]) { self.records = records }

    var markup: Markup {
        guard let newest = records.first?.time, let oldest = records.last?.time, records.count > 1 else { return "" }
        let (width, height) = (800.0, 60.0)
        let span = max(newest.timeIntervalSince(oldest), 0.001)
        let authors = Array(Set(records.map { $0.author ?? "" })).sorted()
        let most = log(Double(max(2, records.map(\.changeCount).max() ?? 2) + 1))
        let bars = records.map { record -> Markup in
            let place = 4 + record.time.timeIntervalSince(oldest) / span * (width - 12)
            let size = max(3, log(Double(record.changeCount + 1)) / most * (height - 8))
            let color = (authors.firstIndex(of: record.author ?? "") ?? 0) % 6
            let link = Link("/changes", ["from": "\(record.number - 1)", "to": "\(record.number)"])
            return """
                <a href="\(link)" tabindex="-1"><rect class="author\(color)" x="\(place)" y="\(height - size)" width="4" height="\(size)">
                <title>\(record.number), \(Point.text(record.time)), \(record.author ?? "no author"): \(record.changeCount) changes</title></rect></a>

                """
        }
        return """
            <div class="scroll"><svg class="timeline" viewBox="0 0 \(width) \(height)" width="\(width)" height="\(height)" role="img"
            aria-label="Time line of \(records.count) transactions, the table below has them">\(bars)</svg></div>
            <p class="note"><time>\(Point.text(oldest))</time> to <time>\(Point.text(newest))</time>; a color for each author</p>
            """
    }
}
