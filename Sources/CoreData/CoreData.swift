@_exported import Foundation
// Lets files written for Apple's framework compile as they are: `import CoreData` brings Strata and Foundation.
@_exported import Strata

// Foundation declares these on Linux, too: the last two are unavailable, and its compound predicates do not print,
// compare or copy. A type that is imported by its name is meant before one that comes with its whole module, so files
// that import Foundation, too, can write the names.
@_exported import typealias CoreDataNames.NSCompoundPredicate
@_exported import class Strata.NSComparisonPredicate
@_exported import class Strata.NSExpression
