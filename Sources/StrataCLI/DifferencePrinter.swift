import StrataBrowsing
import StrataModelFile

/// Prints differences as they are found, and how many there were.
final class DifferencePrinter {
    private struct Counts {
        var inserted = 0
        var updated = 0
        var deleted = 0
    }

    private let output: OutputOptions
    private let printsObjects: Bool
    private let rows: RecordWriter?
    private var counts: [String: Counts] = [:]
    private var count = 0

    init(_ output: OutputOptions, printsObjects: Bool) {
        self.output = output
        self.printsObjects = printsObjects
        rows =
            printsObjects && output.format == .csv
            ? RecordWriter(output, columns: ["change", "entity", "uri", "property", "before", "after"]) : nil
    }

    func print(_ difference: Difference) {
        var counted = counts[difference.entity] ?? Counts()
        switch difference.kind {
        case .insert: counted.inserted += 1
        case .update: counted.updated += 1
        case .delete: counted.deleted += 1
        }
        counts[difference.entity] = counted
        guard printsObjects else { return }
        switch output.format {
        case .table: printText(difference)
        case .csv: printRows(difference)
        case .ndjson: Terminal.output.write(Self.json(difference) + "\n")
        case .json: Terminal.output.write((count == 0 ? "[" : ",\n") + Self.json(difference))
        }
        count += 1
    }

    func finish() {
        if output.format == .table, counts.isEmpty {
            Terminal.output.write("no differences\n")
        } else if printsObjects {
            switch output.format {
            case .table:
                Terminal.output.write("\n")
                printCounts()
            case .json: Terminal.output.write(count == 0 ? "[]\n" : "]\n")
            case .ndjson, .csv: break
            }
        } else {
            printCounts()
        }
        rows?.finish()
        Terminal.output.flush()
    }

    private func printCounts() {
        let writer = RecordWriter(output, columns: ["entity", "inserted", "updated", "deleted"])
        for (entity, counts) in counts.sorted(by: { $0.key < $1.key }) {
            writer.write([
                .text(entity), .count(counts.inserted), .count(counts.updated), .count(counts.deleted),
            ])
        }
        writer.finish()
    }

    // MARK: Forms

    private func printText(_ difference: Difference) {
        func text(_ cell: Cell) -> String {
            if case .text(let text) = cell { return Cell.visible(QuotedText.of(text)) }
            return cell.tableText(exactBytes: output.bytes)
        }
        let sign =
            switch difference.kind {
            case .insert: "+"
            case .update: "~"
            case .delete: "-"
            }
        let terminal = Terminal.output
        terminal.write("\(sign) " + terminal.bold(difference.object.tableText(exactBytes: false)) + "\n")
        for value in difference.values {
            let change =
                switch difference.kind {
                case .insert: text(value.after)
                case .delete: text(value.before)
                case .update where value.isMember:
                    [("-", value.before), ("+", value.after)].filter { !$0.1.isEmpty }
                        .map { "\($0.0)\(text($0.1))" }.joined(separator: " ")
                case .update: "\(text(value.before)) → \(text(value.after))"
                }
            terminal.write("    \(Cell.visible(value.property)): \(change)\n")
        }
    }

    private func printRows(_ difference: Difference) {
        let start: [Cell] = [.text(difference.kind.rawValue), .text(difference.entity), difference.object]
        if difference.values.isEmpty { rows?.write(start + [.absent, .absent, .absent]) }
        for value in difference.values {
            rows?.write(start + [.text(value.property), value.before, value.after])
        }
    }

    private static func json(_ difference: Difference) -> String {
        let values = difference.values.map { value in
            let sides = value.isMember ? ["removed", "added"] : ["from", "to"]
            let cells = zip(sides, [value.before, value.after]).filter { side in
                if case .absent = side.1 { return false }
                return true
            }
            return "\(QuotedText.of(value.property)):" + RecordWriter.json(cells.map(\.0), cells.map(\.1))
        }
        return "{\"change\":\"\(difference.kind.rawValue)\",\"entity\":\(QuotedText.of(difference.entity)),"
            + "\"uri\":\(difference.object.json),\"values\":{\(values.joined(separator: ","))}}"
    }
}
