import Foundation
import Strata

/// What clients ask of the service, on a context's queue.
enum ServiceRequests {
    enum Kind {
        case read, list, insert, update, aggregate
    }

    /// Half reads by ID, then lists, durable inserts and updates, and aggregates.
    static func kind(_ random: UInt64) -> Kind {
        switch random % 100 {
        case 0..<50: .read
        case 50..<70: .list
        case 70..<80: .insert
        case 80..<90: .update
        default: .aggregate
        }
    }

    /// - Returns: false for a conflict with another client, whose save came first.
    static func run(
        _ kind: Kind, _ random: UInt64, _ slots: ServiceSlots, _ customers: [NSManagedObjectID],
        in context: NSManagedObjectContext
    ) throws -> Bool {
        do {
            switch kind {
            case .read: try read(random, slots, in: context)
            case .list: try list(random, in: context)
            case .aggregate: try aggregate(in: context)
            case .insert: try insert(slots, customers, in: context)
            case .update: try update(random, slots, in: context)
            }
            return true
        } catch let error as NSError
            where error.code == NSManagedObjectMergeError || error.code == NSManagedObjectReferentialIntegrityError
        {
            return false
        }
    }

    private static func read(_ random: UInt64, _ slots: ServiceSlots, in context: NSManagedObjectContext) throws {
        guard let entry = slots.entry(Int64(random >> 8 & 0xFFFF_FFFF)) else { return }
        guard let order = try context.existingObject(with: entry.id(in: context)) as? ServiceOrder else {
            throw Finding(description: "order \(entry.number) is of another class")
        }
        try expectWhole(order)
    }

    private static func list(_ random: UInt64, in context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<ServiceOrder>(entityName: "Order")
        request.predicate = NSPredicate(format: "status == %@", ServicePlan.status(random >> 8))
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: false)]
        request.fetchLimit = 20
        for order in try context.fetch(request) { try expectWhole(order) }
    }

    private static func expectWhole(_ order: ServiceOrder) throws {
        guard ServicePlan.isWhole(order) else {
            throw Finding(description: "order \(order.number) says what revision \(order.revision) does not")
        }
    }

    private static func aggregate(in context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Order")
        request.resultType = .dictionaryResultType
        let columns = [("sum", "total"), ("count", "number")].map { function, key in
            let column = NSExpressionDescription()
            column.name = function
            column.expression = NSExpression(format: "\(function):(\(key))")
            column.expressionResultType = .doubleAttributeType
            return column
        }
        request.propertiesToFetch = ["status"] + columns
        request.propertiesToGroupBy = ["status"]
        _ = try context.fetch(request)
    }

    /// A new order with its item, in place of the one in its slot.
    private static func insert(
        _ slots: ServiceSlots, _ customers: [NSManagedObjectID], in context: NSManagedObjectContext
    ) throws {
        let number = slots.takeNumber()
        if let old = slots.entry(number) { context.delete(try context.existingObject(with: old.id(in: context))) }
        let order = add(number, customers, to: context)
        try context.save()
        ServiceMessage.acknowledge(number, revision: 1)
        slots.put(ServiceSlots.Entry(number: number, id: order.objectID))
    }

    static func add(
        _ number: Int64, _ customers: [NSManagedObjectID], to context: NSManagedObjectContext
    ) -> ServiceOrder {
        let order = ServiceOrder(context: context)
        let item = ServiceItem(context: context)
        ServicePlan.write(order, item, number: number, revision: 1)
        item.order = order
        order.customer = context.object(with: customers[Int(ServicePlan.customer(number))]) as? ServiceCustomer
        return order
    }

    private static func update(_ random: UInt64, _ slots: ServiceSlots, in context: NSManagedObjectContext) throws {
        guard let entry = slots.entry(Int64(random >> 8 & 0xFFFF_FFFF)),
            let order = try context.existingObject(with: entry.id(in: context)) as? ServiceOrder
        else { return }
        // Read before the item: whoever changes both meanwhile makes a conflict.
        let revision = order.revision + 1
        guard let item = order.items.first else {
            // The item is looked up later than the order: both go when another client replaces the order in between.
            context.refresh(order, mergeChanges: false)
            _ = try context.existingObject(with: order.objectID)
            throw Finding(description: "order \(entry.number) has no item")
        }
        ServicePlan.write(order, item, number: entry.number, revision: revision)
        try context.save()
        ServiceMessage.acknowledge(entry.number, revision: revision)
    }
}
