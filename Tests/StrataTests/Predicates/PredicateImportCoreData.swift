import CoreData

/// Compiles predicate code in a file that imports CoreData only, as Core Data files are usually written.
enum PredicateImportCoreData {
    static func make() -> [NSPredicate] {
        let left: NSExpression = NSExpression(forKeyPath: "age")
        let options: NSComparisonPredicate.Options = [.caseInsensitive]
        let comparison: NSComparisonPredicate = NSComparisonPredicate(
            leftExpression: left, rightExpression: NSExpression(forConstantValue: 3), modifier: .direct, type: .equalTo,
            options: options)
        _ = NSSortDescriptor(key: "age", ascending: true, selector: Selector("compare:"))
        let predicates = [NSPredicate(format: "age == %@", NSNumber(value: 3)), comparison]
        return predicates + [NSCompoundPredicate(orPredicateWithSubpredicates: predicates)]
    }
}
