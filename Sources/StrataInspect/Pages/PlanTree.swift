import Foundation
import Strata
import StrataModelFile

/// How a request found its results: the steps, each above what it takes its rows from.
struct PlanTree {
    private struct Step {
        var name: String
        /// That come out of it.
        var rows: Int?
        var detail: String
    }

    private let steps: [Step]
    private let duration: Duration

    init(_ explanation: FetchExplanation) {
        duration = explanation.duration
        var steps = [
            Step(
                name: "Results", rows: explanation.results,
                detail: "plan \(explanation.reusesPlan ? "reused" : "made"), \(explanation.parameterCount) parameters")
        ]
        if explanation.groupsColumns {
            steps.append(Step(name: "Group and aggregate", rows: explanation.results, detail: "over columns"))
        }
        if explanation.sortsColumns {
            steps.append(Step(name: "Sort", rows: explanation.rowsMatched, detail: "columns of numbers and bytes"))
        }
        if explanation.rowsInterpreted > 0 {
            steps.append(
                Step(
                    name: "Interpret the predicate", rows: explanation.rowsMatched,
                    detail: "\(explanation.rowsInterpreted) rows, one by one"))
        }
        if explanation.rowsTested > 0 {
            steps.append(
                Step(
                    name: "Test the compiled predicate",
                    rows: explanation.rowsInterpreted > 0 ? explanation.rowsInterpreted : explanation.rowsMatched,
                    detail: "\(explanation.rowsTested) rows"))
        }
        for join in explanation.semiJoins { steps.append(Step(name: "Semi-join", rows: nil, detail: join)) }
        var detail = explanation.isDirect ? "direct" : ""
        if let index = explanation.index {
            detail += "\(detail.isEmpty ? "" : ", ")\(index), \(explanation.rowsEstimated) rows expected"
        }
        if explanation.blocks > 0 {
            detail += """
                \(detail.isEmpty ? "" : ", ")\(explanation.blocks) blocks: \(explanation.blocksPruned) ruled out, \
                \(explanation.blocksDecoded) read, \(explanation.blocksCached) of them cached
                """
        }
        let path = explanation.path.rawValue
        steps.append(
            Step(
                name: path.prefix(1).uppercased() + path.dropFirst(),
                rows: explanation.rowsTested > 0 ? explanation.rowsTested : nil, detail: detail))
        self.steps = steps
    }

    private var milliseconds: String { String(format: "%.3f", duration / .milliseconds(1)) }

    var markup: Markup {
        let largest = Double(max(1, steps.compactMap(\.rows).max() ?? 1))
        var result = Markup()
        for (index, step) in steps.enumerated() {
            let width = step.rows.map { Double($0) / largest * 120 } ?? 0
            let rows: Markup =
                step.rows.map { rows in
                    """
                    <svg class="bar" width="120" height="10" aria-hidden="true"><rect width="\(width)" height="10"/></svg>
                    <span>\(rows) rows</span>
                    """
                } ?? ""
            let time: Markup = index == 0 ? " <span>\(milliseconds) ms</span>" : ""
            result += """
                <ul class="plan"><li><b>\(step.name)</b> \(rows)\(time) <span class="note">\(step.detail)</span>

                """
        }
        for _ in steps { result += "</li></ul>" }
        return result
    }

    var json: String {
        let parts = steps.map { step in
            "{\"step\":\(QuotedText.of(step.name)),\"rows\":\(step.rows.map { "\($0)" } ?? "null"),\"detail\":\(QuotedText.of(step.detail))}"
        }
        return "{\"milliseconds\":\(milliseconds),\"steps\":[\(parts.joined(separator: ","))]}"
    }
}
