import StrataBrowsing

/// Prints records below each other for people.
///
/// The first records are held back until the widths of their columns are known. Numbers are at the right. On a terminal
/// texts are cut off so that a record fits a line; where even that is not enough, each property has a line of its own.
final class TableWriter {
    private let columns: [String]
    private let holdsBack: Bool
    private let exactBytes: Bool
    private let terminal = Terminal.output
    private var held: [[Cell]] = []
    private var layout: Layout?
    private var count = 0

    private enum Layout {
        /// The widths of the columns.
        case lines([Int])
        /// A property on each line; the width of the names.
        case blocks(Int)
    }

    private static let heldMaximum = 500
    /// A longer text is cut off.
    private static let widthMaximum = 60
    /// A column gets no narrower to make room for others, unless all of its texts are.
    private static let widthMinimum = 8
    private static let gap = "  "

    init(columns: [String], holdsBack: Bool, isVertical: Bool, exactBytes: Bool) {
        self.columns = columns
        self.holdsBack = holdsBack
        self.exactBytes = exactBytes
        if isVertical { layout = Self.vertical(columns) }
    }

    func write(_ record: [Cell]) {
        if layout == nil {
            held.append(record)
            if held.count >= Self.heldMaximum || !holdsBack { release() }
        } else {
            print(record)
        }
    }

    func finish() { release() }

    private func release() {
        guard layout == nil else { return }
        var widths = columns.map { DisplayWidth.of($0) }
        for record in held {
            for (index, cell) in record.enumerated() {
                let width = DisplayWidth.of(text(cell))
                widths[index] = max(widths[index], min(Self.widthMaximum, width))
            }
        }
        let layout = Self.fitted(widths, columns, terminal.columnCount)
        self.layout = layout
        if case .lines(let widths) = layout {
            let title = columns.indices.map { index in
                // Above numbers the name is at the right, too.
                let cells = held.lazy.map { $0[index] }
                let isNumeric = cells.contains(where: \.isNumeric) && cells.allSatisfy { $0.isNumeric || $0.isEmpty }
                return Self.padded(Cell.visible(columns[index]), widths[index], isNumeric: isNumeric)
            }
            terminal.write(terminal.bold(Self.trimmed(title.joined(separator: Self.gap))) + "\n")
        }
        for record in held { print(record) }
        held = []
    }

    /// Columns that are as narrow as it takes, the widest first.
    private static func fitted(_ widths: [Int], _ columns: [String], _ available: Int?) -> Layout {
        guard let available else { return .lines(widths) }
        var widths = widths
        var excess = widths.reduce(0, +) + (widths.count - 1) * gap.count - available
        while excess > 0 {
            guard let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > widthMinimum else {
                return vertical(columns)
            }
            widths[widest] -= 1
            excess -= 1
        }
        return .lines(widths)
    }

    private static func vertical(_ columns: [String]) -> Layout {
        .blocks(columns.map { DisplayWidth.of($0) }.max() ?? 0)
    }

    private func print(_ record: [Cell]) {
        switch layout {
        case .lines(var widths):
            let texts = record.map { text($0) }
            if terminal.columnCount == nil {
                // Later records may have longer texts than the first ones: their columns get wider from then on.
                for (index, text) in texts.enumerated() {
                    widths[index] = max(widths[index], min(Self.widthMaximum, DisplayWidth.of(text)))
                }
                layout = .lines(widths)
            }
            let cells = record.indices.map { index in
                let cell = record[index]
                guard cell.isEmpty else {
                    return Self.padded(texts[index], widths[index], isNumeric: cell.isNumeric)
                }
                let space = max(0, widths[index] - DisplayWidth.of(texts[index]))
                return terminal.faint(texts[index]) + String(repeating: " ", count: space)
            }
            terminal.write(Self.trimmed(cells.joined(separator: Self.gap)) + "\n")
        case .blocks(let width):
            if count > 0 { terminal.write("\n") }
            for (name, cell) in zip(columns, record) {
                let text = cell.isEmpty ? terminal.faint(text(cell)) : text(cell)
                let title = Self.padded(Cell.visible(name), width, isNumeric: false)
                terminal.write(Self.trimmed(terminal.bold(title) + Self.gap + text) + "\n")
            }
        case nil: break
        }
        count += 1
    }

    private func text(_ cell: Cell) -> String { cell.tableText(exactBytes: exactBytes) }

    private static func trimmed(_ text: String) -> String {
        var text = text
        while text.last == " " { text.removeLast() }
        return text
    }

    private static func padded(_ text: String, _ width: Int, isNumeric: Bool) -> String {
        let text = DisplayWidth.cut(text, to: width)
        let space = String(repeating: " ", count: max(0, width - DisplayWidth.of(text)))
        return isNumeric ? space + text : text + space
    }
}
