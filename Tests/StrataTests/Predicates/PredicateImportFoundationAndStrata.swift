import Foundation
import Strata

/// Compiles predicate code in a file that imports Foundation and Strata side by side.
enum PredicateImportFoundationAndStrata {
    static func make() -> [NSPredicate] {
        let left = NSExpression(forKeyPath: "age")
        let comparison = NSComparisonPredicate(
            leftExpression: left, rightExpression: NSExpression(forConstantValue: 3), modifier: .direct, type: .equalTo,
            options: [])
        let typed: Strata.NSExpression = NSExpression(format: "age + %d", 1)
        _ = typed.expressionType == .function
        _ = NSSortDescriptor(key: "age", ascending: true).key
        let predicates = [NSPredicate(format: "age == %d", 3), comparison]
        return predicates + [NSCompoundPredicate(andPredicateWithSubpredicates: predicates)]
    }
}
