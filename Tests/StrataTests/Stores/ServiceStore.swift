import CoreData
import Foundation

/// What a ``ServiceStore`` talks to: rows by entity and name, relationships as names.
final class Service {
    struct Row {
        var entity: String
        var values: [String: Any]
        var toOne: [String: String] = [:]
        var toMany: [String: [String]] = [:]
        var version: UInt64 = 1
    }

    var rows: [String: Row] = [:]
    /// What the store was asked, in order.
    var calls: [String] = []
    /// What the next saves fail with, one after the other.
    var saveErrors: [any Error] = []
    /// Whether nodes have the members of to-many relationships.
    var nodesHaveMembers = false
    /// Whether objects are said to keep the IDs that they have.
    var keepsTemporaryIDs = false
    var nextName = 1
    var registered: Set<String> = []
    let uuid = UUID().uuidString

    func call(_ text: String) { calls.append(text) }
}

/// An incremental store over a ``Service`` that is found by the store's URL.
final class ServiceStore: NSIncrementalStore, @unchecked Sendable {
    // Unchecked: tests use a store from one thread at a time.

    static let type = "ServiceStore"
    static let services = LockedBox<[URL: Service]>([:])

    static func make(_ model: NSManagedObjectModel, _ service: Service) throws -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator.registerStoreClass(ServiceStore.self, forStoreType: type)
        let url = URL(string: "service://\(UUID().uuidString)")!
        services.change { $0[url] = service }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        return coordinator
    }

    var service: Service {
        guard let service = url.flatMap({ Self.services.value[$0] }) else {
            preconditionFailure("no service at \(url as Any)")
        }
        return service
    }

    override var type: String { Self.type }

    override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: service.uuid, NSStoreTypeKey: Self.type]
    }

    private func name(_ id: NSManagedObjectID) -> String { referenceObject(for: id) as? String ?? "" }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        switch request {
        case let request as NSSaveChangesRequest:
            try save(request)
            return []
        case let request as NSFetchRequest<any NSFetchRequestResult>:
            return try fetch(
                request.entity, request.entityName, request.predicate, request.sortDescriptors, request.resultType,
                context)
        default:
            throw CocoaError(.persistentStoreUnsupportedRequestType)
        }
    }

    private func fetch(
        _ entity: NSEntityDescription?, _ entityName: String?, _ predicate: NSPredicate?, _ sorts: [NSSortDescriptor]?,
        _ resultType: NSFetchRequestResultType, _ context: NSManagedObjectContext?
    ) throws -> Any {
        guard let context, let entity else { return [] }
        service.call("fetch \(entityName ?? "")")
        let found = service.rows.filter { $0.value.entity == entity.name }.sorted { $0.key < $1.key }
        let objects = found.map { context.object(with: newObjectID(for: entity, referenceObject: $0.key)) }
        let matching = objects.filter { predicate?.evaluate(with: $0) ?? true }
        if resultType == .countResultType { return [NSNumber(value: matching.count)] }
        let sorted = (sorts ?? []).isEmpty ? matching : NSArray(array: matching).sortedArray(using: sorts ?? [])
        if resultType == .managedObjectIDResultType {
            return sorted.compactMap { ($0 as? NSManagedObject)?.objectID }
        }
        return sorted
    }

    private func save(_ request: NSSaveChangesRequest) throws {
        let inserted = request.insertedObjects ?? []
        let updated = request.updatedObjects ?? []
        let deleted = request.deletedObjects ?? []
        service.call("save \(inserted.count) \(updated.count) \(deleted.count)")
        if !service.saveErrors.isEmpty { throw service.saveErrors.removeFirst() }
        for object in inserted.union(updated) {
            var row = Service.Row(entity: object.entity.name ?? "", values: [:])
            row.version = (service.rows[name(object.objectID)]?.version ?? 0) + 1
            for key in object.entity.attributesByName.keys { row.values[key] = object.value(forKey: key) }
            for (key, relationship) in object.entity.relationshipsByName {
                let names = object.objectIDs(forRelationshipNamed: key).map(name)
                if relationship.isToMany { row.toMany[key] = names } else { row.toOne[key] = names.first }
            }
            service.rows[name(object.objectID)] = row
        }
        for object in deleted { service.rows[name(object.objectID)] = nil }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        service.call("values \(name(objectID))")
        guard let row = service.rows[name(objectID)] else { throw CocoaError(.managedObjectReferentialIntegrity) }
        var values = row.values
        for (key, target) in row.toOne {
            guard let entity = objectID.entity.relationshipsByName[key]?.destinationEntity else { continue }
            values[key] = newObjectID(for: entity, referenceObject: target)
        }
        for (key, targets) in row.toMany where service.nodesHaveMembers {
            guard let entity = objectID.entity.relationshipsByName[key]?.destinationEntity else { continue }
            values[key] = targets.map { newObjectID(for: entity, referenceObject: $0) }
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: row.version)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        service.call("relationship \(relationship.name) of \(name(objectID))")
        guard relationship.isToMany, let entity = relationship.destinationEntity else { return NSNull() }
        let names = service.rows[name(objectID)]?.toMany[relationship.name] ?? []
        return names.map { newObjectID(for: entity, referenceObject: $0) }
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        if service.keepsTemporaryIDs { return array.map(\.objectID) }
        return array.map { object in
            let name = "\(object.entity.name ?? "")-\(service.nextName)"
            service.nextName += 1
            return newObjectID(for: object.entity, referenceObject: name)
        }
    }

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
        service.registered.formUnion(objectIDs.map(name))
    }

    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        service.registered.subtract(objectIDs.map(name))
    }
}
