import BenchSupport
import Foundation
import ServiceLoad

/// The tables of medians and the promised figures beside them.
struct Report {
    let results: Results
    let options: Options

    var text: String {
        var lines = [
            "# \(Shop.orderCount) orders, \(options.seconds.short) s a line, \(options.runs) runs (medians), "
                + "\(ProcessInfo.processInfo.activeProcessorCount) cores"
        ]
        for shape in options.shapes {
            lines += ["", "## service, orders written \(shape == .single ? "one by one" : "in bulk")"]
            lines += table(of: shape) + kinds(of: shape) + floors(of: shape)
            lines += Targets(results: results, options: options).lines(for: shape)
        }
        lines += results.disagreements.map { "CHECK FAILED \($0)" }
        lines += results.failures.map { "FAILED \($0)" }
        if results.disagreements.isEmpty { lines.append("all checks agree") }
        return lines.joined(separator: "\n")
    }

    private func table(of shape: Shape) -> [String] {
        let metrics: [Metric] = [.rate, .p50, .p99, .p999, .longest, .resident, .peak, .threads, .besideRate]
        let header = ["line", "contestant"] + metrics.map(\.rawValue)
        let rows = options.lines.flatMap { line in
            options.contestants.compactMap { contestant -> [String]? in
                guard results.value(shape, line.name, contestant, .rate) != nil else { return nil }
                return [line.name, contestant.rawValue]
                    + metrics.map { results.value(shape, line.name, contestant, $0)?.short ?? "" }
            }
        }
        return columns([header] + rows)
    }

    /// Of lines with several kinds: the times of each.
    private func kinds(of shape: Shape) -> [String] {
        let shares = Mix.mixed.shares.map(\.kind.rawValue)
        let metrics = shares.flatMap { ["\($0)_p50", "\($0)_p99"] }
        let rows = options.lines.filter { $0.mix.shares.count > 1 }.flatMap { line in
            options.contestants.compactMap { contestant -> [String]? in
                guard results.value(shape, line.name, contestant, .rate) != nil else { return nil }
                return [line.name, contestant.rawValue]
                    + metrics.map { results.value(shape, line.name, contestant, named: $0)?.short ?? "" }
            }
        }
        guard !rows.isEmpty else { return [] }
        return ["", "By kind of request, in ms:"] + columns([["line", "contestant"] + metrics] + rows)
    }

    private func floors(of shape: Shape) -> [String] {
        options.lines.compactMap { line in
            guard let median = results.value(shape, line.name, .strata, .floor50),
                let high = results.value(shape, line.name, .strata, .floor99)
            else { return nil }
            return "  the disk alone beside \(line.name), a write and fdatasync: "
                + "p50 \(median.short) ms, p99 \(high.short) ms"
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
