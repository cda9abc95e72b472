import Foundation

/// The type of a fetch request expression.
public var NSFetchRequestExpressionType: NSExpression.ExpressionType { .fetchRequest }

/// A managed object context, as far as `FETCH(request, context, countOnly)` needs one.
package protocol FetchExpressionContext {
    /// The objects a fetch request finds or, when only counting, their number.
    func fetchExpressionValue(_ request: Any, countOnly: Bool) -> Any?
}

/// An expression whose value is the result of a fetch request.
open class NSFetchRequestExpression: NSExpression {
    /// Makes the expression; `fetch` is evaluated to an `NSFetchRequest`, `context` to an `NSManagedObjectContext`.
    open class func expression(
        forFetch fetch: NSExpression, context: NSExpression, countOnly: Bool
    ) -> NSExpression {
        NSFetchRequestExpression(form: .fetch(request: fetch, context: context, countOnly: countOnly))
    }

    /// The expression for the fetch request.
    open var requestExpression: NSExpression {
        // One that nests too deep has lost its parts.
        guard case .fetch(let request, _, _) = form else { return self }
        return request
    }

    /// The expression for the context.
    open var contextExpression: NSExpression {
        guard case .fetch(_, let context, _) = form else { return self }
        return context
    }

    /// Whether the value is the number of results.
    open var isCountOnlyRequest: Bool {
        guard case .fetch(_, _, let countOnly) = form else { return false }
        return countOnly
    }
}
