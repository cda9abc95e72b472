import CoreData
import Foundation
import Testing

/// Functions of constants, and groups chosen by the names of fetched expressions.
@Suite struct FetchFunctionTests {
    private static func filled(_ kind: StoreKind) throws -> TestStore {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            for index in 0..<10 {
                let employee = insert("Employee", context)
                employee.setValue(index % 3 == 0 ? "ONE" : "\(index)", forKey: "name")
                employee.setValue(index % 3, forKey: "age")
            }
            try context.save()
        }
        return store
    }

    private static func total(_ name: String = "total", _ format: String = "count:(SELF)") -> NSExpressionDescription {
        let total = NSExpressionDescription()
        total.name = name
        total.expression = NSExpression(format: format)
        total.expressionResultType = .integer64AttributeType
        return total
    }

    @Test(
        arguments: StoreKind.allCases,
        [
            ("total > 3", 1), ("$total > 3", 1), ("total == 3", 2), ("NOT total == 3", 1), ("total > 3 OR age == 1", 2),
            ("total + 1 > 4", 1), ("4 == total", 1), ("total BETWEEN {3, 4}", 3), ("total IN {4, 5}", 1),
            ("total == abs:(0 - 3)", 2), ("total > highest", 3), ("highest == 2", 1), ("sum:(age) > 3", 1),
            ("total == nil", 0), ("now() > CAST(0, 'NSDate')", 3),
        ])
    func havingNamesFetchedExpressions(_ kind: StoreKind, _ condition: (format: String, groups: Int)) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
            request.resultType = .dictionaryResultType
            request.propertiesToGroupBy = ["age"]
            request.propertiesToFetch = ["age", Self.total(), Self.total("highest", "max:(age)")]
            request.havingPredicate = NSPredicate(format: condition.format)
            #expect(try context.fetch(request).count == condition.groups)
            #expect(try context.count(for: request) == condition.groups)
            request.havingPredicate = NSPredicate(format: "totl > 3")
            #expect(throws: CocoaError.self) { try context.fetch(request) }
        }
    }

    /// A property of the entity goes before an expression of its name, as in SQL.
    @Test func havingPrefersProperties() throws {
        let store = try Self.filled(.memory)
        let context = store.context()
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
            request.resultType = .dictionaryResultType
            request.propertiesToGroupBy = ["age"]
            request.propertiesToFetch = [Self.total("age")]
            request.havingPredicate = NSPredicate(format: "age > 3")
            #expect((try? context.fetch(request).count) ?? 0 == 0)
        }
    }

    @Test(
        arguments: StoreKind.allCases,
        [
            ("name == now()", 0), ("age == now()", 0), ("age < now()", 10), ("now() > age", 10),
            ("name == uppercase('one')", 4), ("name IN {uppercase('one'), lowercase('4')}", 5), ("age == 1 + 1", 3),
            ("age == abs:(-2)", 3), ("name == 2 * 2", 1), ("age IN now()", 0), ("name IN now()", 0),
            ("age == uppercase('x')", 0), ("age BETWEEN {1, 1 + 1}", 6), ("age == 1 / 0", 0),
            ("NOT (name == now())", 10),
            ("department == now()", 0), ("age == length('ab')", 3), ("uppercase('one') == name", 4),
            ("ANY projects.code == now()", 0), ("name CONTAINS now()", 0), ("name LIKE uppercase('o*')", 4),
        ])
    func functionsOfConstantsAreTakenEverywhere(_ kind: StoreKind, _ condition: (format: String, count: Int)) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        let entity = try #require(store.model.entitiesByName["Employee"])
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        let predicate = try NSPredicate(validating: condition.format, for: entity)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        request.predicate = predicate
        try context.performAndWait { () throws in
            #expect(try context.fetch(request).count == condition.count)
            #expect(try context.count(for: request) == condition.count)
        }
        #expect(try child.performAndWait { try child.count(for: request) } == condition.count)
        // The same of unsaved objects.
        try context.performAndWait {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee")) {
                object.setValue(object.value(forKey: "name"), forKey: "name")
                object.setValue("x", forKey: "nickname")
            }
            #expect(try context.count(for: request) == condition.count)
        }
        let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Employee"))
        delete.fetchRequest.predicate = predicate
        delete.resultType = .resultTypeCount
        context.performAndWait { context.rollback() }
        let deleted = try context.performAndWait { try context.execute(delete) as? NSBatchDeleteResult }
        #expect(deleted?.result as? Int == condition.count)
    }

    /// Constants that the program wrote are still checked.
    @Test func mistakesInConstantsAreStillErrors() throws {
        let store = try Self.filled(.memory)
        let context = store.context()
        context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.predicate = NSPredicate(format: "name == %@", NSDate())
            #expect(throws: CocoaError.self) { try context.fetch(request) }
            request.predicate = NSPredicate(format: "name MATCHES lowercase('[')")
            #expect(throws: CocoaError.self) { try context.fetch(request) }
        }
    }

    @Test(arguments: StoreKind.allCases) func batchUpdatesTakeFunctionsOfConstants(_ kind: StoreKind) throws {
        let store = try TestStore(kind, GraphModel.everything())
        let context = store.context()
        try context.performAndWait {
            for index in 0..<3 { insert("Thing", context).setValue(index, forKey: "int64") }
            try context.save()
            let update = NSBatchUpdateRequest(entityName: "Thing")
            update.propertiesToUpdate = [
                "date": NSExpression(format: "now()"), "string": NSExpression(format: "uppercase('a')"),
                "int64": NSExpression(format: "int64 + (2 * 3)"),
            ]
            _ = try context.execute(update)
            let things = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
            things.forEach { context.refresh($0, mergeChanges: false) }
            #expect(Set(things.map { $0.value(forKey: "string") as? String }) == ["A"])
            #expect(Set(things.compactMap { $0.value(forKey: "date") as? Date }).count == 1)
            #expect(Set(things.compactMap { $0.value(forKey: "int64") as? Int }) == [6, 7, 8])
        }
    }
}
