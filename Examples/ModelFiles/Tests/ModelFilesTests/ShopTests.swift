import CoreData
import Foundation
import Shop
import Testing

/// Classes that the plugin generated as Xcode does.
@Suite struct ShopTests {
    @Test func theModelIsTheCurrentVersion() throws {
        let model = ShopModel.shared
        #expect(model.entities.compactMap(\.name).sorted() == ["Customer", "Order", "Perishable", "Product"])
        #expect(model.entitiesByName["Order"]?.managedObjectClassName == "Shop.Order")
        let lasts = model.entitiesByName["Perishable"]?.attributesByName["lasts"]
        #expect(lasts?.userInfo?["unit"] as? String == "days")
        #expect(model.entities(forConfigurationName: "Catalogue")?.count == 2)
    }

    /// The mapping model is found beside the program, and nothing is to be inferred.
    @Test func aStoreOfTheFirstVersionIsMigratedByTheMappingModel() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("shop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let url = directory.appendingPathComponent("Shop.strata")
        func with(
            _ model: NSManagedObjectModel, _ options: [AnyHashable: Any],
            _ body: (NSManagedObjectContext) throws -> Void
        ) throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait { try body(context) }
            context.performAndWait { context.reset() }
            try coordinator.remove(store)
        }
        let first = try ShopModel.first()
        for entity in first.entities { entity.managedObjectClassName = "NSManagedObject" }
        try with(first, [:]) { context in
            let milk = NSEntityDescription.insertNewObject(forEntityName: "Product", into: context)
            milk.setValue("Milk", forKey: "name")
            try context.save()
        }
        try with(ShopModel.shared, [NSMigratePersistentStoresAutomaticallyOption: true]) { context in
            let request: NSFetchRequest<Product> = Product.fetchRequest()
            let milk = try #require(try context.fetch(request).first)
            #expect(milk.name == "Milk" && milk.stock == 1)
        }
    }

    @Test func propertiesHoldTheirValues() throws {
        let context = try ShopModel.container().newBackgroundContext()
        try context.performAndWait {
            let milk = Perishable(context: context)
            milk.name = "Milk"
            milk.price = NSDecimalNumber(string: "1.19")
            milk.lasts = 7
            milk.stock = 3
            let order = Order(context: context)
            order.identifier = UUID()
            order.tags = ["fragile", "cold"]
            let customer = Customer(context: context)
            customer.email = "ada@example.com"
            customer.address = ["city": "London"]
            customer.addToOrders(order)
            order.addToProducts(milk)
            #expect(order.customer === customer && milk.orders?.contains(order) == true)
            #expect(customer.debt == Decimal(string: "1.19"))
            try context.save()
            context.reset()

            let request: NSFetchRequest<Order> = Order.fetchRequest()
            let read = try #require(try context.fetch(request).first)
            #expect(read.tags == ["fragile", "cold"] && !read.isPaid)
            #expect(read.placed == Date(timeIntervalSinceReferenceDate: 0))
            #expect(read.customer?.address?["city"] as? String == "London")
            #expect(read.customer?.orderCount == 1)
            let product = try #require(read.products?.firstObject as? Perishable)
            #expect(product.lasts == 7 && product.stock == 3 && product.name == "Milk")
            #expect(read.unpaid?.count == 1)
        }
    }

    @Test func toManyAccessorsChangeBothSides() throws {
        let context = try ShopModel.container().newBackgroundContext()
        context.performAndWait {
            let order = Order(context: context)
            let products = (0..<5).map { number in
                let product = Product(context: context)
                product.name = "\(number)"
                return product
            }
            let names = { (order.products?.array as? [Product] ?? []).compactMap(\.name).joined() }
            order.addToProducts(NSOrderedSet(array: [products[0], products[1]]))
            order.insertIntoProducts(products[2], at: 0)
            #expect(names() == "201")
            order.replaceProducts(at: 1, with: products[3])
            #expect(names() == "231")
            order.removeFromProducts(at: 0)
            order.insertIntoProducts(
                [products[0], products[4]], at: NSIndexSet(indexesIn: NSRange(location: 1, length: 2)))
            #expect(names() == "3041")
            order.replaceProducts(at: NSIndexSet(index: 0), with: [products[2]])
            order.removeFromProducts(at: NSIndexSet(index: 3))
            #expect(names() == "204" && products[3].orders?.count == 0)
            order.removeFromProducts(NSOrderedSet(array: [products[2]]))
            order.removeFromProducts(products[0])
            #expect(names() == "4")
            order.products = NSOrderedSet(array: [products[1], products[0]])
            #expect(names() == "10")
            order.products = nil
            #expect(names() == "" && products[1].orders?.count == 0)

            let customer = Customer(context: context)
            let others = (0..<3).map { _ in Order(context: context) }
            customer.addToOrders(NSSet(array: others))
            customer.removeFromOrders(others[0])
            #expect((customer.orders as? Set<Order>) == [others[1], others[2]] && others[0].customer == nil)
            customer.removeFromOrders(NSSet(object: others[1]))
            #expect(customer.orders?.count == 1)
        }
    }

    @Test func keyPathsHaveNames() throws {
        let context = try ShopModel.container().newBackgroundContext()
        try context.performAndWait {
            for number in 0..<3 {
                let product = Perishable(context: context)
                product.name = "\(number)"
                product.stock = Int32(number)
            }
            let request = try NSFetchRequest<Perishable>(
                predicate: #Predicate { $0.stock > 0 }, sortBy: [SortDescriptor(\.stock, order: .reverse)])
            #expect(try context.fetch(request).map(\.name) == ["2", "1"])
        }
    }

    @Test func templatesAndRulesOfTheModelCount() throws {
        let context = try ShopModel.container().newBackgroundContext()
        context.performAndWait {
            let customer = Customer(context: context)
            customer.email = "a"
            #expect(throws: (any Error).self) { try customer.validateForInsert() }
            customer.email = "a@b"
            #expect(throws: Never.self) { try customer.validateForInsert() }
        }
        #expect(ShopModel.shared.fetchRequestTemplate(forName: "paid")?.entityName == "Order")
    }

    @Test func objectsAreIdentifiable() {
        func isIdentifiable(_ type: Any.Type) -> Bool { type is any Identifiable.Type }
        #expect(isIdentifiable(Product.self) && isIdentifiable(Perishable.self) && isIdentifiable(Customer.self))
    }
}
