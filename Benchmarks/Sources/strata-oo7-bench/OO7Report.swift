import BenchSupport
import Foundation
import OO7Load

/// What the children printed, over all runs, and the table of medians.
struct OO7Report {
    private static let metrics = ["cold_ms", "hot_ms"]

    let options: Options
    private var samples: [String: [Double]] = [:]
    /// The digests that were read, by line.
    private var checks: [String: Set<String>] = [:]
    /// Jobs that ended with an error.
    var failures: [String] = []

    init(options: Options) {
        self.options = options
    }

    /// Takes in one line of five columns; others are ignored.
    mutating func add(_ line: Substring) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 5, let value = Double(fields[3]) else { return }
        if fields[2] == "check" {
            checks[fields[1], default: []].insert(fields[3])
        } else {
            samples["\(fields[1]) \(fields[0]) \(fields[2])", default: []].append(value)
        }
    }

    /// Whether every job ran and all read the same.
    var isSound: Bool { disagreements.isEmpty && failures.isEmpty }

    private var disagreements: [String] { checks.filter { $0.value.count > 1 }.keys.sorted() }

    private func value(_ line: String, _ contestant: Contestant, _ metric: String) -> Double? {
        samples["\(line) \(contestant.rawValue) \(metric)"].map(median)
    }

    var text: String {
        var lines = [
            "# OO7, \(options.sizes.map(\.rawValue).joined(separator: " and ")), \(OO7.connectionsPerPart) connections "
                + "a part, \(options.runs) runs (medians), \(ProcessInfo.processInfo.activeProcessorCount) cores; ms",
            (["line", "contestant"] + Self.metrics + ["cold_of_sqlite", "hot_of_sqlite"]).joined(separator: "\t"),
        ]
        for size in options.sizes {
            for operation in options.operations {
                let line = "\(size.rawValue)-\(operation.rawValue)"
                for contestant in options.contestants {
                    let own = Self.metrics.map { value(line, contestant, $0) }
                    guard own.contains(where: { $0 != nil }) else { continue }
                    let peer = Self.metrics.map { value(line, .sqlite, $0) }
                    let ratios = zip(own, peer).map { own, peer in
                        own.flatMap { own in peer.map { String(format: "%.2f", $0 / own) } } ?? ""
                    }
                    let values = own.map { $0.map { String(format: "%.4g", $0) } ?? "" }
                    lines.append(([line, contestant.rawValue] + values + ratios).joined(separator: "\t"))
                }
            }
        }
        lines += disagreements.map { "CHECK FAILED: the contestants read different data in \($0)" }
        lines += failures.map { "FAILED \($0)" }
        if isSound { lines.append("all checks agree") }
        return lines.joined(separator: "\n")
    }
}
