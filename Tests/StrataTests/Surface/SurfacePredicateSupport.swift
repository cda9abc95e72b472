import CoreData

/// Names every symbol of the group "predicate-support" with its signature, so that none can vanish. Never run.
enum SurfacePredicateSupport {
    static func nsFetchRequestExpression() {
        _ = NSFetchRequestExpression.self
        _ = { (object: NSFetchRequestExpression) -> NSExpression in object }
        _ = { (a0: NSExpression, a1: NSExpression, a2: Bool) -> NSExpression in
            NSFetchRequestExpression.expression(forFetch: a0, context: a1, countOnly: a2)
        }
        _ = { (object: NSFetchRequestExpression) -> NSExpression in object.requestExpression }
        _ = { (object: NSFetchRequestExpression) -> NSExpression in object.contextExpression }
        _ = { (object: NSFetchRequestExpression) -> Bool in object.isCountOnlyRequest }
    }

    static func global() {
        _ = { () -> NSExpression.ExpressionType in NSFetchRequestExpressionType }
    }
}
