/// What a query in Prometheus' language names.
struct MonitoringQuery {
    /// A metric, and what its labels are to be.
    struct Selector {
        var metric: String
        var matchers: [(label: String, operation: String, value: String)] = []
    }

    /// What is neither a metric nor a label.
    private static let language: Set<String> = [
        "sum", "rate", "increase", "min_over_time", "histogram_quantile", "and", "unless", "offset", "group_left",
    ]
    /// Prometheus itself adds these to each series.
    private static let added: Set<String> = ["job", "instance"]

    private(set) var selectors: [Selector] = []
    /// The labels that a sum keeps.
    private var kept: Set<String> = []
    /// The labels by which series are matched, or not.
    private var matched: Set<String> = []
    private let isAggregated: Bool

    init(_ text: String) {
        let selector = #/(?<metric>[a-zA-Z_]\w*)\{(?<matchers>[^}]*)\}/#
        for match in text.matches(of: selector) {
            let matchers = match.output.matchers
                .matches(of: #/(?<label>\w+)\s*(?<operation>=~|!~|!=|=)\s*"(?<value>[^"]*)"/#)
            selectors.append(
                Selector(
                    metric: String(match.output.metric),
                    matchers: matchers.map {
                        (String($0.output.label), String($0.output.operation), String($0.output.value))
                    }))
        }
        var rest = text.replacing(selector, with: " ")
        let list = #/\b(?<word>by|on|ignoring)\s*\((?<labels>[^)]*)\)/#
        for match in rest.matches(of: list) {
            let labels = match.output.labels.split { $0 == "," || $0 == " " }.map(String.init)
            if match.output.word == "by" { kept.formUnion(labels) } else { matched.formUnion(labels) }
        }
        // Lists of labels, and ranges of time.
        rest = rest.replacing(list, with: " ").replacing(#/\[[^\]]*\]/#, with: " ")
        let words = rest.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
            .filter { $0.first?.isNumber == false }
        isAggregated = words.contains("sum")
        selectors += words.filter { !Self.language.contains($0) }.map { Selector(metric: $0) }
    }

    /// - Parameter texts: what is shown with a result, which may name its labels in `{{ }}`.
    /// - Returns: what the query or the texts name and the page does not have.
    func problems(on page: MetricsPage, showing texts: [String]) throws -> [String] {
        var problems: [String] = []
        var labels = Self.added
        for selector in selectors {
            guard let series = page.series[selector.metric] else {
                problems.append("there is no metric \(selector.metric)")
                continue
            }
            for labelled in series { labels.formUnion(labelled.keys) }
            problems += try selector.problems(among: series)
        }
        problems += kept.union(matched).subtracting(labels).sorted().map { "no metric has the label \($0)" }
        let shown = isAggregated ? kept : labels
        for text in texts {
            for match in text.matches(of: #/\{\{\s*(?:\$labels\.)?(?<label>[a-z]\w*)[^}]*\}\}/#) {
                let label = String(match.output.label)
                if !shown.contains(label) { problems.append("a result has no label \(label)") }
            }
        }
        return problems
    }
}

extension MonitoringQuery.Selector {
    fileprivate func problems(among series: [[String: String]]) throws -> [String] {
        // What the dashboard's variables say is not known here.
        let own = matchers.filter { !$0.value.hasPrefix("$") }
        let equal = own.filter { $0.operation == "=" }
        let chosen = series.filter { labels in equal.allSatisfy { labels[$0.label] == $0.value } }
        var problems: [String] = []
        if chosen.isEmpty {
            let text = equal.map { "\($0.label)=\"\($0.value)\"" }.joined(separator: ", ")
            problems.append("\(metric) has no series {\(text)}")
        }
        for matcher in own where matcher.operation != "=" {
            let values = Set(chosen.compactMap { $0[matcher.label] })
            if values.isEmpty { problems.append("\(metric) has no label \(matcher.label)") }
            guard matcher.operation == "=~" else { continue }
            for part in matcher.value.split(separator: "|") {
                let pattern = try Regex(String(part))
                if !values.contains(where: { $0.wholeMatch(of: pattern) != nil }) {
                    problems.append("\(metric) has no series {\(matcher.label)=~\"\(part)\"}")
                }
            }
        }
        return problems
    }
}
