import Strata

/// The model of the shop, built in code.
enum ShopModel {
    static let shared: NSManagedObjectModel = {
        let order = entity("Order", of: Order.self)
        let customer = entity("Customer", of: Customer.self)
        let product = entity("Product", of: Product.self)
        let tag = entity("Tag", of: Tag.self)
        let (toCustomer, customersOrders) = pair(order, "customer", customer, "orders", isToMany: false)
        let (toProduct, productsOrders) = pair(order, "product", product, "orders", isToMany: false)
        let (tags, tagsOrders) = pair(order, "tags", tag, "orders", isToMany: true)
        order.properties =
            attributes([
                ("number", .integer64AttributeType), ("reference", .stringAttributeType),
                ("status", .stringAttributeType), ("placed", .dateAttributeType), ("total", .doubleAttributeType),
                ("note", .stringAttributeType),
            ]) + [toCustomer, toProduct, tags]
        order.indexes = ["status", "placed"].map { index($0, of: order) }
        customer.properties =
            attributes([
                ("number", .integer32AttributeType), ("name", .stringAttributeType), ("email", .stringAttributeType),
            ]) + [customersOrders]
        product.properties =
            attributes([
                ("number", .integer32AttributeType), ("name", .stringAttributeType), ("price", .doubleAttributeType),
            ]) + [productsOrders]
        tag.properties =
            attributes([("number", .integer32AttributeType), ("name", .stringAttributeType)]) + [tagsOrders]
        tag.indexes = [index("name", of: tag)]
        let model = NSManagedObjectModel()
        model.entities = [order, customer, product, tag]
        return model
    }()

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

    /// A relationship and its inverse, which is to-many.
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
        inverse.maxCount = 0
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
