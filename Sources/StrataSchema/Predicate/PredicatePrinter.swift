import Foundation

/// Writes predicates in the notation that the parser reads.
package enum PredicatePrinter {
    package static func text(_ predicate: NSPredicate) -> String {
        switch predicate {
        case let comparison as NSComparisonPredicate: text(comparison)
        case let compound as NSCompoundPredicate: text(compound)
        default: literal(predicate)
        }
    }

    // Foundation tells constant and block predicates apart only by what they print.
    private static func literal(_ predicate: NSPredicate) -> String {
        (predicate as any FoundationPredicateText).foundationText
    }

    private static func text(_ compound: NSCompoundPredicate) -> String {
        let children = (CompoundPredicate.canonical(compound) as? CompoundPredicate)?.children ?? []
        switch compound.compoundPredicateType {
        case .not:
            guard let child = children.first else { return "TRUEPREDICATE" }
            // A negation under a negation needs no parentheses, and would nest deeper than it was read with them.
            let isNegation = (child as? NSCompoundPredicate)?.compoundPredicateType == .not
            return "NOT " + (isNegation ? text(child) : grouped(child))
        case .and: return joined(children, by: " AND ", empty: "TRUEPREDICATE")
        case .or: return joined(children, by: " OR ", empty: "FALSEPREDICATE")
        }
    }

    private static func joined(_ children: [NSPredicate], by separator: String, empty: String) -> String {
        if children.isEmpty { return empty }
        return children.map(grouped).joined(separator: separator)
    }

    private static func grouped(_ predicate: NSPredicate) -> String {
        predicate is NSCompoundPredicate ? "(" + text(predicate) + ")" : text(predicate)
    }

    private static func text(_ comparison: NSComparisonPredicate) -> String {
        let left = ExpressionPrinter.operand(comparison.leftExpression)
        let right = ExpressionPrinter.operand(comparison.rightExpression)
        if let selector = comparison.customSelector {
            return "FUNCTION(\(left), \"\(selector)\", \(right)) == 1"
        }
        let modifier =
            switch comparison.comparisonPredicateModifier {
            case .direct: ""
            case .any: "ANY "
            case .all: "ALL "
            }
        let name = name(comparison.predicateOperatorType) + suffix(comparison.options)
        return modifier + left + " " + name + " " + right
    }

    private static func name(_ type: NSComparisonPredicate.Operator) -> String {
        switch type {
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .equalTo, .customSelector: "=="
        case .notEqualTo: "!="
        case .matches: "MATCHES"
        case .like: "LIKE"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .in: "IN"
        case .contains: "CONTAINS"
        case .between: "BETWEEN"
        }
    }

    private static func suffix(_ options: NSComparisonPredicate.Options) -> String {
        var letters = ""
        if options.contains(.caseInsensitive) { letters += "c" }
        if options.contains(.diacriticInsensitive) { letters += "d" }
        if options.contains(.normalized) { letters += "n" }
        if options.contains(.localeSensitive) { letters += "l" }
        return letters.isEmpty ? "" : "[" + letters + "]"
    }
}

/// A way to the text of Foundation's own predicates without a deprecation warning.
private protocol FoundationPredicateText {
    var foundationText: String { get }
}

extension NSPredicate: FoundationPredicateText {
    @available(*, deprecated, message: "Calls a deprecated property on purpose")
    fileprivate var foundationText: String { predicateFormat }
}
