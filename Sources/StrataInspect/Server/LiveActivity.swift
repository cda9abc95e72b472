import Foundation
import StrataBrowsing
import StrataLog
import StrataModelFile
import StrataService
import Synchronization

/// What the writing program does, once a second: rates from the log, and from what the program tells of itself.
final class LiveActivity: LiveEvents {
    private struct Last {
        var log: LogRates
        /// The newest two of the program's words.
        var status: StoreStatus?
        var earlier: StoreStatus?
        /// What the page was told.
        var text: String?
        var kept: String?
        var slow: [StoreStatus.Request]?
        /// The rates that the page shows of a program.
        var shown: [String] = []
    }

    let pause = Duration.seconds(1)
    private let inspector: Inspector
    private let last: Mutex<Last>

    init(_ inspector: Inspector) {
        self.inspector = inspector
        last = Mutex(Last(log: LogRates()))
    }

    func next() throws -> String {
        let report = ProgramReport(inspector.url)
        var state = last.withLock { $0 }
        var rates = try state.log.next(inspector.log)
        if report.status?.began != state.status?.began || report.status?.process != state.status?.process {
            // Another program, or none any more.
            state.earlier = nil
            state.status = report.status
        } else if let status = report.status, status.time != state.status?.time {
            state.earlier = state.status
            state.status = status
        }
        let told = state.status.map { ProgramRates($0, after: state.earlier).rates } ?? []
        // Whoever tells nothing any more does nothing any more, as far as the page knows.
        rates += told.isEmpty ? state.shown.map { ($0, 0) } : told
        if !told.isEmpty { state.shown = told.map(\.0) }
        var events = LogRates.event(rates, inspector.log.snapshot.sequence)
        if state.text != report.text {
            state.text = report.text
            events += "event: program\ndata: {\"text\":\(QuotedText.of(report.text))}\n\n"
        }
        let consumers = report.consumers.map {
            PageContent.json(ActivityPage.consumerColumns, $0.map(Self.shown))
        }
        let kept =
            "event: kept\ndata: {\"text\":\(QuotedText.of(report.pinnedText)),"
            + "\"rows\":[\(consumers.joined(separator: ","))]}\n\n"
        if state.kept != kept {
            state.kept = kept
            events += kept
        }
        let slow = report.status?.slow ?? []
        if state.slow != slow {
            let rows = slow.map { PageContent.json(ActivityPage.columns, ActivityPage.record($0).map(Self.shown)) }
            events +=
                "event: requests\ndata: {\"caption\":\(QuotedText.of(report.slowText)),"
                + "\"rows\":[\(rows.joined(separator: ","))]}\n\n"
            state.slow = slow
        }
        last.withLock { $0 = state }
        return events
    }

    /// A cell as a table has it.
    private static func shown(_ cell: Cell) -> Cell {
        guard case .text(let text) = cell else { return cell }
        return .text(Cell.visible(CellMarkup.cut(text, Limits.cellCharacters)))
    }
}

/// What happened between two words of a program, a second.
struct ProgramRates {
    let rates: [(String, Double)]

    /// - Parameter earlier: nil when there is none yet: then there are no rates.
    init(_ status: StoreStatus, after earlier: StoreStatus?, now: Double = Date().timeIntervalSince1970) {
        guard let earlier, status.time > earlier.time else {
            rates = []
            return
        }
        let (new, old) = (status.counters, earlier.counters)
        let seconds = status.time - earlier.time
        // Nothing happens in a program that writes less often than it could.
        let isIdle = now - status.time > 2 * status.intervalSeconds + 2
        func rate(_ count: KeyPath<StoreStatus.Counters, Int>) -> Double {
            isIdle ? 0 : Double(max(0, new[keyPath: count] - old[keyPath: count])) / seconds
        }
        let (hits, misses) = (rate(\.cacheHits), rate(\.cacheMisses))
        rates = [
            ("Saves a second", rate(\.saves)), ("Fetches and counts a second", rate(\.fetches) + rate(\.counts)),
            ("Flushes a second", rate(\.flushes)), ("Rows tested a second", rate(\.rowsTested)),
            ("Cache hits in percent", hits + misses > 0 ? hits / (hits + misses) * 100 : 100),
            ("Failed requests a second", rate(\.failures)),
        ]
    }
}
