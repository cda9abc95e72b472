import HTTPTypes
import StrataBrowsing
import StrataModelFile
import StrataTransfer

/// What a page says, for each of its forms.
struct PageContent: Sendable {
    var title: String
    /// What is between the navigation and the end.
    var body: Markup
    /// What the forms for programs have: records, and JSON also further fields, whose values are JSON.
    var columns: [String]
    var records: [[Cell]]
    var fields: [(name: String, json: String)] = []

    /// - Throws: ``InspectError`` for what is too large for one answer.
    func json() throws -> String {
        var text = "{"
        for field in fields { text += "\(QuotedText.of(field.name)):\(field.json)," }
        text += "\"rows\":["
        for (index, record) in records.enumerated() {
            text += (index == 0 ? "\n" : ",\n") + Self.json(columns, record)
            try Self.check(text)
        }
        return text + (records.isEmpty ? "]}\n" : "\n]}\n")
    }

    /// A record as an object.
    static func json(_ columns: [String], _ record: [Cell]) -> String {
        "{\(zip(columns, record).map { "\(QuotedText.of($0)):\($1.json)" }.joined(separator: ","))}"
    }

    /// A browser gives it to a spreadsheet. What that would take for a formula has an apostrophe in front, with which
    /// it is a text there.
    ///
    /// - Throws: as ``json()``.
    func csv() throws -> String {
        var text = columns.map { CSVText.field(Self.withoutFormula($0)) }.joined(separator: ",") + "\r\n"
        for record in records {
            text += record.map(Self.csv).joined(separator: ",") + "\r\n"
            try Self.check(text)
        }
        return text
    }

    private static func csv(_ cell: Cell) -> String {
        switch cell {
        case .text(let text): Cell.text(withoutFormula(text)).csv
        case .data, .list: Cell.text(withoutFormula(cell.plainText)).csv
        default: cell.csv
        }
    }

    private static func withoutFormula(_ text: String) -> String {
        guard let first = text.unicodeScalars.first, "=+-@\t\r\n".unicodeScalars.contains(first) else { return text }
        return "'" + text
    }

    private static func check(_ text: String) throws {
        guard text.utf8.count <= Limits.answerBytes else { throw tooLarge }
    }

    static let tooLarge = InspectError(
        .contentTooLarge, "the answer is larger than \(Limits.answerBytes >> 20) MiB: ask for fewer rows by limit")
}
