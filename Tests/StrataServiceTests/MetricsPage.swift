/// What a page of metrics has, as `StrataMetricsText` writes it.
struct MetricsPage: Sendable {
    /// The names of the metrics; a histogram's series have other names.
    var families: Set<String> = []
    /// By name, the labels of each series.
    var series: [String: [[String: String]]] = [:]

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#") {
                let words = line.split(separator: " ")
                if words.count == 4, words[1] == "TYPE" { families.insert(String(words[2])) }
            } else if let match = line.wholeMatch(of: #/(?<name>[^\s{]+)(?:\{(?<labels>.*)\})? \S+/#) {
                let labels = (match.output.labels ?? "").matches(of: #/(?<label>\w+)="(?<value>(?:[^"\\]|\\.)*)"/#)
                    .map { (String($0.output.label), String($0.output.value)) }
                series[String(match.output.name), default: []].append(Dictionary(labels) { first, _ in first })
            }
        }
    }
}
