import Foundation

/// Makes compound predicates in a file that does not import CoreData.
enum FoundationCompounds {
    static func and(_ parts: [NSPredicate]) -> NSPredicate { NSCompoundPredicate(andPredicateWithSubpredicates: parts) }

    static func or(_ parts: [NSPredicate]) -> NSPredicate { NSCompoundPredicate(orPredicateWithSubpredicates: parts) }
}
