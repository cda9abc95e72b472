@_exported import Foundation
// What knows no contexts: a module of its own, which nobody has to import who imports this one.
@_exported public import StrataRows
@_exported public import StrataSchema

// Foundation declares these on Linux, too. A name that this module declares itself is meant before one that it exports,
// so `Strata.NSExpression` says which, here and in files that import this module.

/// One comparison of a predicate; see `StrataSchema.NSComparisonPredicate`.
public typealias NSComparisonPredicate = StrataSchema.NSComparisonPredicate
/// A part of a predicate that has a value; see `StrataSchema.NSExpression`.
public typealias NSExpression = StrataSchema.NSExpression
