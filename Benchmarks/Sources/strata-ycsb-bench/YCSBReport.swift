import BenchSupport
import Foundation
import YCSBLoad

/// What the children printed, over all runs, and the table of medians.
struct YCSBReport {
    private static let metrics = ["operations_per_s", "read_p50", "read_p99", "write_p50", "write_p99"]

    let options: Options
    private var samples: [String: [Double]] = [:]
    private var checks: Set<String> = []
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
            checks.insert(fields[3])
        } else {
            samples["\(fields[1]) \(fields[0]) \(fields[2])", default: []].append(value)
        }
    }

    /// Whether every job ran and all read the same.
    var isSound: Bool { checks.count <= 1 && failures.isEmpty }

    private func value(_ line: String, _ contestant: Contestant, _ metric: String) -> Double? {
        samples["\(line) \(contestant.rawValue) \(metric)"].map(median)
    }

    var text: String {
        var lines = [
            "# YCSB, \(options.recordCount) records of 1,000 bytes, \(options.seconds) s a line, \(options.runs) runs "
                + "(medians), \(ProcessInfo.processInfo.activeProcessorCount) cores; times in us",
            (["line", "contestant"] + Self.metrics + ["of_sqlite"]).joined(separator: "\t"),
        ]
        for workload in options.workloads {
            for threads in options.threads {
                let line = "\(workload.rawValue)-\(threads)"
                let peer = value(line, .sqlite, "operations_per_s")
                for contestant in options.contestants {
                    guard let rate = value(line, contestant, "operations_per_s") else { continue }
                    let values = Self.metrics.map {
                        value(line, contestant, $0).map { String(format: "%.4g", $0) } ?? ""
                    }
                    let ratio = peer.map { String(format: "%.2f", rate / $0) } ?? ""
                    lines.append(([line, contestant.rawValue] + values + [ratio]).joined(separator: "\t"))
                }
            }
        }
        if checks.count > 1 { lines.append("CHECK FAILED: the contestants read different records") }
        lines += failures.map { "FAILED \($0)" }
        if isSound { lines.append("all checks agree") }
        return lines.joined(separator: "\n")
    }
}
