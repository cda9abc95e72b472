import BenchSupport
import Foundation

/// What the children printed, as one line for each metric and contestant.
struct ScaleReport {
    let options: ScaleOptions
    private var values: [String: Double] = [:]
    private var metrics: [String] = []
    /// The digests that were read, by size and metric.
    private var checks: [String: Set<String>] = [:]
    /// Jobs that ended with an error.
    var failures: [String] = []

    init(options: ScaleOptions) {
        self.options = options
    }

    /// Takes in one line of five columns; others are ignored.
    mutating func add(_ line: Substring) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 5, let value = Double(fields[3]) else { return }
        if fields[2].hasPrefix("check_") {
            checks["\(fields[2]) of \(fields[1]) rows", default: []].insert(fields[3])
        } else {
            if !metrics.contains(fields[2]) { metrics.append(fields[2]) }
            values["\(fields[2]) \(fields[0]) \(fields[1])"] = value
        }
    }

    /// Whether every job ran and all read the same.
    var isSound: Bool { disagreements.isEmpty && failures.isEmpty }

    private var disagreements: [String] { checks.filter { $0.value.count > 1 }.keys.sorted() }

    var text: String {
        var lines = [(["metric", "contestant"] + options.sizes.map(String.init)).joined(separator: "\t")]
        for metric in metrics {
            for contestant in options.contestants {
                let row = options.sizes.map { values["\(metric) \(contestant.rawValue) \($0)"] }
                guard row.contains(where: { $0 != nil }) else { continue }
                let cells = row.map { $0.map { String(format: "%.4g", $0) } ?? "" }
                lines.append(([metric, contestant.rawValue] + cells).joined(separator: "\t"))
            }
        }
        lines += disagreements.map { "CHECK FAILED: the contestants read different data in \($0)" }
        lines += failures.map { "FAILED \($0)" }
        if isSound { lines.append("all checks agree") }
        return lines.joined(separator: "\n")
    }
}
