import BenchSupport

/// What the children printed, over all runs.
struct Results {
    private struct Key: Hashable {
        var workload: String
        var contestant: String
        var metric: String
    }

    private var samples: [Key: [Double]] = [:]
    /// By store and check: which contestants found which value.
    private var checks: [[String]: [String: Set<String>]] = [:]
    /// Jobs that ended with an error.
    var failures: [String] = []

    /// Takes in one line of five columns; others are ignored.
    mutating func add(line: Substring) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 5, let value = Double(fields[3]) else { return }
        if fields[2].hasPrefix("check") {
            // How the orders came into a store must make no difference either.
            checks[[fields[2]], default: [:]][fields[3], default: []].insert("\(fields[0]) \(fields[1])")
            return
        }
        samples[Key(workload: fields[1], contestant: fields[0], metric: fields[2]), default: []].append(value)
    }

    /// The median over the runs, or nil when nobody measured it.
    func value(_ shape: Shape, _ line: String, _ contestant: Contestant, _ metric: Metric) -> Double? {
        value(shape, line, contestant, named: metric.rawValue)
    }

    func value(_ shape: Shape, _ line: String, _ contestant: Contestant, named metric: String) -> Double? {
        let key = Key(workload: "\(shape.rawValue) \(line)", contestant: contestant.rawValue, metric: metric)
        return samples[key].map(median)
    }

    /// Checks on which contestants found different values: they did not do the same work.
    var disagreements: [String] {
        checks.filter { $0.value.count > 1 }.map { "\($0.key.joined(separator: " ")): \($0.value)" }.sorted()
    }
}
