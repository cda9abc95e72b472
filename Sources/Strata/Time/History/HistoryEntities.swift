import Foundation

/// The history as entities that fetch requests can name.
enum HistoryEntities {
    static let transactionName = "TRANSACTION"
    static let changeName = "CHANGE"

    private static let model: NSManagedObjectModel = {
        let transaction = entity(
            transactionName,
            [
                ("author", .stringAttributeType), ("bundleID", .stringAttributeType),
                ("contextName", .stringAttributeType), ("processID", .stringAttributeType),
                ("storeID", .stringAttributeType), ("timestamp", .dateAttributeType),
                ("token", .transformableAttributeType), ("transactionNumber", .integer64AttributeType),
            ])
        let change = entity(
            changeName,
            [
                ("changeID", .integer64AttributeType), ("changedObjectID", .objectIDAttributeType),
                ("changedEntity", .transformableAttributeType), ("changeType", .integer16AttributeType),
                ("tombstone", .transformableAttributeType), ("updatedProperties", .transformableAttributeType),
            ])
        let changes = NSRelationshipDescription()
        changes.name = "changes"
        changes.destinationEntity = change
        changes.maxCount = 0
        let owner = NSRelationshipDescription()
        owner.name = "transaction"
        owner.destinationEntity = transaction
        owner.maxCount = 1
        changes.inverseRelationship = owner
        owner.inverseRelationship = changes
        transaction.properties.append(changes)
        change.properties.append(owner)
        let model = NSManagedObjectModel()
        model.entities = [transaction, change]
        model.freeze()
        return model
    }()

    static var transaction: NSEntityDescription? { model.entitiesByName[transactionName] }
    static var change: NSEntityDescription? { model.entitiesByName[changeName] }

    static func request(_ entity: NSEntityDescription?) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity
        return request
    }

    private static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            return attribute
        }
        return entity
    }
}
