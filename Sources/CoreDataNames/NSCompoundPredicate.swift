public import Strata

/// What `NSCompoundPredicate` means in files that import CoreData.
///
/// A module of its own: CoreData exports the name by itself, which is preferred to Foundation's class of that name,
/// while files that import Foundation and Strata would find the name ambiguous if Strata declared it.
public typealias NSCompoundPredicate = CompoundPredicate
