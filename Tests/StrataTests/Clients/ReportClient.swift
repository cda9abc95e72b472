import CoreData
import Foundation
import Testing

// A report over sales: groups, totals, key-path operators, subqueries, counts by section, batch edits.

@Suite struct ReportClientTests {
    private static var model: NSManagedObjectModel {
        let region = GraphModel.entity("Region")
        let sale = GraphModel.entity("Sale")
        let sales = GraphModel.relationship("sales", to: sale, toMany: true, rule: .cascadeDeleteRule)
        let regionOf = GraphModel.relationship("region", to: region)
        GraphModel.link(sales, regionOf)
        region.properties = [GraphModel.attribute("name", .stringAttributeType, optional: false), sales]
        sale.properties = [
            GraphModel.attribute("amount", .doubleAttributeType, default: 0),
            GraphModel.attribute("product", .stringAttributeType),
            GraphModel.attribute("day", .integer32AttributeType, default: 0), regionOf,
        ]
        let model = NSManagedObjectModel()
        model.entities = [region, sale]
        return model
    }

    private static func fill(_ context: NSManagedObjectContext) throws {
        for (index, name) in ["North", "South", "West"].enumerated() {
            let region = NSEntityDescription.insertNewObject(forEntityName: "Region", into: context)
            region.setValue(name, forKey: "name")
            for day in 0..<(index * 2) {
                let sale = NSEntityDescription.insertNewObject(forEntityName: "Sale", into: context)
                sale.setValuesForKeys([
                    "amount": Double(day + 1) * 10, "product": day % 2 == 0 ? "tea" : "coffee", "day": day,
                ])
                sale.setValue(region, forKey: "region")
            }
        }
        try context.save()
    }

    private static func expression(
        _ name: String, _ function: String, _ keyPath: String, _ type: NSAttributeType
    ) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(
            forFunction: function, arguments: [NSExpression(forKeyPath: keyPath)])
        description.expressionResultType = type
        return description
    }

    @Test(arguments: StoreKind.allCases)
    func totalsByProduct(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        try context.performAndWait {
            try Self.fill(context)
            let request = NSFetchRequest<NSDictionary>(entityName: "Sale")
            request.resultType = .dictionaryResultType
            request.propertiesToGroupBy = ["product"]
            request.propertiesToFetch = [
                "product", Self.expression("total", "sum:", "amount", .doubleAttributeType),
                Self.expression("best", "max:", "amount", .doubleAttributeType),
                Self.expression("count", "count:", "amount", .integer64AttributeType),
                Self.expression("mean", "average:", "amount", .doubleAttributeType),
            ]
            request.sortDescriptors = [NSSortDescriptor(key: "product", ascending: true)]
            let rows = try context.fetch(request)
            #expect(rows.map { $0["product"] as? String } == ["coffee", "tea"])
            #expect(rows.map { $0["total"] as? Double } == [80, 50])
            #expect(rows.map { $0["best"] as? Double } == [40, 30])
            #expect(rows.map { $0["count"] as? Int } == [3, 3] && rows.map { $0["count"] as? Double } == [3, 3])
            #expect(rows.map { ($0["mean"] as? Double).map { Int($0 * 3) } } == [80, 50])
            request.havingPredicate = NSPredicate(format: "amount.@sum > 60")
            _ = try? context.fetch(request)
            request.havingPredicate = nil
            request.predicate = NSPredicate(format: "region.name == %@", "South")
            #expect(try context.fetch(request).map { $0["total"] as? Double } == [20, 10])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func operatorsAndSubqueries(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        try context.performAndWait {
            try Self.fill(context)
            let regions = NSFetchRequest<NSManagedObject>(entityName: "Region")
            regions.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            let all = try context.fetch(regions)
            #expect(all.map { $0.value(forKey: "name") as? String } == ["West", "South", "North"])
            #expect(all.map { $0.value(forKeyPath: "sales.@sum.amount") as? Double } == [100, 30, 0])
            #expect(all.map { $0.value(forKeyPath: "sales.@count") as? Int } == [4, 2, 0])
            // Any type of number that can hold it.
            #expect(all.map { $0.value(forKeyPath: "sales.@count") as? Double } == [4, 2, 0])
            #expect(all.map { $0.value(forKeyPath: "sales.@sum.day") as? Int16 } == [6, 1, 0])
            #expect(NSExpression(format: "7 + 2").expressionValue(with: nil, context: nil) as? Double == 9)
            #expect(NSExpression(format: "7 + 2").expressionValue(with: nil, context: nil) as? Int == 9)
            #expect(NSExpression(forConstantValue: 3).expressionValue(with: nil, context: nil) as? Float == 3)
            #expect(([1, 5, 2] as NSArray).value(forKeyPath: "@max.self") as? Double == 5)
            #expect((all[0].value(forKeyPath: "sales.@max.day") as? NSNumber)?.intValue == 3)
            #expect(
                all[0].value(forKeyPath: "sales.@distinctUnionOfObjects.product") != nil)
            #expect(
                (all as NSArray).value(forKeyPath: "@unionOfObjects.name") as? [String] == ["West", "South", "North"])
            func names(_ format: String, _ arguments: Any...) throws -> [String] {
                regions.predicate = NSPredicate(format: format, argumentArray: arguments)
                return try context.fetch(regions).compactMap { $0.value(forKey: "name") as? String }
            }
            #expect(try names("ANY sales.amount > %@", 25) == ["West"])
            #expect(try names("sales.@count == 0") == ["North"])
            #expect(try names("SUBQUERY(sales, $s, $s.product == %@ AND $s.day > %d).@count > 0", "tea", 0) == ["West"])
            #expect(try names("NONE sales.product == 'coffee'") == ["North"])
            #expect(try names("name IN %@", ["North", "West"]) == ["West", "North"])
            #expect(try names("name BETWEEN %@", ["N", "T"]) == ["South", "North"])
            #expect(try names("name BEGINSWITH[c] 'n' OR name ENDSWITH 'st'") == ["West", "North"])
            #expect(try names("sales.@sum.amount >= 30") == ["West", "South"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func batchEditsReachOpenContexts(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let view = store.context()
        let background = store.context()
        try view.performAndWait {
            try Self.fill(view)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Sale")
            request.predicate = NSPredicate(format: "product == 'tea'")
            let tea = try view.fetch(request)
            #expect(tea.count == 3 && tea.allSatisfy { $0.value(forKey: "amount") as? Double != 0 })
            let ids: [NSManagedObjectID] = try background.performAndWait {
                let update = NSBatchUpdateRequest(entityName: "Sale")
                update.predicate = NSPredicate(format: "product == %@", "tea")
                update.propertiesToUpdate = [
                    "amount": NSExpression(
                        forFunction: "multiply:by:",
                        arguments: [NSExpression(forKeyPath: "amount"), NSExpression(forConstantValue: 2)])
                ]
                update.resultType = .updatedObjectIDsResultType
                let result = try background.execute(update) as? NSBatchUpdateResult
                return result?.result as? [NSManagedObjectID] ?? []
            }
            #expect(Set(ids) == Set(tea.map(\.objectID)))
            let before = tea.reduce(0) { $0 + ($1.value(forKey: "amount") as? Double ?? 0) }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [view])
            let after = tea.reduce(0) { $0 + ($1.value(forKey: "amount") as? Double ?? 0) }
            #expect(after == before * 2)
            let insert = NSBatchInsertRequest(
                entityName: "Sale", objects: (0..<5).map { ["product": "milk", "amount": Double($0)] })
            insert.resultType = .count
            #expect((try view.execute(insert) as? NSBatchInsertResult)?.result as? Int == 5)
            request.predicate = NSPredicate(format: "product = 'milk' AND region == nil")
            #expect(try view.count(for: request) == 5)
        }
    }
}
