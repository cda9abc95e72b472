import Foundation

/// The functions that mapping expressions call on `$manager`, by their selectors.
enum MigrationFunctions {
    static let mapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    static let relationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    static let sources = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    static let request = "fetchRequestForSourceEntityNamed:predicateString:"
}

extension NSMigrationManager {
    /// What one of the manager's own functions gives.
    final func ownFunction(_ name: String, _ arguments: [Any?]) -> Any? {
        let known = [
            MigrationFunctions.mapping, MigrationFunctions.relationship, MigrationFunctions.sources,
            MigrationFunctions.request,
        ]
        guard known.contains(name) else {
            run?.record("the manager has no function \(name)")
            return nil
        }
        guard arguments.count == 2, let text = arguments[0] as? String else {
            run?.record("FUNCTION($manager, \"\(name)\", …) needs a name and objects")
            return nil
        }
        switch name {
        case MigrationFunctions.mapping:
            run?.expectMapping(text)
            guard let sources = Self.objects(arguments[1]) else { return nil }
            return destinationInstances(forEntityMappingName: text, sourceInstances: sources)
        case MigrationFunctions.relationship:
            return Self.objects(arguments[1]).map { destinationInstances(ofSources: $0) }
        case MigrationFunctions.sources:
            run?.expectMapping(text)
            guard let destinations = Self.objects(arguments[1]) else { return nil }
            return sourceInstances(forEntityMappingName: text, destinationInstances: destinations)
        default: return sourceRequest(text, arguments[1])
        }
    }

    private func sourceRequest(_ entity: String, _ format: Any?) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        request.includesSubentities = false
        do {
            if let format = format as? String { request.predicate = try NSPredicate.parse(format) }
        } catch {
            run?.record("'\(format ?? "")' is no predicate: \(error)")
        }
        return request
    }

    /// One object or many; nil for none.
    private static func objects(_ value: Any?) -> [NSManagedObject]? {
        if let object = value as? NSManagedObject { return [object] }
        guard let value, let members = AnyElements(value) else { return nil }
        return members.elements.compactMap { $0 as? NSManagedObject }
    }
}
