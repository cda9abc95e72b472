import CoreData
import Foundation
import Testing

// A ledger as tutorials write it: what comes out of requests is cast to what the tutorial casts it to.

private final class LedgerEntry: NSManagedObject {
    class func fetchRequest() -> NSFetchRequest<LedgerEntry> { NSFetchRequest<LedgerEntry>(entityName: "LedgerEntry") }
    var amount: Double { (value(forKey: "amount") as? Double) ?? 0 }
}

private final class LedgerAccount: NSManagedObject {
    var entries: Set<LedgerEntry> {
        get { value(forKey: "entries") as? Set<LedgerEntry> ?? [] }
        set { setValue(newValue, forKey: "entries") }
    }
}

@Suite struct LedgerClientTests {
    private static var model: NSManagedObjectModel {
        let account = GraphModel.entity("LedgerAccount", LedgerAccount.self)
        let entry = GraphModel.entity("LedgerEntry", LedgerEntry.self)
        let entries = GraphModel.relationship("entries", to: entry, toMany: true, rule: .cascadeDeleteRule)
        let owner = GraphModel.relationship("account", to: account)
        GraphModel.link(entries, owner)
        account.properties = [GraphModel.attribute("name", .stringAttributeType), entries]
        entry.properties = [
            GraphModel.attribute("amount", .doubleAttributeType, default: 0),
            GraphModel.attribute("units", .integer32AttributeType, default: 0),
            GraphModel.attribute("cents", .integer64AttributeType, default: 0),
            GraphModel.attribute("price", .decimalAttributeType),
            GraphModel.attribute("rate", .floatAttributeType, default: 0),
            GraphModel.attribute("isPaid", .booleanAttributeType, default: false),
            GraphModel.attribute("label", .stringAttributeType), GraphModel.attribute("day", .dateAttributeType), owner,
        ]
        let model = NSManagedObjectModel()
        model.entities = [account, entry]
        return model
    }

    /// Two accounts: A with the amounts 1, 2 and 3, B with 4 and 5.
    private static func filled(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext) {
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait {
            var amount = 0
            for (name, count) in [("A", 3), ("B", 2)] {
                let account = LedgerAccount(context: context)
                account.setValue(name, forKey: "name")
                for _ in 0..<count {
                    amount += 1
                    let entry = LedgerEntry(context: context)
                    entry.setValuesForKeys([
                        "amount": Double(amount), "units": amount * 2, "cents": amount * 100, "label": "e\(amount)",
                        "price": NSDecimalNumber(string: "\(amount).5"), "rate": Float(amount) / 2,
                        "isPaid": amount % 2 == 0, "day": Date(timeIntervalSinceReferenceDate: Double(amount)),
                        "account": account,
                    ])
                }
            }
            try context.save()
        }
        return (store, context)
    }

    private static func account(_ name: String, _ context: NSManagedObjectContext) throws -> LedgerAccount {
        let request = NSFetchRequest<LedgerAccount>(entityName: "LedgerAccount")
        request.predicate = NSPredicate(format: "name == %@", name)
        request.fetchLimit = 1
        return try #require(try context.fetch(request).first)
    }

    @Test(arguments: StoreKind.allCases)
    func setsBecomeSwiftSets(_ kind: StoreKind) throws {
        let (store, _) = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait {
            let account = try Self.account("A", context)
            #expect(account.entries.count == 3)
            #expect((account.value(forKey: "entries") as? NSSet)?.count == 3)
            #expect((account.value(forKey: "entries") as? Set<NSManagedObject>)?.count == 3)
            #expect((account.value(forKey: "entries") as? Set<LedgerEntry>) == account.entries)
            #expect((account.value(forKey: "entries") as? NSSet) as? Set<LedgerEntry> == account.entries)
            #expect((account.value(forKey: "entries") as? Set<AnyHashable>)?.count == 3)
            let mutable = account.mutableSetValue(forKey: "entries")
            #expect(mutable.count == 3)
            #expect((mutable.allObjects as? [LedgerEntry]).map { Set($0) } == account.entries)
            #expect((mutable.copy() as? Set<LedgerEntry>) == account.entries)
            #expect((mutable.copy() as? NSSet)?.count == 3)
            #expect((mutable.mutableCopy() as? NSMutableSet)?.count == 3)
            #expect(mutable.allObjects.count == 3 && mutable.allObjects is [LedgerEntry])
            #expect(Set(mutable.compactMap { ($0 as? LedgerEntry)?.amount }) == [1, 2, 3])
            #expect(mutable.filter { (($0 as? LedgerEntry)?.amount ?? 0) > 1 }.count == 2)
            #expect(mutable.filtered(using: NSPredicate(format: "amount > 1")).count == 2)
            #expect(mutable.isEqual(to: account.entries) && mutable.isSubset(of: account.entries))
            #expect((mutable.anyObject() as? LedgerEntry)?.value(forKey: "account") as? LedgerAccount === account)
            let sorted = mutable.sortedArray(using: [NSSortDescriptor(key: "amount", ascending: false)])
            #expect((sorted as? [LedgerEntry])?.map(\.amount) == [3, 2, 1])
            let entry = try #require(sorted.first as? LedgerEntry)
            mutable.remove(entry)
            #expect(mutable.copy() as? Set<LedgerEntry> == account.entries && account.entries.count == 2)
            account.mutableSetValue(forKeyPath: "entries").add(entry)
            #expect(account.entries.count == 3)
            let other = try Self.account("B", context)
            mutable.union(other.entries)
            #expect(account.entries.count == 5 && other.entries.isEmpty)
            try context.save()
            context.refreshAllObjects()
            #expect(mutable.copy() as? Set<LedgerEntry> == account.entries && account.entries.count == 5)
            account.entries = []
            #expect(mutable.count == 0 && mutable.allObjects.isEmpty)
            #expect((account.value(forKey: "entries") as? NSSet)?.count == 0)
        }
    }

    private func description(
        _ name: String, _ function: String, _ keyPath: String, _ type: NSAttributeType
    ) -> NSExpressionDescription {
        let keyPathExpression = NSExpression(forKeyPath: keyPath)
        let expressionDescription = NSExpressionDescription()
        expressionDescription.name = name
        expressionDescription.expression = NSExpression(forFunction: function, arguments: [keyPathExpression])
        expressionDescription.expressionResultType = type
        return expressionDescription
    }

    @Test(arguments: StoreKind.allCases)
    func valuesOfDictionariesAreOfAnyNumericType(_ kind: StoreKind) throws {
        let (store, context) = try Self.filled(kind)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "LedgerEntry")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["amount", "units", "cents", "price", "rate", "isPaid", "label", "day"]
            request.sortDescriptors = [NSSortDescriptor(key: "amount", ascending: true)]
            let row = try #require(try context.fetch(request).last)
            #expect(row["amount"] as? Double == 5 && row["amount"] as? Int == 5 && row["amount"] as? NSNumber == 5)
            #expect(row["units"] as? Int == 10 && row["units"] as? Int32 == 10 && row["units"] as? Int64 == 10)
            #expect(row["units"] as? Double == 10 && row["units"] as? Float == 10 && row["units"] as? UInt == 10)
            #expect(row["cents"] as? Int64 == 500 && row["cents"] as? Int == 500 && row["cents"] as? Int16 == 500)
            #expect(row["price"] as? Decimal == Decimal(string: "5.5") && row["price"] as? Double == 5.5)
            #expect((row["price"] as? NSDecimalNumber)?.stringValue == "5.5")
            #expect((row["price"] as? NSNumber)?.doubleValue == 5.5)
            #expect(row["rate"] as? Float == 2.5 && row["rate"] as? Double == 2.5)
            #expect(row["isPaid"] as? Bool == false && row["isPaid"] as? NSNumber == NSNumber(value: false))
            #expect(row["label"] as? String == "e5" && row["label"] as? NSString == "e5")
            #expect(row["day"] as? Date == Date(timeIntervalSinceReferenceDate: 5) && row["day"] is NSDate)
            #expect(row["label"] as? Int == nil && row["amount"] as? String == nil)
            #expect(row.object(forKey: "label") as? String == "e5" && row.allKeys.count == 8)
            #expect(row.value(forKey: "units") as? Int == 10)
            #expect((row as? [String: Any])?["units"] as? Int == 10)
            let swift = try #require(try context.fetch(request) as? [[String: Any]])
            #expect(swift.map { $0["units"] as? Int } == [2, 4, 6, 8, 10])
            #expect(swift.compactMap { $0["amount"] as? Double }.reduce(0, +) == 15)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func expressionsOfTutorials(_ kind: StoreKind) throws {
        let (store, context) = try Self.filled(kind)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "LedgerEntry")
            request.resultType = .dictionaryResultType
            request.returnsObjectsAsFaults = false
            let product = NSExpressionDescription()
            product.name = "value"
            product.expression = NSExpression(
                forFunction: "sum:",
                arguments: [
                    NSExpression(
                        forFunction: "multiply:by:",
                        arguments: [NSExpression(forKeyPath: "amount"), NSExpression(forKeyPath: "units")])
                ])
            product.expressionResultType = .doubleAttributeType
            let whole = NSExpressionDescription()
            whole.name = "rows"
            whole.expression = NSExpression(
                forFunction: "count:", arguments: [NSExpression.expressionForEvaluatedObject()])
            whole.expressionResultType = .integer32AttributeType
            request.propertiesToFetch = [
                description("total", "sum:", "amount", .doubleAttributeType),
                description("mean", "average:", "units", .doubleAttributeType),
                description("least", "min:", "cents", .integer64AttributeType),
                description("latest", "max:", "day", .dateAttributeType),
                description("count", "count:", "label", .integer16AttributeType),
                description("cost", "sum:", "price", .decimalAttributeType),
                description("untyped", "sum:", "units", .undefinedAttributeType), product, whole,
            ]
            let results = try context.fetch(request)
            let row = try #require(results.first as? [String: Any])
            #expect(results.count == 1)
            #expect(row["total"] as? Double == 15 && row["total"] as? Int == 15)
            #expect(row["mean"] as? Double == 6 && row["mean"] as? Float == 6)
            #expect(row["least"] as? Int64 == 100 && row["least"] as? Int == 100)
            #expect(row["latest"] as? Date == Date(timeIntervalSinceReferenceDate: 5))
            #expect(row["count"] as? Int == 5 && row["count"] as? Int16 == 5 && row["count"] as? Int64 == 5)
            #expect((row["cost"] as? NSDecimalNumber) == NSDecimalNumber(string: "17.5"))
            #expect(row["untyped"] as? Int == 30 && row["untyped"] as? Int64 == 30 && row["untyped"] as? Double == 30)
            #expect(row["value"] as? Double == 110)
            #expect(row["rows"] as? Int == 5)
            #expect((results.first as? NSDictionary)?.value(forKey: "total") as? Double == 15)
            #expect((results as? [[String: Any]])?.count == 1)

            let grouped = NSFetchRequest<NSDictionary>(entityName: "LedgerEntry")
            grouped.resultType = .dictionaryResultType
            grouped.propertiesToFetch = [
                "account.name", description("total", "sum:", "amount", .doubleAttributeType),
                description("n", "count:", "amount", .integer64AttributeType),
            ]
            grouped.propertiesToGroupBy = ["account.name"]
            grouped.sortDescriptors = [NSSortDescriptor(key: "account.name", ascending: false)]
            let groups = try context.fetch(grouped)
            #expect(groups.map { $0["account.name"] as? String } == ["B", "A"])
            #expect(groups.map { $0["total"] as? Double } == [9, 6])
            #expect(groups.map { $0["n"] as? Int } == [2, 3])
            grouped.havingPredicate = NSPredicate(format: "%@ > 7", NSExpression(forVariable: "total"))
            #expect(try context.fetch(grouped).map { $0["account.name"] as? String } == ["B"])

            let entity = try #require(NSEntityDescription.entity(forEntityName: "LedgerEntry", in: context))
            let distinct = NSFetchRequest<NSDictionary>(entityName: "LedgerEntry")
            distinct.resultType = .dictionaryResultType
            distinct.returnsDistinctResults = true
            distinct.propertiesToFetch = [try #require(entity.attributesByName["isPaid"])]
            distinct.sortDescriptors = [NSSortDescriptor(key: "isPaid", ascending: true)]
            #expect(try context.fetch(distinct).map { $0["isPaid"] as? Bool } == [false, true])

            let account = try Self.account("A", context)
            #expect(account.value(forKeyPath: "entries.@sum.amount") as? Double == 6)
            #expect(account.value(forKeyPath: "entries.@max.units") as? Int == 6)
            #expect((account.entries as NSSet).value(forKeyPath: "@avg.amount") as? Double == 2)
            let all = try context.fetch(LedgerEntry.fetchRequest())
            #expect((all as NSArray).value(forKeyPath: "@sum.amount") as? Double == 15)
            #expect(
                NSExpression(forKeyPath: "entries.@count").expressionValue(with: account, context: nil) as? Int == 3)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func requestsOfEveryGenericType(_ kind: StoreKind) async throws {
        let (store, _) = try Self.filled(kind)
        let context = store.context()
        try await context.perform {
            let typed: NSFetchRequest<LedgerEntry> = LedgerEntry.fetchRequest()
            typed.predicate = NSPredicate(format: "%K >= %@", LedgerEntryKeys.amount, NSNumber(value: 2))
            typed.sortDescriptors = [NSSortDescriptor(key: "amount", ascending: false)]
            #expect(try typed.execute().map(\.amount) == [5, 4, 3, 2])
            #expect(try context.fetch(typed).first?.amount == 5)
            #expect(try context.count(for: typed) == 4)
            let plain = NSFetchRequest<any NSFetchRequestResult>(entityName: "LedgerEntry")
            #expect((try context.fetch(plain) as? [LedgerEntry])?.count == 5)
            #expect((try plain.execute() as? [NSManagedObject])?.count == 5)
            plain.resultType = .countResultType
            #expect((try context.fetch(plain) as? [NSNumber])?.first?.intValue == 5)
            #expect(try context.fetch(plain).first as? Int == 5)
            let count = NSFetchRequest<NSNumber>(entityName: "LedgerEntry")
            count.resultType = .countResultType
            #expect(try context.fetch(count).first?.intValue == 5)
            #expect(try count.execute() == [5])
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "LedgerEntry")
            ids.resultType = .managedObjectIDResultType
            ids.sortDescriptors = [NSSortDescriptor(key: "amount", ascending: true)]
            let found = try ids.execute()
            #expect(found.map { context.object(with: $0).value(forKey: "amount") as? Double } == [1, 2, 3, 4, 5])
            let objects = NSFetchRequest<NSManagedObject>(entityName: "LedgerEntry")
            objects.predicate = NSPredicate(format: "SELF IN %@", found.prefix(2).map { $0 })
            #expect(try context.fetch(objects).count == 2)
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "LedgerEntry")
            dictionaries.resultType = .dictionaryResultType
            #expect(try dictionaries.execute().first?["label"] is String)
        }
    }
}

/// As generated code names keys.
private enum LedgerEntryKeys { static let amount = "amount" }
