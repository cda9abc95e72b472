import Foundation
import Strata

/// The shop in a log store.
struct ShopStore {
    let container: NSPersistentContainer

    private static let model: NSManagedObjectModel = {
        func attribute(_ name: String, _ type: NSAttributeType, isOptional: Bool = true) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = isOptional
            return attribute
        }
        func relationship(_ name: String, _ target: NSEntityDescription, isToMany: Bool) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = target
            relationship.maxCount = isToMany ? 0 : 1
            relationship.deleteRule = .nullifyDeleteRule
            return relationship
        }
        let (order, rush, customer, tag) = (
            NSEntityDescription(), NSEntityDescription(), NSEntityDescription(), NSEntityDescription()
        )
        order.name = "Order"
        rush.name = "RushOrder"
        customer.name = "Customer"
        tag.name = "Tag"
        let (ofOrder, orders) = (
            relationship("customer", customer, isToMany: false), relationship("orders", order, isToMany: true)
        )
        ofOrder.inverseRelationship = orders
        orders.inverseRelationship = ofOrder
        let (tags, tagged) = (relationship("tags", tag, isToMany: true), relationship("tagged", order, isToMany: true))
        tags.inverseRelationship = tagged
        tagged.inverseRelationship = tags
        order.properties = [
            attribute("number", .integer64AttributeType), attribute("status", .stringAttributeType),
            attribute("quantity", .integer32AttributeType), attribute("weight", .integer16AttributeType),
            attribute("amount", .doubleAttributeType), attribute("price", .decimalAttributeType),
            attribute("placed", .dateAttributeType), attribute("isPaid", .booleanAttributeType),
            attribute("note", .stringAttributeType), ofOrder, tags,
        ]
        rush.properties = [attribute("fee", .integer32AttributeType)]
        order.subentities = [rush]
        customer.properties = [
            attribute("name", .stringAttributeType), attribute("city", .stringAttributeType),
            attribute("age", .integer16AttributeType), attribute("balance", .doubleAttributeType), orders,
        ]
        tag.properties = [attribute("name", .stringAttributeType), tagged]
        order.indexes = [
            NSFetchIndexDescription(
                name: "byNumber",
                elements: [
                    NSFetchIndexElementDescription(property: order.propertiesByName["number"]!, collationType: .binary)
                ])
        ]
        let model = NSManagedObjectModel()
        model.entities = [order, rush, customer, tag]
        return model
    }()

    init(_ rows: ShopRows, in folder: URL) throws {
        container = NSPersistentContainer(name: "Shop", managedObjectModel: Self.model)
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: folder.appendingPathComponent("shop.sqlite"))
        ]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        let context = container.newBackgroundContext()
        try context.performAndWait { try Self.fill(context, rows) }
    }

    private static func fill(_ context: NSManagedObjectContext, _ rows: ShopRows) throws {
        func insert(_ entity: String) -> NSManagedObject {
            NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        }
        let tags = (0..<ShopRows.tagCount).map { number in
            let tag = insert("Tag")
            tag.setValue("tag \(number)", forKey: "name")
            return tag
        }
        let customers = rows.customers.map { row in
            let customer = insert("Customer")
            customer.setValuesForKeys([
                "name": row.name, "city": row.city, "age": row.age, "balance": row.balance,
            ])
            return customer
        }
        for (index, row) in rows.orders.enumerated() {
            let order = insert(row.fee == nil ? "Order" : "RushOrder")
            order.setValuesForKeys([
                "number": row.number, "status": row.status, "quantity": row.quantity, "weight": row.weight,
                "amount": row.amount, "price": NSDecimalNumber(decimal: Decimal(row.cents) / 100),
                "placed": Date(timeIntervalSinceReferenceDate: row.placed), "isPaid": row.isPaid,
            ])
            order.setValue(row.note, forKey: "note")
            if let fee = row.fee { order.setValue(fee, forKey: "fee") }
            if let customer = row.customer { order.setValue(customers[customer], forKey: "customer") }
            if !row.tags.isEmpty { order.setValue(NSSet(array: row.tags.map { tags[$0] }), forKey: "tags") }
            if index % 10_000 == 9_999 { try context.save() }
        }
        try context.save()
    }

    /// How many results a request has; of a count, the count itself.
    func run(_ shape: Shape) throws -> Int {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: shape.entity)
        shape.prepare(request)
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            if case .count = shape.result { return try context.count(for: request) }
            return try context.fetch(request).count
        }
    }
}
