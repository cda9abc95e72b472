import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataLog
import StrataModelFile

/// Where the bytes of a store are, and where they come from.
struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what each entity and property takes, and what wrote the log.",
        discussion: """
            Reads the whole store; `info` prints what can be told quickly. Blocks of which only some rows are live \
            count by the share that is. Of a program with StrataService, what it last told of its cache comes along. CSV has the properties only, NDJSON a line for each property.
            """)

    @OptionGroup var argument: StoreArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        try reporting {
            let log = try argument.openLog()
            let bar = ProgressBar("reading", .blocks)
            defer { bar.finish() }
            let layouts = try StoreReader(argument.url).layouts
            let statistics = StoreStatistics(
                try log.entityStatistics { bar.update($0, of: $1) }, layouts, try log.writtenBytes(),
                ProgramCache.read(besideStoreAt: argument.url))
            bar.finish()
            switch output.format {
            case .table: printTables(statistics)
            case .json: Terminal.output.write(statistics.json + "\n")
            case .ndjson, .csv: write(StoreStatistics.propertyColumns, statistics.properties)
            }
            Terminal.output.flush()
        }
    }

    private func printTables(_ statistics: StoreStatistics) {
        for (name, cell) in statistics.values {
            Terminal.output.write("\(name): \(cell.tableText(exactBytes: output.bytes))\n")
        }
        Terminal.output.write("\n")
        write(StoreStatistics.entityColumns, statistics.entities)
        Terminal.output.write("\n")
        write(StoreStatistics.propertyColumns, statistics.properties)
        Terminal.output.write("\n")
        write(StoreStatistics.segmentColumns, statistics.segments)
    }

    private func write(_ columns: [String], _ records: [[Cell]]) {
        let names = output.format == .table ? columns : columns.map(StoreSummary.key)
        let writer = RecordWriter(output, columns: names)
        for record in records { writer.write(record) }
        writer.finish()
    }
}

/// The figures that `stats` prints.
private struct StoreStatistics {
    static let entityColumns = ["entity", "objects", "stored", "share", "per object", "blocks"]
    static let propertyColumns = [
        "entity", "property", "values", "size", "stored", "ratio", "per value", "large values",
    ]
    static let segmentColumns = ["segment", "first saved", "last saved", "transactions", "saved", "moved"]

    private(set) var values: [(String, Cell)] = []
    /// The largest first.
    private(set) var entities: [[Cell]] = []
    /// By entity, the largest first.
    private(set) var properties: [[Cell]] = []
    private(set) var segments: [[Cell]] = []

    /// - Parameter cache: nil where no program has told of it.
    init(
        _ statistics: [EntityStatistics], _ layouts: RowLayouts, _ written: [WrittenBytes], _ cache: ProgramCache?
    ) {
        let total = statistics.reduce(0) { $0 + $1.storedByteCount }
        var (size, stored) = (0, 0)
        for part in statistics.sorted(by: { $0.storedByteCount > $1.storedByteCount }) where part.rowCount > 0 {
            let (name, slots) = Self.names(part, layouts)
            entities.append([
                .text(name), .count(part.rowCount), .bytes(part.storedByteCount),
                Self.percent(part.storedByteCount, of: total),
                .bytes(part.storedByteCount / part.rowCount), .count(part.blockCount),
            ])
            let named = zip(slots, part.slots).sorted { $0.1.storedByteCount > $1.1.storedByteCount }
            for (slot, figures) in named {
                size += figures.byteCount
                stored += figures.storedByteCount
                properties.append([
                    .text(name), .text(slot), .count(figures.valueCount), .bytes(figures.byteCount),
                    .bytes(figures.storedByteCount), Self.ratio(figures.byteCount, figures.storedByteCount),
                    figures.valueCount == 0 ? .absent : .bytes(figures.storedByteCount / figures.valueCount),
                    .count(figures.largeValueCount),
                ])
            }
        }
        for part in written {
            segments.append([
                .count(Int(part.segment)), Self.time(part.firstNanoseconds), Self.time(part.lastNanoseconds),
                .count(part.transactionCount), .bytes(part.transactionByteCount), .bytes(part.compactionByteCount),
            ])
        }
        let saved = written.reduce(0) { $0 + $1.transactionByteCount }
        let moved = written.reduce(0) { $0 + $1.compactionByteCount }
        values = [
            ("values", .bytes(size)), ("stored", .bytes(stored)), ("ratio", Self.ratio(size, stored)),
            ("with keys and headers", .bytes(total)),
            // Of what the log has now.
            ("saved", .bytes(saved)), ("moved by compaction", .bytes(moved)),
            ("write amplification", Self.ratio(saved + moved, saved)),
            ("space amplification", Self.ratio(saved + moved, total)),
        ]
        values += cache?.figures ?? []
    }

    /// The names of an entity and of its slots; of the rows of links, which no entity has, those of a relationship.
    private static func names(_ part: EntityStatistics, _ layouts: RowLayouts) -> (String, [String]) {
        if let rows = layouts.rows.first(where: { $0.number == part.entity }) {
            return (
                rows.name,
                rows.slots.map { slot in
                    if case .position = slot.kind { return "\(slot.name) (position)" }
                    return slot.name
                }
            )
        }
        if let links = layouts.links.first(where: { $0.number == part.entity }) {
            let inverse = links.inverse.map { " / \($0.name)" } ?? ""
            return (
                "\(links.ownerName).\(links.relationship.name)\(inverse)",
                ["owner", "member", "position of member", "position of owner"]
            )
        }
        return ("entity \(part.entity)", part.slots.indices.map { "slot \($0)" })
    }

    private static func percent(_ part: Int, of total: Int) -> Cell {
        total == 0 ? .absent : .number(String(format: "%.1f", Double(part) / Double(total) * 100))
    }

    private static func ratio(_ first: Int, _ second: Int) -> Cell {
        second == 0 ? .absent : .number(String(format: "%.2f", Double(first) / Double(second)))
    }

    private static func time(_ nanoseconds: Int64?) -> Cell {
        nanoseconds.map { .text(Point.text(Date(timeIntervalSince1970: Double($0) / 1e9))) } ?? .absent
    }

    var json: String {
        func list(_ columns: [String], _ records: [[Cell]]) -> String {
            "[\(records.map { RecordWriter.json(columns.map(StoreSummary.key), $0) }.joined(separator: ","))]"
        }
        var fields = values.map { "\(QuotedText.of(StoreSummary.key($0.0))):\($0.1.json)" }
        fields.append("\"entities\":" + list(Self.entityColumns, entities))
        fields.append("\"properties\":" + list(Self.propertyColumns, properties))
        fields.append("\"segmentList\":" + list(Self.segmentColumns, segments))
        return "{\(fields.joined(separator: ","))}"
    }
}
