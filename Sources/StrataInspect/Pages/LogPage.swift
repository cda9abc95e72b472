import Foundation
import Strata
import StrataBrowsing
import StrataLog
import StrataModelFile

/// The log: what its segments hold, and how it grows.
struct LogPage {
    let inspector: Inspector
    let map: SegmentMap

    private static let columns = ["segment", "bytes", "live", "history", "dead", "pinned"]

    func content() -> PageContent {
        let records = map.segments.map { segment -> [Cell] in
            [
                .count(Int(segment.segment)), .bytes(segment.byteCount), .bytes(segment.liveByteCount),
                .bytes(segment.historyByteCount), .bytes(segment.deadByteCount), .bytes(segment.pinnedByteCount),
            ]
        }
        return PageContent(
            title: "Log",
            body: """
                <section aria-labelledby="rates"><h2 id="rates">Now</h2>
                <div class="rates" id="rates-charts" data-live="/log.events" role="status"></div>
                <p class="note">Of what is in the log. What the writing program does,
                and pins of segments that have left the directory, is its <a href="/activity">activity</a>.</p>
                </section>
                <section aria-labelledby="map"><h2 id="map">Segments</h2><div class="scroll" id="segments">\(map.markup)</div>
                <p class="legend"><span class="live">live</span> <span class="history">history</span>
                <span class="dead">garbage</span> <span class="pinned">garbage that is pinned</span>
                <span class="other">headers</span></p></section>
                \(CellMarkup.table(Self.columns, records, at: nil, caption: "\(records.count) segments"))
                """,
            columns: Self.columns, records: records,
            fields: [
                ("transaction", "\(inspector.log.snapshot.sequence)"), ("bytes", "\(map.byteCount)"),
            ])
    }
}

/// The segments of a log as a drawing: a row for each, as long as its file.
struct SegmentMap: Sendable {
    let segments: [SegmentStatistics]

    /// - Throws: `.io` or `.corruption` of segments that cannot be read.
    init(_ log: LogStore) throws(StoreError) {
        try log.refresh()
        segments = try log.segmentStatistics()
    }

    var byteCount: Int { segments.reduce(0) { $0 + $1.byteCount } }

    /// Drawn are the newest.
    private static let maximum = 400

    var markup: Markup {
        let shown = segments.suffix(Self.maximum)
        let largest = Double(max(1, shown.map(\.byteCount).max() ?? 1))
        let (width, rowHeight) = (720.0, 18.0)
        let rows = shown.enumerated().map { index, segment -> Markup in
            let top = Double(index) * rowHeight
            let scale = (width - 60) / largest
            var x = 56.0
            let unpinned = segment.deadByteCount - segment.pinnedByteCount
            let parts: [(kind: Markup, bytes: Int)] = [
                ("live", segment.liveByteCount), ("history", segment.historyByteCount), ("dead", unpinned),
                ("pinned", segment.pinnedByteCount),
                (
                    "other",
                    segment.byteCount - segment.liveByteCount - segment.historyByteCount - segment.deadByteCount
                ),
            ]
            let bars = parts.filter { $0.bytes > 0 }.map { part -> Markup in
                let length = Double(part.bytes) * scale
                defer { x += length }
                return
                    "<rect class=\"\(part.kind)\" x=\"\(x)\" y=\"\(top + 2)\" width=\"\(max(length, 0.5))\" height=\"14\"/>"
            }
            let end: Markup = segment.isCurrent ? " ◂" : ""
            return """
                <g><title>segment \(Int(segment.segment)): \(ByteSize.text(segment.byteCount)), \(ByteSize.text(segment.liveByteCount)) live</title>
                <text x="50" y="\(top + 13)" text-anchor="end">\(Int(segment.segment))\(end)</text>\(bars)</g>

                """
        }
        return """
            <svg class="segments" width="\(width)" height="\(Double(shown.count) * rowHeight + 4)" role="img"
            aria-label="Segments of the log; the table below has the figures">\(rows)</svg>
            """
    }
}
