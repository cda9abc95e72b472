import BenchSupport
import Foundation

/// The table of medians and the promised figures beside it.
struct Report {
    let results: Results
    let options: Options

    var text: String {
        var lines = ["# \(options.rowCount) rows, \(options.runs) runs (medians; GRDB: \(options.grdbRowCount) rows)"]
        for group in options.groups { lines += table(of: group) + targets(of: group) }
        lines += results.disagreements.map { "CHECK FAILED \($0)" }
        lines += results.failures.map { "FAILED \($0)" }
        if results.disagreements.isEmpty { lines.append("all checks agree") }
        return lines.joined(separator: "\n")
    }

    private func table(of group: Group) -> [String] {
        let keys = results.order.filter { $0.group == group.rawValue }
        guard !keys.isEmpty else { return [] }
        let rows = keys.map { key in
            let sample = results.samples[key] ?? []
            return [
                key.contestant, key.metric, median(sample).short, results.units[key] ?? "",
                "\((sample.min() ?? 0).short) .. \((sample.max() ?? 0).short)",
            ]
        }
        let header = ["contestant", "metric", "median", "unit", "min .. max"]
        return ["", "## \(group.rawValue)"] + columns([header] + rows)
    }

    private func targets(of group: Group) -> [String] {
        Targets.all.filter { $0.group == group }.map { target in
            guard let value = target.value(results) else { return "  target: \(target.text): not measured" }
            let verdict = target.isMet(value) ? "met" : "NOT MET"
            return "  target: \(target.text): \(value.short) (\(target.limitText)): \(verdict)"
        }
    }

    private func columns(_ rows: [[String]]) -> [String] {
        let widths = (0..<rows[0].count).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: "  ")
        }
    }
}

extension Double {
    /// Four significant digits, or a whole number from 1,000 on.
    var short: String {
        abs(self) >= 1_000 ? String(format: "%.0f", self) : String(format: "%.4g", self)
    }
}
