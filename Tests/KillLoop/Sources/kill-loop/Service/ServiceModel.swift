import Foundation
import Strata

/// What the service keeps: orders of customers, each with an item that is written with it.
enum ServiceModel {
    static let shared: NSManagedObjectModel = {
        let order = entity("Order", of: ServiceOrder.self)
        let item = entity("Item", of: ServiceItem.self)
        let customer = entity("Customer", of: ServiceCustomer.self)
        let (toItems, itemsOrder) = pair(order, "items", item, "order", isToMany: true)
        toItems.deleteRule = .cascadeDeleteRule
        let (toCustomer, customersOrders) = pair(order, "customer", customer, "orders", isToMany: false)
        customersOrders.maxCount = 0
        order.properties =
            attributes([
                ("number", .integer64AttributeType), ("revision", .integer64AttributeType),
                ("status", .stringAttributeType), ("total", .doubleAttributeType), ("note", .stringAttributeType),
            ]) + [toItems, toCustomer]
        order.indexes = ["number", "status"].map { index($0, of: order) }
        item.properties =
            attributes([("revision", .integer64AttributeType), ("note", .stringAttributeType)]) + [itemsOrder]
        customer.properties = attributes([("number", .integer64AttributeType)]) + [customersOrders]
        let model = NSManagedObjectModel()
        model.entities = [order, item, customer]
        return model
    }()

    /// - Parameter flushes: whether a save waits for the disk.
    static func open(_ path: String, flushes: Bool = true) throws -> NSPersistentContainer {
        let store = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
        if !flushes { store.setOption(NSString("os"), forKey: StrataDurabilityOption) }
        let container = NSPersistentContainer(name: "Service", managedObjectModel: shared)
        container.persistentStoreDescriptions = [store]
        nonisolated(unsafe) var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    static func close(_ container: NSPersistentContainer) throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private static func entity(_ name: String, of type: NSManagedObject.Type) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = String(reflecting: type)
        return entity
    }

    private static func attributes(_ list: [(String, NSAttributeType)]) -> [NSPropertyDescription] {
        list.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = false
            return attribute
        }
    }

    private static func pair(
        _ source: NSEntityDescription, _ name: String, _ destination: NSEntityDescription, _ inverseName: String,
        isToMany: Bool
    ) -> (NSRelationshipDescription, NSRelationshipDescription) {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = isToMany ? 0 : 1
        let inverse = NSRelationshipDescription()
        inverse.name = inverseName
        inverse.destinationEntity = source
        inverse.maxCount = 1
        for end in [relationship, inverse] { end.deleteRule = .nullifyDeleteRule }
        relationship.inverseRelationship = inverse
        inverse.inverseRelationship = relationship
        return (relationship, inverse)
    }

    private static func index(_ name: String, of entity: NSEntityDescription) -> NSFetchIndexDescription {
        let elements = entity.properties.filter { $0.name == name }
            .map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
        return NSFetchIndexDescription(name: "by_\(name)", elements: elements)
    }
}
