import Foundation

/// A few questions to a text in XML, read with no parser of the package: tags are balanced, and what names there are.
enum XMLReader {
    /// Whether all tags are closed in order, and no sign stands by itself that markup has another meaning for.
    static func isWellFormed(_ text: String) -> Bool {
        var open: [Substring] = []
        var rest = Substring(text)
        while let start = rest.firstIndex(where: { $0 == "<" || $0 == ">" || $0 == "&" }) {
            rest = rest[start...]
            if rest.first == "&" {
                guard rest.range(of: "^&(amp|lt|gt|quot|#[0-9]+);", options: .regularExpression) != nil else {
                    return false
                }
                rest = rest.dropFirst()
                continue
            }
            guard rest.first == "<", let end = rest.firstIndex(of: ">") else { return false }
            let tag = rest[rest.index(after: start)..<end]
            rest = rest[rest.index(after: end)...]
            if tag.hasPrefix("/") {
                guard open.popLast() == tag.dropFirst() else { return false }
            } else if !tag.hasSuffix("/") {
                open.append(tag.prefix { $0 != " " })
            }
        }
        return open.isEmpty
    }

    /// The names of the entities and attributes of a model's XML, with escapes resolved.
    static func names(_ text: String) throws -> (entities: [String], attributes: [String]) {
        func names(_ element: String) throws -> [String] {
            try text.matches(of: Regex("<\(element) name=\"([^\"]*)\"")).map { match in
                [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&#10;", "\n"), ("&#xA;", "\n"), ("&amp;", "&")]
                    .reduce(String(match.output[1].substring ?? "")) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
            }
        }
        return (try names("entity"), try names("attribute"))
    }
}
