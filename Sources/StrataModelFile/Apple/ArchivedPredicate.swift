import Foundation

/// Archived predicates as texts in the notation of predicate formats.
struct ArchivedPredicate {
    /// Deeper ones are refused: an archive may lead in a circle.
    static let maximumDepth = 100

    private static let operators: [Int: String] = [
        0: "<", 1: "<=", 2: ">", 3: ">=", 4: "==", 5: "!=", 6: "MATCHES", 7: "LIKE", 8: "BEGINSWITH", 9: "ENDSWITH",
        10: "IN", 99: "CONTAINS", 100: "BETWEEN",
    ]

    /// - Throws: ``ArchiveError`` when the predicate holds what has no text, such as a block.
    static func format(_ predicate: ArchivedObject, depth: Int = 0) throws -> String {
        guard depth < maximumDepth else { throw ArchiveError("a predicate is nested too deeply") }
        switch predicate.className {
        case "NSTruePredicate": return "TRUEPREDICATE"
        case "NSFalsePredicate": return "FALSEPREDICATE"
        case "NSCompoundPredicate": return try compound(predicate, depth)
        case "NSComparisonPredicate": return try comparison(predicate, depth)
        default: throw ArchiveError("a predicate of the class \(predicate.className) has no text")
        }
    }

    private static func compound(_ predicate: ArchivedObject, _ depth: Int) throws -> String {
        var parts: [String] = []
        for part in try predicate.objects("NSSubpredicates") {
            let text = try format(part, depth: depth + 1)
            parts.append(part.className == "NSCompoundPredicate" ? "(\(text))" : text)
        }
        switch try predicate.integer("NSCompoundPredicateType") {
        case 0?:
            guard let part = parts.first, parts.count == 1 else { throw ArchiveError("NOT has one operand") }
            return "NOT (\(part))"
        case 1?: return parts.isEmpty ? "TRUEPREDICATE" : parts.joined(separator: " AND ")
        case 2?: return parts.isEmpty ? "FALSEPREDICATE" : parts.joined(separator: " OR ")
        default: throw ArchiveError("a compound predicate has an unknown type")
        }
    }

    private static func comparison(_ predicate: ArchivedObject, _ depth: Int) throws -> String {
        guard let left = try predicate.object("NSLeftExpression"),
            let right = try predicate.object("NSRightExpression"),
            let comparison = try predicate.object("NSPredicateOperator"),
            let type = try comparison.integer("NSOperatorType"), let symbol = operators[type]
        else { throw ArchiveError("a comparison is not complete, or calls a method") }
        let modifier: String
        switch try comparison.integer("NSModifier") ?? 0 {
        case 0: modifier = ""
        case 1: modifier = "ALL "
        case 2: modifier = "ANY "
        default: throw ArchiveError("a comparison has an unknown modifier")
        }
        let options = try comparison.integer("NSFlags") ?? comparison.integer("NSOptions") ?? 0
        let letters = [(1, "c"), (2, "d"), (4, "n"), (8, "l")].filter { options & $0.0 != 0 }.map(\.1).joined()
        let suffix = letters.isEmpty ? "" : "[\(letters)]"
        let leftText = try ArchivedExpression.format(left, depth: depth + 1)
        let rightText = try ArchivedExpression.format(right, depth: depth + 1)
        return "\(modifier)\(leftText) \(symbol)\(suffix) \(rightText)"
    }
}
