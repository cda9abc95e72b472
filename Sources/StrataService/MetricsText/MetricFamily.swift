/// All series of one name.
struct MetricFamily: Sendable {
    enum Kind: String {
        case counter, gauge, histogram, timer

        var isHistogram: Bool { self == .histogram || self == .timer }
        /// The type in the text.
        var type: String { isHistogram ? "histogram" : rawValue }
    }

    let kind: Kind
    /// The name that the program gives it.
    let label: String
    var series: [MetricLabels: any TextMetric] = [:]

    init(_ kind: Kind, _ label: String) {
        self.kind = kind
        self.label = label
    }

    func write(as name: String, to text: inout String) {
        text += "# HELP \(name) \(MetricName.escapedHelp(label))\n# TYPE \(name) \(kind.type)\n"
        for (labels, metric) in series.sorted(by: { $0.key.text < $1.key.text }) {
            metric.write(as: name, labels, to: &text)
        }
    }
}

/// Labels, escaped and in order.
struct MetricLabels: Hashable, Sendable {
    /// Such as `a="1",b="2"`.
    let text: String

    init(_ dimensions: [(String, String)], isHistogram: Bool) {
        var names: Set<String> = isHistogram ? ["le"] : []
        text = dimensions.sorted { $0.0 < $1.0 }.map { name, value in
            var name = MetricName.label(name)
            // What differs in such characters only would be the same label twice.
            while !names.insert(name).inserted { name += "_" }
            return "\(name)=\"\(MetricName.escaped(value))\""
        }.joined(separator: ",")
    }

    /// In braces, with one more.
    func braced(adding more: String? = nil) -> String {
        let all = [text, more ?? ""].filter { !$0.isEmpty }.joined(separator: ",")
        return all.isEmpty ? "" : "{\(all)}"
    }
}

/// Names and texts as the format wants them.
enum MetricName {
    static func of(_ label: String, _ kind: MetricFamily.Kind) -> String {
        let name = sanitized(label, allowsColon: true)
        switch kind {
        case .counter: return name.hasSuffix("_total") ? name : name + "_total"
        case .timer: return name.hasSuffix("_seconds") ? name : name + "_seconds"
        case .gauge, .histogram: return name
        }
    }

    /// Names with two underscores in front are the server's own.
    static func label(_ name: String) -> String {
        let name = sanitized(name, allowsColon: false)
        return name.hasPrefix("__") ? "label" + name : name
    }

    private static func sanitized(_ name: String, allowsColon: Bool) -> String {
        var result = ""
        for scalar in name.unicodeScalars {
            let isDigit = ("0"..."9").contains(scalar)
            let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_"
            if result.isEmpty, isDigit { result = "_" }
            result.unicodeScalars.append(isDigit || isLetter || (allowsColon && scalar == ":") ? scalar : "_")
        }
        return result.isEmpty ? "_" : result
    }

    static func escaped(_ value: String) -> String {
        escapedHelp(value).replacing("\"", with: "\\\"")
    }

    static func escapedHelp(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return String(value)
    }
}
