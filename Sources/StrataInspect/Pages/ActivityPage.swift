import Foundation
import Strata
import StrataBrowsing
import StrataModelFile
import StrataService

/// What the program that writes the store does with it: rates, and its slowest requests.
struct ActivityPage {
    let inspector: Inspector
    let query: Query

    static let columns = [
        "operation", "request", "plan", "slowest", "rows tested", "rows", "at", "calls", "total",
    ]

    static let consumerColumns = ["consumer", "acknowledged", "transactions behind"]

    func content() -> PageContent {
        let report = ProgramReport(inspector.url)
        let records = report.status?.slow.map(Self.record) ?? []
        return PageContent(
            title: "Activity",
            body: """
                <section aria-labelledby="rates"><h2 id="rates">Now</h2>
                <div class="rates" id="rates-charts" data-live="/activity.events" role="status"></div>
                <p class="note" id="program">\(report.text)</p></section>
                <section aria-labelledby="slow"><h2 id="slow">Slowest requests</h2>
                \(CellMarkup.table(Self.columns, records, at: nil, caption: "\(report.slowText)"))
                <p class="note">Times in milliseconds. Requests that differ in constants only are one, and ? stands for
                these. Calls and their total are of those that took 1 ms or longer.</p></section>
                <section aria-labelledby="kept"><h2 id="kept">Kept on the disk</h2>
                <p class="note" id="pinned">\(report.pinnedText)</p>
                \(CellMarkup.table(Self.consumerColumns, report.consumers, at: nil, caption: "Consumers of the history", id: "consumers"))
                </section>
                """,
            columns: Self.columns, records: records, fields: report.fields)
    }

    static func record(_ request: StoreStatus.Request) -> [Cell] {
        [
            .text(request.operation), .text(request.text), request.plan.map { .text($0) } ?? .absent,
            milliseconds(request.seconds), .count(request.rowsTested), .count(request.rows),
            .text(Point.text(Date(timeIntervalSince1970: request.time))), .count(request.calls),
            milliseconds(request.totalSeconds),
        ]
    }

    private static func milliseconds(_ seconds: Double) -> Cell { .number(String(format: "%.1f", seconds * 1_000)) }
}

/// Who writes the store, as far as the file beside it tells.
struct ProgramReport {
    /// Nil where there is none of a program that runs.
    let status: StoreStatus?
    let text: String

    init(_ store: URL) {
        do {
            guard let found = try StoreStatus.read(besideStoreAt: store) else {
                status = nil
                text =
                    "Above is what the log tells. Requests, flushes, cache hits and slow requests are told by programs "
                    + "that have StrataService and may write beside the store, while they run: none does for this store."
                return
            }
            let name = "\(Cell.visible(CellMarkup.cut(found.program, 60))) (process \(found.process))"
            switch found.liveness(now: Date().timeIntervalSince1970) {
            case .live:
                status = found
                text = "Told by \(name), which has counted since \(Self.time(found.began))."
            case .silent:
                status = nil
                text =
                    "\(name) wrote last at \(Self.time(found.time)): it has ended without a word, is stopped, cannot write "
                    + "there any more, or its clock differs from this one."
            case .ended:
                status = nil
                text = "\(name) has ended without a word; it wrote last at \(Self.time(found.time))."
            }
        } catch {
            status = nil
            text = "What the program tells cannot be read: \(Cell.visible(CellMarkup.cut("\(error)", 300)))."
        }
    }

    private static func time(_ seconds: Double) -> String { Point.text(Date(timeIntervalSince1970: seconds)) }

    /// Above the table.
    var slowText: String {
        guard let status else { return "None are told" }
        if status.slow.isEmpty { return "None took 1 ms since \(Self.time(status.slowSince))" }
        return "Since \(Self.time(status.slowSince))"
    }

    /// What snapshots of the program keep on the disk.
    var pinnedText: String {
        guard let retained = status?.retained else { return "No program tells what its snapshots keep." }
        guard retained.pinnedBytes > 0 else { return "Snapshots pin no segments that were compacted away." }
        let since = retained.pinnedSince.map { ", the first of them since \(Self.time($0))" } ?? ""
        return
            "Snapshots pin \(ByteSize.text(retained.pinnedBytes)) of segments that have left the directory\(since): "
            + "a context that is pinned to a query generation, or a request, has run since before."
    }

    /// Those of the history, the furthest behind first.
    var consumers: [[Cell]] {
        (status?.retained?.consumers ?? []).map { consumer in
            [.text(consumer.name), consumer.acknowledged.map { .count($0) } ?? .absent, .count(consumer.behind)]
        }
    }

    private var retainedJSON: String {
        guard let retained = status?.retained else { return "null" }
        let since = retained.pinnedSince.map { QuotedText.of(Self.time($0)) } ?? "null"
        let consumers = consumers.map { PageContent.json(["name", "acknowledged", "behind"], $0) }
        return """
            {"pinnedBytes":\(retained.pinnedBytes),"pinnedSince":\(since),"consumers":[\(consumers.joined(separator: ","))]}
            """
    }

    /// For JSON.
    var fields: [(name: String, json: String)] {
        guard let status else { return [("program", "null"), ("note", QuotedText.of(text))] }
        let counters = status.counters
        let counts: [(String, Int)] = [
            ("commits", counters.commits), ("flushes", counters.flushes), ("saves", counters.saves),
            ("fetches", counters.fetches), ("counts", counters.counts), ("batches", counters.batches),
            ("failures", counters.failures), ("faults", counters.faults), ("rowsTested", counters.rowsTested),
            ("rowsReturned", counters.rowsReturned), ("cacheHits", counters.cacheHits),
            ("cacheMisses", counters.cacheMisses), ("cacheBytes", status.cacheBytes),
        ]
        let values = counts.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
        return [
            ("program", QuotedText.of(status.program)), ("process", "\(status.process)"),
            ("since", QuotedText.of(Self.time(status.began))), ("counters", "{\(values)}"),
            ("retained", retainedJSON),
            ("note", QuotedText.of(text)),
        ]
    }
}
