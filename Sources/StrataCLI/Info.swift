import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataLog
import StrataModelFile
import StrataSupport
import SystemPackage

/// What a store is made of.
struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a store's entities, sizes, and history with its consumers.",
        discussion: """
            What snapshots pin, and consumers that have never acknowledged anything, are known while a program with \
            StrataService has the store open. CSV has the entities only.
            """)

    @OptionGroup var argument: StoreArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        try reporting {
            let log = try argument.openLog()
            let summary = try StoreSummary(log, argument.url, ProgramRetention.read(besideStoreAt: argument.url))
            switch output.format {
            case .table: printTables(summary)
            case .json, .ndjson: Terminal.output.write(summary.json + "\n")
            case .csv:
                let writer = RecordWriter(output, columns: ["entity", "objects"])
                for (name, count) in summary.entities { writer.write([.text(name), .integer(Int64(count))]) }
                writer.finish()
            }
            Terminal.output.flush()
            if let damage = summary.damage {
                Terminal.messages.write("strata: what the segments hold cannot be told: \(damage)\n")
                Terminal.messages.flush()
            }
        }
    }

    private func printTables(_ summary: StoreSummary) {
        let terminal = Terminal.output
        for (name, cell) in summary.values {
            var name = name
            // "log: 7.1 MB"
            if case .bytes = cell, !output.bytes, name.hasSuffix(" bytes") { name.removeLast(" bytes".count) }
            terminal.write("\(name): \(cell.tableText(exactBytes: output.bytes))\n")
        }
        terminal.write("\n")
        let entities = RecordWriter(output, columns: ["entity", "objects"])
        for (name, count) in summary.entities { entities.write([.text(name), .integer(Int64(count))]) }
        entities.finish()
        terminal.write("\n")
        let segments = RecordWriter(output, columns: StoreSummary.segmentColumns)
        for segment in summary.segments { segments.write(segment) }
        segments.finish()
        guard !summary.consumers.isEmpty else { return }
        terminal.write("\n")
        let consumers = RecordWriter(output, columns: StoreSummary.consumerColumns)
        for consumer in summary.consumers { consumers.write(consumer) }
        consumers.finish()
    }
}

/// The figures that `info` prints.
struct StoreSummary {
    static let segmentColumns = ["segment", "bytes", "live", "history", "dead", "pinned", "after transaction"]
    static let consumerColumns = ["history consumer", "acknowledged", "behind"]

    private(set) var values: [(String, Cell)] = []
    private(set) var entities: [(String, Int)] = []
    private(set) var segments: [[Cell]] = []
    /// The furthest behind first.
    private(set) var consumers: [[Cell]] = []
    /// Why it could not be told what the segments hold.
    private(set) var damage: String?

    /// - Parameter retention: nil where no program tells of it.
    init(_ log: LogStore, _ url: URL, _ retention: ProgramRetention?) throws {
        let snapshot = log.snapshot
        var total = 0
        var indexBytes = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() {
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.appendingPathComponent(name).path)
            let size = (attributes?[.size] as? NSNumber)?.intValue ?? 0
            if name.hasSuffix(".chk") { indexBytes += size }
            if name.hasSuffix(".seg") { total += size }
        }
        let use = segmentUse(log)
        for segment in try log.segmentSummaries() {
            let parts = use[segment.number]
            segments.append([
                .count(Int(segment.number)), .bytes(segment.byteCount),
                Self.cell(parts?.liveByteCount), Self.cell(parts?.historyByteCount), Self.cell(parts?.deadByteCount),
                Self.cell(parts?.pinnedByteCount), .integer(Int64(segment.previousSequence)),
            ])
        }
        var objects = 0
        for entity in log.schema.entities where !entity.name.hasPrefix("link ") {
            let count = snapshot.count(entity: entity.id)
            entities.append((entity.name, count))
            objects += count
        }
        entities.sort { $0.0 < $1.0 }
        let first = HistoryMetadata.start(log.metadata)
        values = [
            ("uuid", .text(log.knownUUID)), ("objects", .integer(Int64(objects))),
            ("transactions", .integer(Int64(snapshot.sequence))), ("history from", .integer(Int64(first))),
            (
                "newest",
                snapshot.sequence == 0
                    ? .null
                    : .text(Point.text(Date(timeIntervalSince1970: Double(snapshot.timestampNanoseconds) / 1e9)))
            ),
            ("schema version", .integer(Int64(log.schemaVersion))), ("segments", .integer(Int64(segments.count))),
            ("log bytes", .bytes(total)), ("checkpoint bytes", .bytes(indexBytes)),
            ("live bytes", Self.sum(use, \.liveByteCount)), ("history bytes", Self.sum(use, \.historyByteCount)),
            ("dead bytes", Self.sum(use, \.deadByteCount)), ("pinned bytes", Self.sum(use, \.pinnedByteCount)),
            ("bytes per object", objects == 0 ? .absent : .bytes(total / objects)),
        ]
        if let retention, let index = values.firstIndex(where: { $0.0 == "pinned bytes" }) {
            values.insert(contentsOf: retention.figures, at: index + 1)
        }
        let known = HistoryMetadata.consumers(log, awaited: retention?.awaitedConsumers ?? [])
        for consumer in known {
            consumers.append([
                .text(consumer.name), consumer.acknowledged.map { .integer(Int64(clamping: $0)) } ?? .absent,
                .count(consumer.behind),
            ])
        }
    }

    /// What the segments hold; nothing of a log that cannot be read, which `verify` has more to say about.
    private mutating func segmentUse(_ log: LogStore) -> [UInt32: SegmentStatistics] {
        do {
            let statistics = try log.segmentStatistics()
            return Dictionary(statistics.map { ($0.segment, $0) }) { first, _ in first }
        } catch {
            damage = "\(error)"
            return [:]
        }
    }

    private static func cell(_ byteCount: Int?) -> Cell { byteCount.map { .bytes($0) } ?? .absent }

    private static func sum(
        _ use: [UInt32: SegmentStatistics], _ part: KeyPath<SegmentStatistics, Int>
    ) -> Cell {
        cell(use.isEmpty ? nil : use.values.reduce(0) { $0 + $1[keyPath: part] })
    }

    var json: String {
        var fields = values.map { "\(QuotedText.of(Self.key($0.0))):\($0.1.json)" }
        let counts = entities.map { "\(QuotedText.of($0.0)):\($0.1)" }
        fields.append("\"entities\":{\(counts.joined(separator: ","))}")
        let parts = segments.map { RecordWriter.json(Self.segmentColumns.map(Self.key), $0) }
        fields.append("\"segmentList\":[\(parts.joined(separator: ","))]")
        let states = consumers.map { RecordWriter.json(["name", "acknowledged", "behind"], $0) }
        fields.append("\"historyConsumers\":[\(states.joined(separator: ","))]")
        return "{\(fields.joined(separator: ","))}"
    }

    /// "log bytes" as "logBytes".
    static func key(_ name: String) -> String {
        let words = name.split(separator: " ")
        return words.enumerated().map { $0.offset == 0 ? String($0.element) : $0.element.capitalized }.joined()
    }
}
