public import Foundation

extension NSFetchRequest where ResultType: NSManagedObject {
    /// Creates a request for the objects of the class that satisfy a Swift predicate.
    ///
    /// - Throws: `PredicateConversionError` as `NSPredicate.converting(_:)` does.
    public convenience init(
        predicate: Predicate<ResultType>?, sortBy sortDescriptors: [SortDescriptor<ResultType>] = []
    ) throws {
        self.init()
        if let predicate { try setPredicate(predicate) }
        if !sortDescriptors.isEmpty { setSortDescriptors(sortDescriptors) }
    }

    /// Sets ``predicate`` to a Swift predicate.
    ///
    /// - Throws: `PredicateConversionError` as `NSPredicate.converting(_:)` does; the request is unchanged then.
    public final func setPredicate(_ predicate: Predicate<ResultType>) throws {
        self.predicate = try NSPredicate.converting(predicate)
    }

    /// Sets ``sortDescriptors`` to Swift sort descriptors.
    public final func setSortDescriptors(_ descriptors: [SortDescriptor<ResultType>]) {
        sortDescriptors = descriptors.map { NSSortDescriptor($0) }
    }
}
