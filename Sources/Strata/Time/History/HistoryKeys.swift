import Foundation

/// Finds out whether the key paths of a history request lead anywhere before the history is read.
struct HistoryKeys {
    private let entity: NSEntityDescription

    init(_ entity: NSEntityDescription) {
        self.entity = entity
    }

    /// - Throws: `CocoaError` 134070 for a key that the entity does not have, and a pattern or operand that no operator
    ///   takes.
    func check(_ predicate: NSPredicate) throws {
        switch predicate {
        case let comparison as NSComparisonPredicate:
            try check(comparison.leftExpression)
            try check(comparison.rightExpression)
            try ComparisonTypes(comparison.predicateOperatorType, comparison.options)
                .checkOperands(comparison.rightExpression)
        case let compound as NSCompoundPredicate:
            for part in compound.subpredicates { try check(part) }
        default: return
        }
    }

    private func check(_ expression: NSExpression) throws {
        switch expression.form {
        case .keyPath(nil, let path): try check(path)
        case .keyPath(let operand?, _): try check(operand)
        case .function(_, _, let arguments): for argument in arguments { try check(argument) }
        case .aggregate(let elements): for element in elements { try check(element) }
        case .subquery(let collection, _, _): try check(collection)
        default: return
        }
    }

    func check(_ path: KeyPathComponents) throws {
        var current = entity
        for name in path.names where name.utf8.first != UInt8(ascii: "@") && name != "self" && name != "SELF" {
            guard let property = current.propertiesByName[name] else {
                throw FetchProblem.error(
                    "keypath \(path.text) not found in entity \(current.name ?? "")"
                        + Suggestion.text(for: name, among: current.propertiesByName.keys))
            }
            // What lies behind an attribute is its value's business.
            guard let next = (property as? NSRelationshipDescription)?.destinationEntity else { return }
            current = next
        }
    }
}
