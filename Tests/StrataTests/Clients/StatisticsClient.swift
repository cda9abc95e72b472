import CoreData
import Foundation
import Testing

// Statistics: dictionaries of aggregates with groups and having, collection operators in keys, subqueries, fetched
// properties, pages of what is stored and what is not saved yet.

@Suite struct StatisticsClientTests {
    private static func model() -> NSManagedObjectModel {
        let shop = GraphModel.entity("Shop")
        let sale = GraphModel.entity("Sale")
        let sales = GraphModel.relationship("sales", to: sale, toMany: true, rule: .cascadeDeleteRule)
        let shopOf = GraphModel.relationship("shop", to: shop)
        GraphModel.link(sales, shopOf)
        let large = NSFetchedPropertyDescription()
        large.name = "largeSales"
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Sale")
        request.entity = sale
        request.predicate = NSPredicate(format: "shop == $FETCH_SOURCE AND amount >= $FETCHED_PROPERTY.userInfo.limit")
        request.sortDescriptors = [NSSortDescriptor(key: "amount", ascending: false)]
        large.fetchRequest = request
        large.userInfo = ["limit": 30]
        shop.properties = [
            GraphModel.attribute("name", .stringAttributeType), GraphModel.attribute("city", .stringAttributeType),
            sales,
            large,
        ]
        sale.properties = [
            GraphModel.attribute("amount", .integer32AttributeType, default: 0),
            GraphModel.attribute("kind", .stringAttributeType), GraphModel.attribute("day", .dateAttributeType), shopOf,
        ]
        let model = NSManagedObjectModel()
        model.entities = [shop, sale]
        return model
    }

    private static func sell(
        _ amount: Int, _ kind: String?, at shop: NSManagedObject?, _ context: NSManagedObjectContext
    ) {
        let sale = NSEntityDescription.insertNewObject(forEntityName: "Sale", into: context)
        sale.setValue(amount, forKey: "amount")
        sale.setValue(kind, forKey: "kind")
        sale.setValue(Date(timeIntervalSinceReferenceDate: Double(amount)), forKey: "day")
        sale.setValue(shop, forKey: "shop")
    }

    /// Shop "a" in x sells 10, 20 and 30 of tea and 40 of coffee, "b" in x 5 of tea, "c" in y nothing.
    private func filled(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext) {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.check { () throws in
            let shops = [("a", "x"), ("b", "x"), ("c", "y")].map { name, city in
                let shop = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context)
                shop.setValuesForKeys(["name": name, "city": city])
                return shop
            }
            for amount in [10, 20, 30] { Self.sell(amount, "tea", at: shops[0], context) }
            Self.sell(40, "coffee", at: shops[0], context)
            Self.sell(5, "tea", at: shops[1], context)
            try context.save()
        }
        return (store, context)
    }

    private func column(
        _ name: String, _ function: String, _ key: String, _ type: NSAttributeType
    ) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: key)])
        column.expressionResultType = type
        return column
    }

    private func shop(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(
            try fetchAll(NSManagedObject.self, "Shop", context, NSPredicate(format: "name == %@", name)).first)
    }

    @Test(arguments: StoreKind.allCases) func salesByKind(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Sale")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [
                "kind", column("sum", "sum:", "amount", .integer64AttributeType),
                column("count", "count:", "amount", .integer64AttributeType),
                column("average", "average:", "amount", .doubleAttributeType),
                column("least", "min:", "amount", .integer32AttributeType),
                column("last", "max:", "day", .dateAttributeType),
            ]
            request.propertiesToGroupBy = ["kind"]
            request.sortDescriptors = [NSSortDescriptor(key: "kind", ascending: true)]
            let rows = try context.fetch(request)
            #expect(rows.map { $0["kind"] as? String } == ["coffee", "tea"])
            #expect(rows.map { $0["sum"] as? Int } == [40, 65] && rows.map { $0["count"] as? Int } == [1, 4])
            #expect(
                rows.map { $0["average"] as? Double } == [40, 16.25] && rows.map { $0["least"] as? Int } == [40, 5])
            #expect(rows.map { ($0["last"] as? Date)?.timeIntervalSinceReferenceDate } == [40, 30])
            request.havingPredicate = NSPredicate(format: "count:(amount) > 1")
            #expect(try context.fetch(request).map { $0["kind"] as? String } == ["tea"])
            request.havingPredicate = NSPredicate(format: "$sum > 50")
            request.predicate = NSPredicate(format: "amount > 5")
            #expect(try context.fetch(request).map { $0["sum"] as? Int } == [60])
        }
        withExtendedLifetime(store) {}
    }

    /// "For dictionaries, the array reflects the current state in the persistent store, and does not take into account
    /// any pending changes, insertions, or deletions in the context."
    @Test(arguments: StoreKind.allCases) func dictionariesAreOfWhatIsStored(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Sale")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [column("sum", "sum:", "amount", .integer64AttributeType)]
            #expect(try context.fetch(request).map { $0["sum"] as? Int } == [105])
            Self.sell(1000, "tea", at: nil, context)
            #expect(try context.fetch(request).map { $0["sum"] as? Int } == [105])
            try context.save()
            #expect(try context.fetch(request).map { $0["sum"] as? Int } == [1105])
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func operatorsInKeys(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            let (a, c) = (try shop("a", context), try shop("c", context))
            #expect(
                a.value(forKeyPath: "sales.@count") as? Int == 4 && c.value(forKeyPath: "sales.@count") as? Int == 0)
            #expect(a.value(forKeyPath: "sales.@sum.amount") as? Int == 100)
            #expect(a.value(forKeyPath: "sales.@avg.amount") as? Double == 25)
            #expect(a.value(forKeyPath: "sales.@max.amount") as? Int == 40)
            #expect((a.value(forKeyPath: "sales.@min.day") as? Date)?.timeIntervalSinceReferenceDate == 10)
            #expect(
                c.value(forKeyPath: "sales.@sum.amount") as? Int == 0 && c.value(forKeyPath: "sales.@max.amount") == nil
            )
            let kinds = a.value(forKeyPath: "sales.@distinctUnionOfObjects.kind")
            let names =
                (kinds as? Set<String>).map(Array.init) ?? (kinds as? NSSet)?.allObjects as? [String]
                ?? kinds as? [String]
            #expect(names?.sorted() == ["coffee", "tea"])
            let amounts = a.value(forKeyPath: "sales.amount") as? Set<Int>
            #expect(amounts == [10, 20, 30, 40])
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func shopsByTheirSales(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            func names(_ format: String, _ arguments: Any...) throws -> [String] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Shop")
                request.predicate = NSPredicate(format: format, argumentArray: arguments)
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
            }
            #expect(try names("sales.@count == 0") == ["c"] && names("sales.@count > %d", 1) == ["a"])
            #expect(try names("ANY sales.kind == %@", "tea") == ["a", "b"])
            #expect(try names("NONE sales.kind == %@", "coffee") == ["b", "c"])
            #expect(try names("SUBQUERY(sales, $s, $s.amount > 5 AND $s.kind == 'tea').@count >= 2") == ["a"])
            #expect(try names("sales.@sum.amount > 50") == ["a"] && names("sales.@max.amount == 5") == ["b"])
            #expect(try names("ANY sales.amount BETWEEN %@", [15, 25]) == ["a"])
            #expect(try names("name IN %@ AND city BEGINSWITH[cd] 'X'", ["a", "c"]) == ["a"])
            #expect(try names("(name CONTAINS 'b') OR (city LIKE 'y*')") == ["b", "c"])
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func fetchedPropertiesAreSortedAndLimited(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            let a = try shop("a", context)
            let large = try #require(a.value(forKey: "largeSales") as? [NSManagedObject])
            #expect(large.map { $0.value(forKey: "amount") as? Int } == [40, 30])
            #expect((try shop("c", context).value(forKey: "largeSales") as? [NSManagedObject])?.isEmpty == true)
        }
        withExtendedLifetime(store) {}
    }

    /// Pages are cut out of what is stored and what is pending together.
    @Test(arguments: StoreKind.allCases) func pagesHaveWhatIsPending(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            let all = try fetchAll(NSManagedObject.self, "Sale", context, sort: "amount")
            Self.sell(15, "new", at: nil, context)
            context.delete(all[1])
            all[4].setValue(1, forKey: "amount")
            func page(_ offset: Int, _ limit: Int) throws -> [Int?] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Sale")
                request.sortDescriptors = [NSSortDescriptor(key: "amount", ascending: true)]
                (request.fetchOffset, request.fetchLimit) = (offset, limit)
                return try context.fetch(request).map { $0.value(forKey: "amount") as? Int }
            }
            #expect(try page(0, 0) == [1, 5, 15, 20, 30])
            #expect(try page(0, 2) == [1, 5] && page(2, 2) == [15, 20] && page(4, 2) == [30] && page(5, 2) == [])
            #expect(try page(3, 0) == [20, 30])
            let stored = NSFetchRequest<NSManagedObject>(entityName: "Sale")
            stored.includesPendingChanges = false
            #expect(try context.count(for: stored) == 5)
            stored.includesPendingChanges = true
            stored.predicate = NSPredicate(format: "kind == 'new' OR amount == 1")
            #expect(try context.count(for: stored) == 2)
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Sale")
            ids.resultType = .managedObjectIDResultType
            #expect(try context.fetch(ids).filter(\.isTemporaryID).count == 1)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func neighboursAndPropertiesAreBroughtAlong(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Sale")
            request.relationshipKeyPathsForPrefetching?.append("shop")
            #expect(request.relationshipKeyPathsForPrefetching == ["shop"])
            request.returnsObjectsAsFaults = false
            request.fetchBatchSize = 2
            let sales = try context.fetch(request)
            #expect(sales.count == 5)
            let shops = Set(sales.compactMap { $0.value(forKey: "shop") as? NSManagedObject })
            #expect(shops.count == 2)
            #expect(sales.allSatisfy { $0.hasFault(forRelationshipNamed: "shop") == false })
        }
        withExtendedLifetime(store) {}
    }
}
