import Synchronization

/// How the rows of a fetch were found: filled in by the searches of one fetch, on one thread at a time.
final class ScanReport {
    private(set) var path: FetchExplanation.Path?
    var statistics = ScanStatistics()
    /// Whether sorting or grouping worked on columns.
    var sortsColumns = false
    var groupsColumns = false
    /// The index that was used, and how many rows were expected in its ranges.
    private(set) var index: String?
    /// Whether the plan itself said which one.
    var isDirect = false
    private(set) var rowsEstimated = 0
    /// Whether that is to be counted where the search itself does not need it.
    var isEstimating: Bool

    init(isEstimating: Bool = true) { self.isEstimating = isEstimating }

    /// The relationships whose members were asked, and from which end.
    private(set) var semiJoins: [String] = []

    /// - Parameter fromOwners: whether the members of some owners were asked, not the owners of some members.
    func record(join name: String, fromOwners: Bool) {
        let text = "\(name) from \(fromOwners ? "owners" : "members")"
        if !semiJoins.contains(text) { semiJoins.append(text) }
    }

    func record(_ choice: IndexChoice) { record(index: choice.name, estimated: choice.estimated) }

    func record(index name: String, estimated: Int) {
        record(.orderedIndex)
        index = name
        rowsEstimated += estimated
    }

    /// Begins anew: what has been tried led to nothing.
    func forget() {
        (path, index, rowsEstimated, statistics, isDirect) = (nil, nil, 0, ScanStatistics(), false)
        (sortsColumns, groupsColumns, semiJoins) = (false, false, [])
    }

    /// With several stores the costliest counts.
    func record(_ path: FetchExplanation.Path) {
        self.path = max(self.path ?? path, path)
    }
}

/// Whether fetches may use compiled predicates, typed sorting and grouping over columns. Only tests turn it off, to
/// compare the results with the interpreter's.
package enum CompiledExecution {
    @TaskLocal package static var isEnabled = true
}
