import Foundation

/// The functions that mapping expressions call on `$manager`, by their selectors.
enum MigrationFunctions {
    static let mapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    static let relationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    static let sources = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    static let request = "fetchRequestForSourceEntityNamed:predicateString:"
}

extension NSMigrationManager: PredicateFunctionTarget {
    /// What `FUNCTION($manager, "selector", …)` in a mapping's expressions gives: the manager's own methods, the source
    /// relationship's objects in the destination, and fetch requests for the source.
    public func performPredicateFunction(_ name: String, arguments: [Any?]) -> Any? {
        guard arguments.count == 2, let text = arguments[0] as? String else { return nil }
        switch name {
        case MigrationFunctions.mapping:
            guard let sources = Self.objects(arguments[1]) else { return nil }
            return destinationInstances(forEntityMappingName: text, sourceInstances: sources)
        case MigrationFunctions.relationship:
            return Self.objects(arguments[1]).map { destinationInstances(ofSources: $0) }
        case MigrationFunctions.sources:
            guard let destinations = Self.objects(arguments[1]) else { return nil }
            return sourceInstances(forEntityMappingName: text, destinationInstances: destinations)
        case MigrationFunctions.request:
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: text)
            request.includesSubentities = false
            if let format = arguments[1] as? String { request.predicate = try? NSPredicate.parse(format) }
            return request
        default: return nil
        }
    }

    /// One object or many; nil for none.
    private static func objects(_ value: Any?) -> [NSManagedObject]? {
        if let object = value as? NSManagedObject { return [object] }
        guard let value, let members = AnyElements(value) else { return nil }
        return members.elements.compactMap { $0 as? NSManagedObject }
    }
}
