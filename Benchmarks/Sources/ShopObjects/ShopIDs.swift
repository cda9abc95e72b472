import Strata

/// The IDs of the shop's objects by number, as clients hold them in links.
struct ShopIDs: Sendable {
    private(set) var orders: [NSManagedObjectID] = []
    private(set) var customers: [NSManagedObjectID] = []
    private(set) var products: [NSManagedObjectID] = []
    private(set) var tags: [NSManagedObjectID] = []

    init() {}

    /// Reads them. Call it on the context's queue.
    init(in context: NSManagedObjectContext) throws {
        orders = try Self.all("Order", in: context)
        customers = try Self.all("Customer", in: context)
        products = try Self.all("Product", in: context)
        tags = try Self.all("Tag", in: context)
    }

    /// In the order in which they were inserted, which is that of their numbers.
    private static func all(_ entity: String, in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
        request.resultType = .managedObjectIDResultType
        return try context.fetch(request)
    }
}
