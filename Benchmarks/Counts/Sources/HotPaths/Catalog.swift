import Dispatch
import Foundation
import Strata
import Synchronization

/// What somebody ordered.
final class Order: NSManagedObject {
    private static let totalSlot = AttributeSlot<Double>("total")
    private static let buyerSlot = ToOneSlot<Buyer>("buyer")

    var total: Double {
        get { self[Self.totalSlot] }
        set { self[Self.totalSlot] = newValue }
    }
    var buyer: Buyer? {
        get { self[Self.buyerSlot] }
        set { self[Self.buyerSlot] = newValue }
    }
}

/// Who orders.
final class Buyer: NSManagedObject {
    private static let nameSlot = AttributeSlot<String>("name")

    var name: String {
        get { self[Self.nameSlot] }
        set { self[Self.nameSlot] = newValue }
    }
}

/// A store in memory with orders, whose references are unique, as a service asks for them: each request in a context of
/// its own.
struct Catalog {
    static let orderCount = 4_000
    private static let buyerCount = 100
    private static let statuses = ["open", "paid", "sent", "done"]

    private let coordinator: NSPersistentStoreCoordinator

    init() throws {
        ManagedObjectClasses.register(Order.self, Buyer.self)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        try inContext { context in
            let buyers = (0..<Self.buyerCount).map { number in
                let buyer = Buyer(context: context)
                buyer.name = "buyer \(number)"
                return buyer
            }
            for number in 0..<Self.orderCount {
                let order = Order(context: context)
                order.setValue(Self.reference(number), forKey: "reference")
                order.setValue(Self.statuses[number % Self.statuses.count], forKey: "status")
                order.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "placed")
                order.total = Double(number)
                order.buyer = buyers[number * 7 % Self.buyerCount]
            }
            try context.save()
        }
    }

    func inContext<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    private static func reference(_ number: Int) -> String { "order-\(100_000_000 + number * 7_919 % orderCount)" }

    // MARK: Requests

    /// One order by its unique reference.
    func total(_ number: Int) throws -> Double? {
        let reference = Self.reference(number)
        return try inContext { context in
            let request = NSFetchRequest<Order>(entityName: "Order")
            request.predicate = NSPredicate(format: "reference == %@", reference)
            request.fetchLimit = 1
            return try context.fetch(request).first?.total
        }
    }

    /// As ``total(_:)`` from tasks, one order after the other; returns how many there are.
    func totalsByTasks(from first: Int, count: Int) throws -> Int {
        let (done, found) = (DispatchSemaphore(value: 0), Found())
        Task.detached { [coordinator] in
            for number in first + 1...first + count {
                let reference = Self.reference(number)
                let context = NSManagedObjectContext(.privateQueue)
                context.persistentStoreCoordinator = coordinator
                let total = try await context.perform { () -> Double? in
                    let request = NSFetchRequest<Order>(entityName: "Order")
                    request.predicate = NSPredicate(format: "reference == %@", reference)
                    request.fetchLimit = 1
                    return try context.fetch(request).first?.total
                }
                if total != nil { found.count.withLock { $0 += 1 } }
            }
            done.signal()
        }
        done.wait()
        return found.count.withLock { $0 }
    }

    /// Twenty orders of a status from some date on, with their buyers.
    func page(_ number: Int) throws -> Int {
        let status = Self.statuses[number % Self.statuses.count]
        let date = Date(timeIntervalSinceReferenceDate: Double(number * 13 % (Self.orderCount / 2)))
        return try inContext { context in
            let request = NSFetchRequest<Order>(entityName: "Order")
            request.predicate = NSPredicate(format: "status == %@ AND placed >= %@", status, date as NSDate)
            request.sortDescriptors = [NSSortDescriptor(key: "placed", ascending: true)]
            request.fetchLimit = 20
            request.relationshipKeyPathsForPrefetching = ["buyer"]
            return try context.fetch(request).reduce(0) { $0 &+ ($1.buyer?.name.utf8.count ?? 0) }
        }
    }

    // MARK: Model

    private static func model() -> NSManagedObjectModel {
        let (order, buyer) = (NSEntityDescription(), NSEntityDescription())
        (order.name, order.managedObjectClassName) = ("Order", String(reflecting: Order.self))
        (buyer.name, buyer.managedObjectClassName) = ("Buyer", String(reflecting: Buyer.self))
        let (toBuyer, toOrders) = (NSRelationshipDescription(), NSRelationshipDescription())
        (toBuyer.name, toBuyer.destinationEntity, toBuyer.maxCount) = ("buyer", buyer, 1)
        (toOrders.name, toOrders.destinationEntity, toOrders.maxCount) = ("orders", order, 0)
        (toBuyer.inverseRelationship, toOrders.inverseRelationship) = (toOrders, toBuyer)
        let attributes = [
            attribute("reference", .stringAttributeType), attribute("status", .stringAttributeType),
            attribute("placed", .dateAttributeType), attribute("total", .doubleAttributeType),
        ]
        order.properties = attributes + [toBuyer]
        order.uniquenessConstraints = [["reference"]]
        order.indexes = attributes[1...2].map { attribute in
            NSFetchIndexDescription(
                name: "by_\(attribute.name)",
                elements: [NSFetchIndexElementDescription(property: attribute, collationType: .binary)])
        }
        buyer.properties = [attribute("name", .stringAttributeType), toOrders]
        let model = NSManagedObjectModel()
        model.entities = [order, buyer]
        return model
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType) = (name, type)
        return attribute
    }
}

/// How many orders tasks have found.
private final class Found: Sendable {
    let count = Mutex(0)
}
