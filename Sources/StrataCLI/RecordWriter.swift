import ArgumentParser
import Foundation
import StrataBrowsing
import StrataModelFile
import StrataTransfer

/// The forms in which results are printed.
enum Format: String, ExpressibleByArgument, CaseIterable {
    case table
    case json
    /// A JSON object on each line.
    case ndjson
    case csv

    /// Whether it is one of the forms of JSON.
    var isJSON: Bool { self == .json || self == .ndjson }
}

/// How results are printed.
struct OutputOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: "How to print: \(Format.allCases.map(\.rawValue).joined(separator: ", ")).")
    var format = Format.table
    @Flag(help: "Print sizes in tables as numbers of bytes.")
    var bytes = false
}

/// Prints records with the same columns, as they come.
///
/// JSON is an array with a record on each line, or, for what never ends and as NDJSON, a record on each line alone.
final class RecordWriter {
    private let format: Format
    private let columns: [String]
    private let isEndless: Bool
    private let table: TableWriter?
    private let terminal = Terminal.output
    private var count = 0

    /// - Parameters:
    ///   - isEndless: whether each record is printed as soon as it is there, and none is the last.
    ///   - isVertical: whether a table has each property on a line of its own.
    init(_ output: OutputOptions, columns: [String], isEndless: Bool = false, isVertical: Bool = false) {
        format = output.format
        self.columns = columns
        self.isEndless = isEndless
        table =
            output.format == .table
            ? TableWriter(
                columns: columns, holdsBack: !isEndless, isVertical: isVertical, exactBytes: output.bytes) : nil
        if format == .csv { terminal.write(columns.map { CSVText.field($0) }.joined(separator: ",") + "\r\n") }
    }

    func write(_ record: [Cell]) {
        defer { count += 1 }
        switch format {
        case .csv: terminal.write(record.map(\.csv).joined(separator: ",") + "\r\n")
        case .json where !isEndless:
            terminal.write((count == 0 ? "[" : ",\n") + Self.json(columns, record))
        case .json, .ndjson: terminal.write(Self.json(columns, record) + "\n")
        case .table: table?.write(record)
        }
        if isEndless { terminal.flush() }
    }

    /// Prints what was held back, and what ends the form.
    func finish() {
        switch format {
        case .table: table?.finish()
        case .json where !isEndless: terminal.write(count == 0 ? "[]\n" : "]\n")
        default: break
        }
        terminal.flush()
    }

    /// A JSON object.
    static func json(_ names: [String], _ cells: [Cell]) -> String {
        "{\(zip(names, cells).map { "\(QuotedText.of($0)):\($1.json)" }.joined(separator: ","))}"
    }
}
