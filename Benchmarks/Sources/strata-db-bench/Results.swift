import BenchSupport

/// What the children printed, over all runs.
struct Results {
    struct Key: Hashable {
        var group: String
        var contestant: String
        var metric: String
    }

    private(set) var order: [Key] = []
    private(set) var samples: [Key: [Double]] = [:]
    private(set) var units: [Key: String] = [:]
    /// Jobs that ended with an error.
    var failures: [String] = []
    /// By group and metric: which contestants found which value.
    private var checks: [[String]: [String: Set<String>]] = [:]

    /// Takes in one line of five columns; others are ignored.
    mutating func add(line: Substring) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 5, let value = Double(fields[3]) else { return }
        if fields[2].hasPrefix("check") {
            checks[[fields[1], fields[2]], default: [:]][fields[3], default: []].insert(fields[0])
            return
        }
        let key = Key(group: fields[1], contestant: fields[0], metric: fields[2])
        if samples[key] == nil { order.append(key) }
        samples[key, default: []].append(value)
        units[key] = fields[4]
    }

    /// The median of a metric over the runs, or nil when nobody measured it.
    func value(_ group: Group, _ contestant: ContestantName, _ metric: String) -> Double? {
        samples[Key(group: group.rawValue, contestant: contestant.rawValue, metric: metric)].map(median)
    }

    /// Checks on which contestants found different values: they did not do the same work.
    var disagreements: [String] {
        checks.filter { $0.value.count > 1 }.map { "\($0.key.joined(separator: " ")): \($0.value)" }.sorted()
    }
}
