public import BenchSupport
import Foundation
public import ServiceLoad
import Strata
import Synchronization

/// The shop as managed objects, as a service keeps it: one container, a background context for each request.
public final class ShopObjects: AsyncServiceStore {
    private let container: NSPersistentContainer
    /// What a service has of its clients' links, as of opening.
    private let ids: ShopIDs

    /// - Parameters:
    ///   - folder: where the store lies; it is made when it is not there.
    ///   - flushes: whether a save waits for the disk; only filling does without.
    public init(in folder: Folder, flushes: Bool = true) throws {
        let store = NSPersistentStoreDescription(
            url: URL(fileURLWithPath: folder.appending("shop.strata").path))
        if !flushes { store.setOption(NSString("os"), forKey: StrataDurabilityOption) }
        container = NSPersistentContainer(name: "Shop", managedObjectModel: ShopModel.shared)
        container.persistentStoreDescriptions = [store]
        let failure = Mutex<(any Error)?>(nil)
        container.loadPersistentStores { _, error in failure.withLock { $0 = error } }
        if let error = failure.withLock({ $0 }) { throw error }
        let context = container.newBackgroundContext()
        ids = try context.performAndWait { try ShopIDs(in: context) }
    }

    public func fill(oneByOne: Bool) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 1...Shop.customerCount {
                let customer = Customer(context: context)
                customer.number = Int32(number)
                customer.name = Shop.customerName(number)
                customer.email = Shop.customerEmail(number)
            }
            for number in 1...Shop.productCount {
                let product = Product(context: context)
                product.number = Int32(number)
                product.name = Shop.productName(number)
                product.price = Shop.productPrice(number)
            }
            for number in 1...Shop.tagCount {
                let tag = Tag(context: context)
                tag.number = Int32(number)
                tag.name = Shop.tagName(number)
            }
            try context.save()
            context.reset()
            let ids = try ShopIDs(in: context)
            for batch in Workload.batches(Shop.orderCount, of: oneByOne ? 1 : Workload.rowsPerBatch) {
                for order in ShopOrder.all[batch] { insert(order, ids, withTags: true, in: context) }
                try context.save()
                if batch.upperBound % 1_000 == 0 { context.reset() }
            }
            context.reset()
        }
    }

    private func insert(_ order: ShopOrder, _ ids: ShopIDs, withTags: Bool, in context: NSManagedObjectContext) {
        let object = Order(context: context)
        object.number = Int64(order.number)
        object.reference = order.reference
        object.status = order.status
        object.placed = Date(timeIntervalSince1970: order.placed)
        object.total = order.total
        object.note = order.note
        object.customer = context.object(with: ids.customers[order.customer - 1]) as? Customer
        object.product = context.object(with: ids.products[order.product - 1]) as? Product
        if withTags {
            object.tags = Set(order.tags.compactMap { context.object(with: ids.tags[$0 - 1]) as? Tag })
        }
    }

    public func orderCount() throws -> Int {
        let context = container.newBackgroundContext()
        return try context.performAndWait { try context.count(for: NSFetchRequest<Order>(entityName: "Order")) }
    }

    public func close() throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    // MARK: Requests

    public func makeClient() throws -> any ServiceClient {
        ShopObjectsClient(store: self)
    }

    /// On the caller's thread.
    func answerAndWait(_ request: ServiceRequest) throws -> UInt64 {
        let context = container.newBackgroundContext()
        return try context.performAndWait { try answer(request, in: context) }
    }

    public func answer(_ request: ServiceRequest) async throws -> UInt64 {
        try await container.performBackgroundTask { try self.answer(request, in: $0) }
    }

    private func answer(_ request: ServiceRequest, in context: NSManagedObjectContext) throws -> UInt64 {
        switch request {
        case .point(let number): return try order(number, in: context).digest
        case .list(let status, let from):
            let date = Date(timeIntervalSince1970: from) as NSDate
            return try page(NSPredicate(format: "status == %@ AND placed >= %@", status, date), in: context)
        case .tagged(let name): return try page(NSPredicate(format: "ANY tags.name == %@", name), in: context)
        case .aggregate: return try aggregate(in: context)
        case .insert(let order):
            insert(order, ids, withTags: false, in: context)
            try context.save()
            return 0
        case .update(let number, let status, let total):
            // Two clients may change the same order: the later one wins.
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let order = try order(number, in: context)
            order.status = status
            order.total = total
            try context.save()
            return 0
        }
    }

    private func order(_ number: Int, in context: NSManagedObjectContext) throws -> Order {
        guard let order = try context.existingObject(with: ids.orders[number - 1]) as? Order else {
            throw BenchFailure("order \(number) is missing")
        }
        return order
    }

    private func page(_ predicate: NSPredicate, in context: NSManagedObjectContext) throws -> UInt64 {
        let request = NSFetchRequest<Order>(entityName: "Order")
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "placed", ascending: true)]
        request.fetchLimit = Shop.pageCount
        request.relationshipKeyPathsForPrefetching = ["customer"]
        return try context.fetch(request).reduce(0) { $0 &+ $1.digest }
    }

    private func aggregate(in context: NSManagedObjectContext) throws -> UInt64 {
        let request = NSFetchRequest<NSDictionary>(entityName: "Order")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["status", column("sum", "total"), column("count", "number")]
        request.propertiesToGroupBy = ["status"]
        return try context.fetch(request).reduce(0) { sum, group in
            let status = group["status"] as? String ?? ""
            let total = (group["sum"] as? NSNumber)?.doubleValue ?? 0
            return sum &+ groupDigest(status: status, total: total, count: (group["count"] as? NSNumber)?.intValue ?? 0)
        }
    }

    private func column(_ function: String, _ key: String) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = function
        column.expression = NSExpression(format: "\(function):(\(key))")
        column.expressionResultType = function == "sum" ? .doubleAttributeType : .integer64AttributeType
        return column
    }
}

extension Order {
    /// The sum over all fields, each read through its accessor.
    fileprivate var digest: UInt64 {
        orderDigest(
            number: number, reference: reference, status: status, placed: placed.timeIntervalSince1970, total: total,
            note: note, customerName: customer?.name ?? "")
    }
}
