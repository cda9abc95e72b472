import CoreData
import Foundation
import Testing

// A fluent query builder over plain managed objects, as many helpers have.

struct Query<Result: NSFetchRequestResult> {
    private let entityName: String
    private var predicates: [NSPredicate] = []
    private var sorts: [NSSortDescriptor] = []
    private var limit = 0
    private var offset = 0

    init(_ entityName: String) { self.entityName = entityName }

    func filter(_ format: String, _ arguments: Any...) -> Self {
        with { $0.predicates.append(NSPredicate(format: format, argumentArray: arguments)) }
    }
    func filter(_ predicate: NSPredicate) -> Self { with { $0.predicates.append(predicate) } }
    func sorted(by key: String, ascending: Bool = true) -> Self {
        with { $0.sorts.append(NSSortDescriptor(key: key, ascending: ascending)) }
    }
    func limited(_ limit: Int, offset: Int = 0) -> Self {
        with {
            $0.limit = limit
            $0.offset = offset
        }
    }
    private func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }

    var request: NSFetchRequest<Result> {
        let request = NSFetchRequest<Result>(entityName: entityName)
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: predicates)
        request.sortDescriptors = sorts
        request.fetchLimit = limit
        request.fetchOffset = offset
        return request
    }

    func all(in context: NSManagedObjectContext) throws -> [Result] { try context.fetch(request) }
    func count(in context: NSManagedObjectContext) throws -> Int { try context.count(for: request) }

    func aggregate(_ function: String, _ key: String, in context: NSManagedObjectContext) throws -> NSNumber? {
        let expression = NSExpressionDescription()
        expression.name = "result"
        expression.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: key)])
        expression.expressionResultType = .doubleAttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: entityName)
        request.predicate = self.request.predicate
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [expression]
        return try context.fetch(request).first?["result"] as? NSNumber
    }

    func distinct(_ key: String, in context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entityName)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [key]
        request.returnsDistinctResults = true
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        let rows = try context.fetch(request) as? [[String: Any]] ?? []
        return rows.compactMap { $0[key] as? String }
    }
}

enum ShopModel {
    static let shared = make()

    static func make() -> NSManagedObjectModel {
        func attribute(
            _ name: String, _ type: NSAttributeType, optional: Bool = true, initial: Any? = nil
        ) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = optional
            attribute.defaultValue = initial
            return attribute
        }
        func relation(
            _ name: String, _ target: NSEntityDescription, many: Bool, rule: NSDeleteRule
        ) -> NSRelationshipDescription {
            let relation = NSRelationshipDescription()
            relation.name = name
            relation.destinationEntity = target
            relation.minCount = 0
            relation.maxCount = many ? 0 : 1
            relation.deleteRule = rule
            return relation
        }
        let customer = NSEntityDescription()
        customer.name = "Customer"
        let order = NSEntityDescription()
        order.name = "Order"
        let item = NSEntityDescription()
        item.name = "Item"
        let orders = relation("orders", order, many: true, rule: .cascadeDeleteRule)
        let buyer = relation("customer", customer, many: false, rule: .nullifyDeleteRule)
        orders.inverseRelationship = buyer
        buyer.inverseRelationship = orders
        let items = relation("items", item, many: true, rule: .cascadeDeleteRule)
        let owner = relation("order", order, many: false, rule: .nullifyDeleteRule)
        items.inverseRelationship = owner
        owner.inverseRelationship = items
        customer.properties = [
            attribute("email", .stringAttributeType, optional: false), attribute("name", .stringAttributeType),
            attribute("vip", .booleanAttributeType, initial: false), attribute("city", .stringAttributeType), orders,
        ]
        customer.uniquenessConstraints = [["email"]]
        order.properties = [
            attribute("number", .integer64AttributeType, optional: false, initial: 0),
            attribute("placed", .dateAttributeType),
            attribute("status", .stringAttributeType, initial: "open"), buyer, items,
        ]
        item.properties = [
            attribute("sku", .stringAttributeType), attribute("price", .doubleAttributeType, initial: 0.0),
            attribute("quantity", .integer32AttributeType, initial: 1), owner,
        ]
        let model = NSManagedObjectModel()
        model.entities = [customer, order, item]
        return model
    }

    static func container(
        _ kind: StoreKind = .memory, model: NSManagedObjectModel = shared
    ) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Shop", managedObjectModel: model)
        let description = NSPersistentStoreDescription()
        description.type = kind == .memory ? NSInMemoryStoreType : NSSQLiteStoreType
        if kind == .log {
            description.url = ProcessFolder.url.appendingPathComponent("shop-\(UUID().uuidString).sqlite")
        }
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { description, error in
            failure = error
        }
        if let failure { throw failure }
        return container
    }

    static func fill(_ context: NSManagedObjectContext) throws {
        for (index, name) in ["Ada", "Bob", "Ćeda"].enumerated() {
            let customer = NSEntityDescription.insertNewObject(forEntityName: "Customer", into: context)
            customer.setValuesForKeys([
                "email": "\(name.lowercased())@example.com", "name": name, "city": index < 2 ? "Oslo" : "Rome",
            ])
            for number in 0..<(index + 1) {
                let order = NSManagedObject(
                    entity: NSEntityDescription.entity(forEntityName: "Order", in: context)!, insertInto: context)
                order.setValue(index * 10 + number, forKey: "number")
                order.setValue(Date(timeIntervalSinceReferenceDate: Double(number) * 86400), forKey: "placed")
                order.setValue(customer, forKey: "customer")
                for line in 1...2 {
                    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                    item.setValue("sku-\(line)", forKey: "sku")
                    item.setValue(Double(line) * 2.5, forKey: "price")
                    item.setValue(NSNumber(value: line + number), forKey: "quantity")
                    order.mutableSetValue(forKey: "items").add(item)
                }
            }
        }
        try context.save()
    }
}

@MainActor
@Suite struct QueryClientTests {
    @Test(arguments: StoreKind.allCases)
    func queriesInEveryNotation(_ kind: StoreKind) throws {
        let context = try ShopModel.container(kind).viewContext
        try ShopModel.fill(context)
        let customers = Query<NSManagedObject>("Customer")
        let orders = Query<NSManagedObject>("Order")
        func names(_ query: Query<NSManagedObject>) throws -> [String] {
            try query.sorted(by: "name").all(in: context).compactMap { $0.value(forKey: "name") as? String }
        }
        #expect(try names(customers.filter("%K == %@", "city", "Oslo")) == ["Ada", "Bob"])
        #expect(try names(customers.filter("name CONTAINS[cd] %@", "ceda")) == ["Ćeda"])
        #expect(try names(customers.filter("name IN %@", ["Ada", "Zoe"])) == ["Ada"])
        #expect(try names(customers.filter("name IN %@", Set(["Ada", "Bob"]))) == ["Ada", "Bob"])
        #expect(try names(customers.filter("ANY orders.number == %d", 10)) == ["Bob"])
        #expect(try names(customers.filter("orders.@count >= %d", 2)) == ["Bob", "Ćeda"])
        #expect(
            try names(customers.filter("SUBQUERY(orders, $o, $o.number > 10 AND $o.status == 'open').@count > 0")) == [
                "Bob", "Ćeda",
            ])
        #expect(try names(customers.filter("ANY orders.items.sku LIKE %@", "sku-*")) == ["Ada", "Bob", "Ćeda"])
        #expect(try names(customers.filter("vip == %@", NSNumber(value: false))) == ["Ada", "Bob", "Ćeda"])
        #expect(try names(customers.filter("vip == YES OR name MATCHES %@", "B.*")) == ["Bob"])
        #expect(try names(customers.filter("NOT (city BEGINSWITH 'O')")) == ["Ćeda"])
        #expect(
            try names(customers.filter("email ENDSWITH %@", "example.com").filter("city != nil").limited(1)) == ["Ada"])
        let day = Date(timeIntervalSinceReferenceDate: 86400)
        #expect(
            try orders.filter("placed >= %@ AND placed < %@", day, day.addingTimeInterval(86400)).count(in: context)
                == 2)
        #expect(try orders.filter("number BETWEEN %@", [10, 20]).count(in: context) == 3)
        #expect(
            try orders.filter("customer.name == %@", "Bob").filter("items.@sum.quantity > 3").count(in: context) == 1)
        let bob = try #require(try customers.filter("name == %@", "Bob").all(in: context).first)
        #expect(try orders.filter("customer == %@", bob).count(in: context) == 2)
        #expect(try orders.filter("customer == %@", bob.objectID).count(in: context) == 2)
        #expect(try customers.filter("SELF == %@", bob).count(in: context) == 1)
        #expect(try customers.filter("self IN %@", [bob.objectID]).count(in: context) == 1)
        #expect(try customers.filter(NSPredicate(value: false)).count(in: context) == 0)
        #expect(try orders.filter("customer = nil").count(in: context) == 0)
        let comparison = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "name"), rightExpression: NSExpression(forConstantValue: "ADA"),
            modifier: .direct, type: .equalTo, options: [.caseInsensitive, .diacriticInsensitive])
        #expect(try names(customers.filter(comparison)) == ["Ada"])
        let any = NSCompoundPredicate(orPredicateWithSubpredicates: [
            NSPredicate(format: "name == %@", "Ada"),
            NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "city == %@", "Oslo")),
        ])
        #expect(try names(customers.filter(any)) == ["Ada", "Ćeda"])
        let template = NSPredicate(format: "city == $CITY AND name == $NAME")
        #expect(
            try names(customers.filter(template.withSubstitutionVariables(["CITY": "Oslo", "NAME": "Bob"]))) == ["Bob"])
        #expect(try customers.sorted(by: "name", ascending: false).limited(1, offset: 1).all(in: context).first === bob)
    }

    @Test(arguments: StoreKind.allCases)
    func aggregatesAndGroups(_ kind: StoreKind) throws {
        let context = try ShopModel.container(kind).viewContext
        try ShopModel.fill(context)
        let items = Query<NSManagedObject>("Item")
        #expect(try items.aggregate("sum:", "price", in: context) == 45)
        #expect(try items.aggregate("max:", "quantity", in: context) == 4)
        #expect(try items.aggregate("min:", "quantity", in: context) == 1)
        #expect(try items.filter("sku == 'sku-1'").aggregate("average:", "price", in: context) == 2.5)
        #expect(try items.aggregate("count:", "sku", in: context) == 12)
        #expect(try Query<NSManagedObject>("Customer").distinct("city", in: context) == ["Oslo", "Rome"])

        let total = NSExpressionDescription()
        total.name = "total"
        total.expression = NSExpression(format: "sum:(quantity)")
        total.expressionResultType = .integer64AttributeType
        let count = NSExpressionDescription()
        count.name = "count"
        count.expression = NSExpression(forFunction: "count:", arguments: [NSExpression.expressionForEvaluatedObject()])
        count.expressionResultType = .integer32AttributeType
        let request: NSFetchRequest<NSDictionary> = NSFetchRequest(entityName: "Item")
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = ["sku"]
        request.propertiesToFetch = ["sku", total, count]
        request.havingPredicate = NSPredicate(format: "%@ > 10", NSExpression(forVariable: "total"))
        request.sortDescriptors = [NSSortDescriptor(key: "sku", ascending: true)]
        let rows = try context.fetch(request)
        #expect(rows.map { $0["sku"] as? String } == ["sku-2"])
        #expect(rows.first?["total"] as? Int == 16)
        #expect(rows.first?["count"] as? Int == 6)

        let ids = NSExpressionDescription()
        ids.name = "objectID"
        ids.expression = NSExpression.expressionForEvaluatedObject()
        ids.expressionResultType = .objectIDAttributeType
        let withIDs = NSFetchRequest<NSDictionary>(entityName: "Customer")
        withIDs.resultType = .dictionaryResultType
        withIDs.propertiesToFetch = ["name", ids]
        withIDs.predicate = NSPredicate(format: "name = %@", "Bob")
        let row = try #require(try context.fetch(withIDs).first)
        let id = try #require(row["objectID"] as? NSManagedObjectID)
        #expect(context.object(with: id).value(forKey: "name") as? String == "Bob")

        let idRequest = NSFetchRequest<NSManagedObjectID>(entityName: "Customer")
        idRequest.resultType = .managedObjectIDResultType
        #expect(try context.fetch(idRequest).contains(id))
        let countRequest = NSFetchRequest<NSNumber>(entityName: "Customer")
        countRequest.resultType = .countResultType
        #expect(try context.fetch(countRequest).first?.intValue == 3)
        let keyed = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Customer"))
        let grouped = Dictionary(grouping: keyed) { $0.value(forKey: "city") as? String ?? "" }
        #expect(grouped["Oslo"]?.count == 2)
        let byObject = Dictionary(uniqueKeysWithValues: keyed.map { ($0, $0.objectID) })
        #expect(byObject[context.object(with: id)] == id)
        #expect((keyed as NSArray).filtered(using: NSPredicate(format: "city == %@", "Rome")).count == 1)
        #expect(
            (keyed as NSArray).value(forKeyPath: "@distinctUnionOfObjects.city") as? [String] == ["Oslo", "Rome"]
                || (keyed as NSArray).value(forKeyPath: "@distinctUnionOfObjects.city") as? [String] == [
                    "Rome", "Oslo",
                ])
        let sorted = (keyed as NSArray).sortedArray(using: [NSSortDescriptor(key: "name", ascending: false)])
        #expect((sorted.first as? NSManagedObject)?.value(forKey: "name") as? String == "Ćeda")
    }
}
