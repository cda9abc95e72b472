import Foundation
import Strata
import StrataBrowsing
import StrataLog
import StrataModelFile
import Synchronization

/// What a live page is told, bit by bit.
protocol LiveEvents: Sendable {
    /// Between two looks.
    var pause: Duration { get }
    /// Events that have come since; an empty text if there are none. Called by one at a time.
    func next() throws -> String
}

/// Transactions as they are saved.
final class LiveHistory: LiveEvents {
    /// Further behind, what was missed is left out: a page shows the newest.
    private static let lagMaximum: Int64 = 1_000

    private struct Place {
        var cursor: HistoryCursor
        var number: Int64
    }

    let pause = Duration.milliseconds(400)
    private let inspector: Inspector
    private let search: HistorySearch
    private let place: Mutex<Place?>

    init(_ inspector: Inspector, _ query: Query) throws {
        self.inspector = inspector
        search = try HistorySearch(inspector, author: query["author"], entity: query["entity"])
        place = Mutex(nil)
    }

    func next() throws -> String {
        let newest = inspector.newestTransaction()
        var now = try place.withLock { $0 } ?? Place(cursor: cursor(at: newest), number: newest)
        if newest - now.number > Self.lagMaximum {
            now = Place(cursor: try cursor(at: newest - 1), number: newest - 1)
        }
        var events = ""
        for transaction in try now.cursor.readNow() {
            now.number = transaction.transactionNumber
            if let record = search.record(transaction) {
                events += "id: \(record.number)\nevent: transaction\ndata: \(record.json)\n\n"
            }
        }
        place.withLock { $0 = now }
        return events
    }

    private func cursor(at number: Int64) throws -> HistoryCursor {
        HistoryCursor(inspector.newest.coordinator, number <= 0 ? nil : try inspector.newest.token(number))
    }
}

/// How a log has grown since the last look.
struct LogRates {
    private var last: (time: ContinuousClock.Instant, sequence: UInt64, bytes: Int)?
    /// The segments at the last look.
    private(set) var summaries: [SegmentSummary] = []

    /// - Returns: what happened since then, a second.
    mutating func next(_ log: LogStore) throws -> [(String, Double)] {
        try log.refresh()
        summaries = try log.segmentSummaries()
        let bytes = summaries.reduce(0) { $0 + $1.byteCount }
        let (now, sequence) = (ContinuousClock.now, log.snapshot.sequence)
        let before = last ?? (now - .seconds(1), sequence, bytes)
        let seconds = max((now - before.time) / .seconds(1), 0.001)
        last = (now, sequence, bytes)
        return [
            ("Transactions a second", Double(sequence - min(sequence, before.sequence)) / seconds),
            // Compaction takes files away, which is no writing.
            ("Log bytes a second", Double(max(0, bytes - before.bytes)) / seconds),
            ("Segments", Double(summaries.count)),
        ]
    }

    static func event(_ rates: [(String, Double)], _ sequence: UInt64) -> String {
        let values = rates.map { "{\"name\":\(QuotedText.of($0.0)),\"value\":\(String(format: "%.1f", $0.1))}" }
        return "event: rates\ndata: {\"transaction\":\(sequence),\"rates\":[\(values.joined(separator: ","))]}\n\n"
    }
}

/// How the log grows, once a second; its segments when they have changed, every five seconds at most.
final class LiveLog: LiveEvents {
    private struct Last {
        var rates = LogRates()
        var mapTime: ContinuousClock.Instant?
        var mapSequence: UInt64 = 0
        var mapSummaries: [SegmentSummary] = []
    }

    private static let mapPause = Duration.seconds(5)

    let pause = Duration.seconds(1)
    private let inspector: Inspector
    private let last = Mutex(Last())

    init(_ inspector: Inspector) { self.inspector = inspector }

    func next() throws -> String {
        let log = inspector.log
        var state = last.withLock { $0 }
        let rates = try state.rates.next(log)
        let (now, sequence) = (ContinuousClock.now, log.snapshot.sequence)
        var events = LogRates.event(rates, sequence)
        let isDue = state.mapTime.map { now - $0 >= Self.mapPause } ?? true
        // Compaction changes segments, and commits nothing.
        let isOther = state.mapSequence != sequence || state.mapSummaries != state.rates.summaries
        if isDue, isOther || state.mapTime == nil {
            let map = try SegmentMap(log)
            let parts = map.segments.map { segment in
                """
                {"segment":\(segment.segment),"bytes":\(segment.byteCount),"live":\(segment.liveByteCount),\
                "history":\(segment.historyByteCount),"dead":\(segment.deadByteCount),"pinned":\(segment.pinnedByteCount)}
                """
            }
            events += "event: segments\ndata: [\(parts.joined(separator: ","))]\n\n"
            state.mapTime = ContinuousClock.now
            state.mapSequence = sequence
            state.mapSummaries = state.rates.summaries
        }
        last.withLock { $0 = state }
        return events
    }
}
