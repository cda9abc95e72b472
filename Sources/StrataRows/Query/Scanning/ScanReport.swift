import StrataSupport
import Synchronization

/// How the rows of a fetch were found: filled in by the searches of one fetch, on one thread at a time.
package final class ScanReport {
    @exclusivity(unchecked) package private(set) var path: FetchExplanation.Path?
    @exclusivity(unchecked) package var statistics = ScanStatistics()
    /// Whether sorting or grouping worked on columns.
    @exclusivity(unchecked) package var sortsColumns = false
    @exclusivity(unchecked) package var groupsColumns = false
    /// The index that was used, and how many rows were expected in its ranges.
    @exclusivity(unchecked) package private(set) var index: String?
    /// Whether the plan itself said which one.
    @exclusivity(unchecked) package var isDirect = false
    @exclusivity(unchecked) package private(set) var rowsEstimated = 0
    /// Whether that is to be counted where the search itself does not need it.
    @exclusivity(unchecked) package var isEstimating: Bool

    /// The relationships whose members were asked, and from which end.
    @exclusivity(unchecked) package private(set) var semiJoins: [String] = []

    package init(isEstimating: Bool = true) { self.isEstimating = isEstimating }

    /// - Parameter fromOwners: whether the members of some owners were asked, not the owners of some members.
    package func record(join name: String, fromOwners: Bool) {
        let text = "\(name) from \(fromOwners ? "owners" : "members")"
        if !semiJoins.contains(text) { semiJoins.append(text) }
    }

    package func record(_ choice: IndexChoice) { record(index: choice.name, estimated: choice.estimated) }

    package func record(index name: String, estimated: Int) {
        record(.orderedIndex)
        index = name
        rowsEstimated += estimated
    }

    /// Begins anew: what has been tried led to nothing.
    package func forget() {
        (path, index, rowsEstimated, statistics, isDirect) = (nil, nil, 0, ScanStatistics(), false)
        (sortsColumns, groupsColumns, semiJoins) = (false, false, [])
    }

    /// With several stores the costliest counts.
    package func record(_ path: FetchExplanation.Path) {
        self.path = max(self.path ?? path, path)
    }
}

/// Whether fetches may use compiled predicates, typed sorting and grouping over columns. Only tests turn it off, to
/// compare the results with the interpreter's.
package enum CompiledExecution {
    package static let setting = ScopedSetting(true)

    package static var isEnabled: Bool { setting.value }
}
