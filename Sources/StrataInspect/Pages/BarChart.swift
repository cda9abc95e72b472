import Foundation
import StrataBrowsing

/// A bar for each record, as long as its value in one column.
struct BarChart {
    private static let maximum = 60
    private static let rowHeight = 22.0
    private static let width = 640.0
    private static let labelWidth = 200.0

    private let title: String
    private let bars: [(label: String, value: Double, text: String)]
    private let leftOut: Int

    init(_ columns: [String], _ records: [[Cell]], of column: Int) {
        title = columns[column]
        let label = records.first.map { record in
            record.indices.first { $0 != column && !record[$0].isNumeric } ?? record.indices.first { $0 != column } ?? 0
        }
        let numbers = records.compactMap { record -> (label: String, value: Double, text: String)? in
            let text = record[column].plainText
            guard record[column].isNumeric, let value = Double(text), value.isFinite, abs(value) < 1e300 else {
                return nil
            }
            let name = label.map { record[$0].tableText(exactBytes: true) } ?? ""
            return (CellMarkup.cut(name, 28), value, text)
        }
        bars = Array(numbers.prefix(Self.maximum))
        leftOut = records.count - bars.count
    }

    var markup: Markup {
        guard !bars.isEmpty else {
            return "<p class=\"note\" role=\"status\">The column \(title) has no numbers to draw.</p>"
        }
        let low = min(0, bars.map(\.value).min() ?? 0)
        let high = max(0, bars.map(\.value).max() ?? 0)
        let space = Self.width - Self.labelWidth - 90
        // Halves, so that the difference of the largest numbers is one.
        let scale = high / 2 - low / 2 > 0 ? space / 2 / (high / 2 - low / 2) : 0
        let zero = Self.labelWidth - low * scale
        let height = Double(bars.count) * Self.rowHeight + 6
        let rows = bars.enumerated().map { index, bar -> Markup in
            let top = Double(index) * Self.rowHeight + 4
            let length = abs(bar.value) * scale
            let start = bar.value < 0 ? zero - length : zero
            return """
                <g><title>\(bar.label): \(bar.text)</title>
                <text x="\(Self.labelWidth - 6)" y="\(top + 12)" text-anchor="end">\(Cell.visible(bar.label))</text>
                <rect x="\(start)" y="\(top)" width="\(max(length, 1))" height="16"/>
                <text x="\(max(start + length, zero) + 5)" y="\(top + 12)">\(bar.text)</text></g>

                """
        }
        let rest: Markup = leftOut > 0 ? "<p class=\"note\">\(leftOut) rows are not drawn.</p>" : ""
        return """
            <section aria-labelledby="chart"><h2 id="chart">\(title)</h2><div class="scroll">
            <svg class="chart" width="\(Self.width)" height="\(height)" role="img" aria-labelledby="chart">
            \(rows)</svg></div>\(rest)</section>
            """
    }
}
