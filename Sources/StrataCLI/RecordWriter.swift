import ArgumentParser
import Foundation
import StrataModelFile
import StrataTransfer

/// The forms in which results are printed.
enum Format: String, ExpressibleByArgument, CaseIterable {
    case table
    case json
    case csv
}

/// How results are printed.
struct OutputOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: "How to print: \(Format.allCases.map(\.rawValue).joined(separator: ", ")).")
    var format = Format.table
}

/// Prints records with the same columns, as they come.
///
/// A table's first records are held back until their widths are known. JSON is an array with a record on each line, or,
/// for what never ends, a record on each line alone.
final class RecordWriter {
    private let format: Format
    private let columns: [String]
    private let isEndless: Bool
    private let cutsTexts: Bool
    private let terminal = Terminal.output
    private var held: [[Cell]] = []
    private var widths: [Int]?
    private var count = 0

    private static let heldMaximum = 500
    /// A longer text is cut off in a table.
    private static let widthMaximum = 60

    /// - Parameters:
    ///   - isEndless: whether each record is printed as soon as it is there, and none is the last.
    ///   - cutsTexts: whether a table's long texts are cut off.
    init(_ format: Format, columns: [String], isEndless: Bool = false, cutsTexts: Bool = true) {
        self.format = format
        self.columns = columns
        self.isEndless = isEndless
        self.cutsTexts = cutsTexts
        if format == .csv { terminal.write(columns.map(Self.quoted).joined(separator: ",") + "\r\n") }
    }

    func write(_ record: [Cell]) {
        defer { count += 1 }
        switch format {
        case .csv: terminal.write(record.map { Self.quoted($0.plainText) }.joined(separator: ",") + "\r\n")
        case .json:
            let fields = zip(columns, record).map { "\(QuotedText.of($0)):\($1.json)" }
            let text = "{\(fields.joined(separator: ","))}"
            terminal.write(isEndless ? text + "\n" : (count == 0 ? "[" : ",\n") + text)
        case .table:
            if widths == nil {
                held.append(record)
                if held.count >= Self.heldMaximum || isEndless { release() }
            } else {
                line(record.map(\.tableText), isNumeric: record.map(Self.isNumeric))
            }
        }
        if isEndless { terminal.flush() }
    }

    /// Prints what was held back, and what ends the form.
    func finish() {
        switch format {
        case .table: release()
        case .json where !isEndless: terminal.write(count == 0 ? "[]\n" : "]\n")
        default: break
        }
        terminal.flush()
    }

    private func release() {
        guard widths == nil else { return }
        var widths = columns.map(\.count)
        for record in held {
            for (index, cell) in record.enumerated() {
                let width = cell.tableText.count
                widths[index] = max(widths[index], cutsTexts ? min(Self.widthMaximum, width) : width)
            }
        }
        self.widths = widths
        let title = zip(columns, widths).map { Self.padded($0, $1, isNumeric: false) }.joined(separator: "  ")
        terminal.write(terminal.bold(Self.trimmed(title)) + "\n")
        for record in held { line(record.map(\.tableText), isNumeric: record.map(Self.isNumeric)) }
        held = []
    }

    private func line(_ texts: [String], isNumeric: [Bool]) {
        widen(for: texts)
        let widths = widths ?? []
        let cells = texts.indices.map { Self.padded(texts[$0], widths[$0], isNumeric: isNumeric[$0]) }
        terminal.write(Self.trimmed(cells.joined(separator: "  ")) + "\n")
    }

    /// Later records may have longer texts than the first ones: their columns get wider from then on.
    private func widen(for texts: [String]) {
        guard var widths else { return }
        for (index, text) in texts.enumerated() {
            widths[index] = max(widths[index], min(Self.widthMaximum, text.count))
        }
        self.widths = widths
    }

    private static func trimmed(_ text: String) -> String {
        var text = text
        while text.last == " " { text.removeLast() }
        return text
    }

    private static func isNumeric(_ cell: Cell) -> Bool {
        switch cell {
        case .integer, .real, .number: true
        default: false
        }
    }

    private static func padded(_ text: String, _ width: Int, isNumeric: Bool) -> String {
        if text.count > width { return String(text.prefix(max(0, width - 1))) + "…" }
        let space = String(repeating: " ", count: width - text.count)
        return isNumeric ? space + text : text + space
    }

    /// Empty texts and null look alike: results are for reading.
    private static func quoted(_ text: String) -> String { text.isEmpty ? text : CSVText.field(text) }
}
