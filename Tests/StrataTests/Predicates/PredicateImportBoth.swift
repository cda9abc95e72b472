import CoreData
import Foundation

/// Compiles predicate code in a file that imports CoreData and Foundation.
enum PredicateImportBoth {
    static func make() -> [NSPredicate] {
        let comparison = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "age"), rightExpression: NSExpression(forConstantValue: 3),
            modifier: .direct, type: .equalTo, options: .caseInsensitive)
        let aggregate = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "ages")])
        _ = aggregate.expressionValue(with: ["ages": [1, 2]], context: nil)
        _ = NSSortDescriptor(key: "age", ascending: true)
        let predicates = [NSPredicate(format: "age == %ld", 3), comparison]
        return predicates + [NSCompoundPredicate(notPredicateWithSubpredicate: predicates[0])]
    }
}
