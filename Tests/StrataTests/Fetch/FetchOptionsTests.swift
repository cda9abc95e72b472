import CoreData
import Foundation
import Testing

/// The options of fetch requests for objects, identifiers and counts.
@Suite struct FetchOptionsTests {
    /// Four departments (the last without title), forty employees, every tenth a manager.
    static func filled(_ kind: StoreKind) throws -> TestStore {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let departments = (0..<4).map { number in
                let department = Department(context: context)
                department.title = number == 3 ? nil : "D\(number)"
                department.budget = Int64(number * 100)
                return department
            }
            for number in 0..<40 {
                let employee = number % 10 == 9 ? Manager(context: context) : Employee(context: context)
                employee.name = "E\((number * 7) % 40)"
                employee.age = Int16(20 + number % 5)
                employee.department = number % 8 == 7 ? nil : departments[number % 4]
                let badge = insert("Badge", context)
                badge.setValue(number, forKey: "number")
                employee.badge = badge
            }
            try context.save()
        }
        return store
    }

    private func request<T>(_ type: T.Type, _ entity: String, sort keys: String...) -> NSFetchRequest<T> {
        let request = NSFetchRequest<T>(entityName: entity)
        request.sortDescriptors = keys.map { key in
            NSSortDescriptor(key: String(key.drop { $0 == "-" }), ascending: !key.hasPrefix("-"))
        }
        return request
    }

    @Test(arguments: StoreKind.allCases) func nullsComeFirstWhenAscending(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait {
            let up = try context.fetch(request(Department.self, "Department", sort: "title"))
            #expect(up.map(\.title) == [nil, "D0", "D1", "D2"])
            let down = try context.fetch(request(Department.self, "Department", sort: "-title"))
            #expect(down.map(\.title) == ["D2", "D1", "D0", nil])
            // Through a relationship that may be nil, too.
            let employees = try context.fetch(request(Employee.self, "Employee", sort: "department.title", "name"))
            let titles = employees.map { $0.department?.title ?? "" }
            #expect(titles == titles.sorted())
        }
    }

    @Test(arguments: StoreKind.allCases) func relationshipsSortByTheirObjects(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait {
            let order = try context.fetch(NSFetchRequest<Department>(entityName: "Department"))
            let found = try context.fetch(request(Employee.self, "Employee", sort: "-department", "name"))
            let ranks = found.map { $0.department.flatMap { order.firstIndex(of: $0) } ?? -1 }
            #expect(ranks == ranks.sorted(by: >))
            #expect(Set(ranks).count > 2)
        }
    }

    @Test(arguments: StoreKind.allCases) func comparatorsByNameAndOfOnesOwn(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            for title in ["b10", "B2", "a", "Ä", "b1"] { Department(context: context).title = title }
            try context.save()
            func titles(_ sort: NSSortDescriptor) throws -> [String?] {
                let request = NSFetchRequest<Department>(entityName: "Department")
                request.sortDescriptors = [sort]
                return try context.fetch(request).map(\.title)
            }
            #expect(try titles(NSSortDescriptor(key: "title", ascending: true)) == ["B2", "a", "b1", "b10", "Ä"])
            let standard = Selector("localizedStandardCompare:")
            #expect(
                try titles(NSSortDescriptor(key: "title", ascending: true, selector: standard)).suffix(3)
                    == ["b1", "B2", "b10"])
            let byLength = NSSortDescriptor(key: "title", ascending: false) { left, right in
                let (a, b) = ((left as? String)?.count ?? 0, (right as? String)?.count ?? 0)
                return a < b ? .orderedAscending : (a > b ? .orderedDescending : .orderedSame)
            }
            #expect(try titles(byLength).first == "b10")
            // Without a table of names a Swift key path compares objects.
            let budgets = NSSortDescriptor(keyPath: \Department.budget, ascending: true)
            #expect(try titles(budgets).count == 5)
        }
    }

    @Test(arguments: StoreKind.allCases) func requestsThatMakeNoSenseThrow(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            func message(_ change: (NSFetchRequest<Employee>) -> Void) -> String {
                let request = NSFetchRequest<Employee>(entityName: "Employee")
                change(request)
                do {
                    _ = try context.fetch(request)
                    return "no error"
                } catch {
                    #expect((error as? CocoaError)?.code == .persistentStoreOperation)
                    return error.localizedDescription
                }
            }
            #expect(message { $0.predicate = NSPredicate(format: "salary > 3") }.contains("salary not found"))
            #expect(message { $0.predicate = NSPredicate(format: "department.boss == 3") }.contains("department.boss"))
            #expect(
                message { $0.predicate = NSPredicate(format: "SUBQUERY(projects, $p, $p.cost > 3).@count > 0") }
                    .contains("cost not found in entity Project"))
            #expect(message { $0.predicate = NSPredicate(format: "bonus > 3") }.contains("bonus not found"))
            #expect(message { $0.predicate = NSPredicate(format: "age > $LIMIT") }.contains("$LIMIT"))
            #expect(
                message { $0.predicate = NSPredicate(format: "SUBQUERY(projects, $p, $p == $q).@count > 0") }
                    .contains("$q"))
            #expect(message { $0.predicate = NSPredicate(format: "nickname == 'x'") }.contains("transient"))
            #expect(
                message { $0.sortDescriptors = [NSSortDescriptor(key: "height", ascending: true)] }.contains("height"))
            #expect(
                message { $0.sortDescriptors = [NSSortDescriptor(key: "projects.code", ascending: true)] }
                    .contains("to-many key not allowed here"))
            #expect(message { $0.relationshipKeyPathsForPrefetching = ["name"] }.contains("prefetched"))
            #expect(message { $0.propertiesToGroupBy = ["age"] }.contains("GROUP BY requires"))
            #expect(throws: CocoaError.self) {
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Nobody"))
            }
            #expect(throws: CocoaError.self) { try context.fetch(NSFetchRequest<NSManagedObject>()) }
            #expect(try context.count(for: NSFetchRequest<Manager>()) == 4)
        }
    }

    /// Deleting takes effect on other objects only when the changes are processed, which a count waits for as a fetch
    /// does.
    @Test(arguments: StoreKind.allCases) func countsSeeWhatFollowsFromADeletion(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait {
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.predicate = NSPredicate(format: "department == nil")
            let before = try context.count(for: request)
            let department = try #require(
                fetchAll(Department.self, "Department", context, NSPredicate(format: "title == 'D1'")).first)
            context.delete(department)
            let after = try context.count(for: request)
            #expect(after > before)
            #expect(try context.fetch(request).count == after)
        }
    }

    /// Constants count in the type of the attribute that they are compared with.
    @Test(arguments: StoreKind.allCases) func textsThatAreNumbersEqualNumbers(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait {
            func check(_ text: String, _ number: String) throws {
                let found = try fetchAll(Employee.self, "Employee", context, NSPredicate(format: text))
                let expected = try fetchAll(Employee.self, "Employee", context, NSPredicate(format: number))
                #expect(Set(found) == Set(expected) && !found.isEmpty, "\(text)")
            }
            func checkAll() throws {
                try check("age == '22'", "age == 22")
                try check("age != '22'", "age != 22")
                try check("'22' < age", "22 < age")
                try check("age >= '22.5'", "age >= 22.5")
                try check("age IN {'20', 21, '3e1'}", "age IN {20, 21, 30}")
                try check("age BETWEEN {'20', '21'}", "age BETWEEN {20, 21}")
                try check("NOT (age == '22' OR name == 'E1')", "NOT (age == 22 OR name == 'E1')")
                try check("badge.number <= '7'", "badge.number <= 7")
                try check("department.budget == '100'", "department.budget == 100")
                try check("ANY department.employees.age == '23'", "ANY department.employees.age == 23")
                #expect(try fetchAll(Employee.self, "Employee", context, NSPredicate(format: "name == '22'")).isEmpty)
            }
            try checkAll()
            let ages = NSPredicate(format: "age IN %@", argumentArray: [Set(["20", "21"])])
            #expect(try fetchAll(Employee.self, "Employee", context, ages).count == 16)
            try fetchAll(Employee.self, "Employee", context).first?.age = 22
            Employee(context: context).age = 23
            try checkAll()
        }
    }

    @Test(arguments: StoreKind.allCases) func unsavedChangesCountForObjectsIDsAndCounts(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait {
            let all = try context.fetch(request(Employee.self, "Employee", sort: "name"))
            let young = NSPredicate(format: "age < 22")
            let stored = try fetchAll(Employee.self, "Employee", context, young)
            let gone = stored[0]
            let older = stored[1]
            let younger = try #require(all.first { $0.age == 24 })
            context.delete(gone)
            older.age = 60
            younger.age = 3
            let new = Employee(context: context)
            new.age = 1
            let expected = Set(stored).subtracting([gone, older]).union([younger, new])
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.predicate = young
            #expect(Set(try context.fetch(request)) == expected)
            #expect(try context.count(for: request) == expected.count)
            // Without an order: as created, with what is new at the end.
            let found = try context.fetch(request)
            #expect(found.last == new)
            let keys = found.dropLast().map { Int($0.objectID.uriRepresentation().lastPathComponent.dropFirst()) ?? 0 }
            #expect(keys == keys.sorted())
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
            ids.resultType = .managedObjectIDResultType
            ids.predicate = young
            #expect(Set(try context.fetch(ids)) == Set(expected.map(\.objectID)))
            let number = NSFetchRequest<NSNumber>(entityName: "Employee")
            number.resultType = .countResultType
            number.predicate = young
            #expect(try context.fetch(number) == [NSNumber(value: expected.count)])
            request.includesPendingChanges = false
            #expect(try context.count(for: request) == stored.count)
            #expect(Set(try context.fetch(request)) == Set(stored))
            // Dictionaries show what is stored.
            let rows = NSFetchRequest<NSDictionary>(entityName: "Employee")
            rows.resultType = .dictionaryResultType
            rows.predicate = young
            rows.propertiesToFetch = ["name"]
            #expect(try context.fetch(rows).count == stored.count)
            // A window is laid over the merged results.
            request.includesPendingChanges = true
            request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
            request.fetchLimit = 2
            #expect(try context.fetch(request) == [new, younger])
        }
    }

    @Test(arguments: StoreKind.allCases) func prefetchingLeavesNoFaults(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait {
            let plain = try context.fetch(request(Employee.self, "Employee", sort: "name"))
            for employee in plain { _ = employee.department?.title }
            #expect(context.faultStatistics.faultsFiredSinceLastFetch == plain.count + 4)
        }
        let second = store.context()
        try second.performAndWait {
            let request = request(Department.self, "Department", sort: "title")
            request.relationshipKeyPathsForPrefetching = ["employees.badge"]
            let found = try second.fetch(request)
            let fired = second.faultStatistics.faultsFired
            for department in found {
                #expect(!department.hasFault(forRelationshipNamed: "employees"))
                for employee in department.employees {
                    #expect(!employee.isFault && employee.badge?.isFault == false)
                    #expect(employee.badge?.value(forKey: "number") != nil && !employee.name.isEmpty)
                }
            }
            #expect(found.reduce(0) { $0 + $1.employees.count } == 35)
            // The departments' own titles are still to be read.
            #expect(second.faultStatistics.faultsFired == fired)
        }
    }

    @Test(arguments: StoreKind.allCases) func resultsAreFaultsUnlessAskedOtherwise(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait {
            let request = request(Employee.self, "Employee", sort: "name")
            let first = try context.fetch(request)
            #expect(first.allSatisfy { $0.isFault })
            request.returnsObjectsAsFaults = false
            #expect(try context.fetch(request).allSatisfy { !$0.isFault })
            let other = store.context()
            try other.performAndWait { () throws in
                request.includesPropertyValues = false
                #expect(try other.fetch(request).allSatisfy { $0.isFault })
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func refetchedObjectsAreRefreshedOnDemand(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        let other = store.context()
        try context.performAndWait {
            let request = request(Employee.self, "Employee", sort: "name")
            let mine = try context.fetch(request)
            #expect(mine[0].age != 77)
            try other.performAndWait {
                try other.fetch(request)[0].age = 77
                try other.save()
            }
            _ = try context.fetch(request)
            #expect(mine[0].age != 77)
            request.shouldRefreshRefetchedObjects = true
            _ = try context.fetch(request)
            #expect(mine[0].age == 77)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func onlyObjectsWithNewerRowsAreRefreshed(_ kind: StoreKind, _ hasParent: Bool) throws {
        let store = try Self.filled(kind)
        let context = hasParent ? NSManagedObjectContext(.privateQueue) : store.context()
        let other = store.context()
        let parent = store.context()
        parent.automaticallyMergesChangesFromParent = true
        if hasParent { context.parent = parent }
        try context.performAndWait { () throws in
            let request = request(Employee.self, "Employee", sort: "name")
            let mine = try context.fetch(request)
            for employee in mine { _ = employee.age }
            mine[1].age = 55
            try other.performAndWait {
                try other.fetch(request)[0].age = 77
                try other.save()
            }
            // Has merged.
            parent.performAndWait {}
            context.processPendingChanges()
            let recorder = SaveRecorder(.NSManagedObjectContextObjectsDidChange, context)
            request.shouldRefreshRefetchedObjects = true
            _ = try context.fetch(request)
            context.processPendingChanges()
            _ = try context.fetch(request)
            context.processPendingChanges()
            #expect(recorder.infos.map { $0[NSRefreshedObjectsKey] as? Set<NSManagedObject> } == [[mine[0]]])
            #expect(mine[0].age == 77 && mine[1].age == 55)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func membersInMemoryAreRefreshedIfOthersChangedThem(_ kind: StoreKind, _ hasParent: Bool) throws {
        let store = try TestStore(kind)
        let (parent, other) = (store.context(), store.context())
        let context = hasParent ? NSManagedObjectContext(.privateQueue) : store.context()
        parent.automaticallyMergesChangesFromParent = true
        if hasParent { context.parent = parent }
        try other.performAndWait { () throws in
            for title in ["a", "b"] {
                let department = try #require(insert("Department", other) as? Department)
                department.title = title
                (insert("Employee", other) as? Employee)?.department = department
            }
            try other.save()
        }
        // Has merged.
        parent.performAndWait {}
        try context.performAndWait { () throws in
            let request = request(Department.self, "Department", sort: "title")
            request.shouldRefreshRefetchedObjects = true
            let departments = try context.fetch(request)
            for department in departments { #expect(department.employees.count == 1) }
            let recorder = SaveRecorder(.NSManagedObjectContextObjectsDidChange, context)
            _ = try context.fetch(request)
            // A change of one's own is none of others.
            let mine = try #require(insert("Employee", context) as? Employee)
            mine.department = departments[0]
            context.processPendingChanges()
            _ = try context.fetch(request)
            context.processPendingChanges()
            #expect(recorder.infos.count == 1 && recorder.infos.allSatisfy { $0[NSRefreshedObjectsKey] == nil })
            try other.performAndWait { () throws in
                let department = try #require(try other.fetch(request).last)
                (insert("Employee", other) as? Employee)?.department = department
                try other.save()
            }
            parent.performAndWait {}
            _ = try context.fetch(request)
            context.processPendingChanges()
            #expect(recorder.infos.last?[NSRefreshedObjectsKey] as? Set<NSManagedObject> == [departments[1]])
            #expect(departments.map(\.employees.count) == [2, 2])
        }
    }

    @Test(arguments: StoreKind.allCases) func neighboursRowsAreLookedUpTogether(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        let other = store.context()
        try context.performAndWait {
            let request = request(Employee.self, "Employee", sort: "name")
            request.fetchBatchSize = 10
            let found = try context.fetch(request)
            let before = context.faultStatistics
            for employee in found.prefix(20) { _ = employee.age }
            let after = context.faultStatistics
            #expect(after.faultsFired - before.faultsFired == 20)
            #expect(after.batchLookups - before.batchLookups == 2)
            #expect(after.faultsFromBatches - before.faultsFromBatches == 18)
            #expect(found[20].isFault && found[39].isFault)
            // What has been looked up counts only until somebody saves.
            try other.performAndWait {
                let mine = try other.fetch(request)
                mine[21].age = 99
                other.delete(mine[22])
                try other.save()
            }
            #expect(found[20].age < 30 && found[21].age == 99)
            #expect(found[22].age == 0 && found[23].age > 0)
            #expect(found[39].age > 0 && found[25].age > 0)
        }
    }

    @Test(arguments: StoreKind.allCases) func lazyResultsMakeABatchAtATime(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait {
            let request = request(Employee.self, "Employee", sort: "-name")
            request.fetchBatchSize = 7
            let new = Employee(context: context)
            new.name = "Z"
            let results = try context.fetchLazily(request)
            #expect(results.count == 41 && context.registeredObjects.count == 1)
            #expect(results.first === new && context.registeredObjects.count == 7)
            #expect(results[10].name == results[7..<14][10].name)
            #expect(context.registeredObjects.count == 8)
            let expected = try context.fetch(request)
            #expect(Array(results) == expected)
            let numbers = NSFetchRequest<Employee>(entityName: "Employee")
            numbers.resultType = .countResultType
            #expect(throws: CocoaError.self) { try context.fetchLazily(numbers) }
        }
    }

    @Test(arguments: StoreKind.allCases) func valuesOfDifferentKindsHaveAnOrder(_ kind: StoreKind) throws {
        let store = try TestStore(kind, GraphModel.everything())
        let context = store.context()
        try context.performAndWait {
            let values: [Any?] = ["text", 7, nil, Data([1]), 2.5, "alpha", -1]
            for (number, value) in values.enumerated() {
                let thing = insert("Thing", context)
                thing.setValue(number, forKey: "int32")
                thing.setValue(value, forKey: "list")
                thing.setValue(number == 3 ? Double.nan : Double(-number), forKey: "double")
            }
            try context.save()
            func order(_ key: String, _ ascending: Bool) throws -> [Int32] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
                request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)]
                return try context.fetch(request).compactMap { ($0.value(forKey: "int32") as? NSNumber)?.int32Value }
            }
            // Null, numbers, strings, bytes.
            let list = try order("list", true)
            #expect(list == [2, 6, 4, 1, 5, 0, 3])
            let reversed = try order("list", false)
            #expect(reversed == list.reversed())
            // A store keeps what is no number as null.
            let doubles = try order("double", true)
            #expect(doubles == [3, 6, 5, 4, 2, 1, 0])
        }
    }

    @Test(arguments: StoreKind.allCases) func predicatesOnlyObjectsCanAnswer(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait {
            let request = request(Employee.self, "Employee", sort: "name")
            request.predicate = NSPredicate { object, _ in (object as? Employee)?.age == 22 }
            let expected = try fetchAll(
                Employee.self, "Employee", context, NSPredicate(format: "age == 22"), sort: "name")
            #expect(try context.fetch(request) == expected && !expected.isEmpty)
            let departments = NSFetchRequest<any NSFetchRequestResult>(entityName: "Department")
            departments.predicate = NSPredicate(format: "budget > 50")
            let inner = NSFetchRequestExpression.expression(
                forFetch: NSExpression(forConstantValue: departments), context: NSExpression(forConstantValue: context),
                countOnly: false)
            let predicate = NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "department"), rightExpression: inner, modifier: .direct,
                type: .in)
            request.predicate = predicate
            let members = try context.fetch(request)
            #expect(members.count == 25 && members.allSatisfy { ($0.department?.budget ?? 0) > 50 })
        }
    }

    @Test(arguments: StoreKind.allCases) func onlyTheStoresNamedAreAsked(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            Employee(context: context).age = 1
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.affectedStores = [store.store]
            #expect(try context.count(for: request) == 41)
            request.affectedStores = []
            #expect(try context.fetch(request).isEmpty)
            #expect(try context.count(for: request) == 0)
        }
    }

    @Test func copiesAndArchivesSayTheSame() throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.predicate = NSPredicate(format: "age > 3 AND name BEGINSWITH[cd] 'a'")
        request.sortDescriptors = [
            NSSortDescriptor(key: "age", ascending: false),
            NSSortDescriptor(key: "name", ascending: true, selector: Selector("localizedCompare:")),
        ]
        request.fetchLimit = 7
        request.fetchOffset = 2
        request.fetchBatchSize = 5
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["age"]
        request.propertiesToGroupBy = ["age"]
        request.havingPredicate = NSPredicate(format: "age < 90")
        request.includesSubentities = false
        request.returnsDistinctResults = true
        request.relationshipKeyPathsForPrefetching = ["department"]
        func check(_ other: NSFetchRequest<NSDictionary>) {
            #expect(other.entityName == "Employee" && other.fetchLimit == 7 && other.fetchOffset == 2)
            #expect(other.predicate == request.predicate && other.havingPredicate == request.havingPredicate)
            #expect(other.sortDescriptors == request.sortDescriptors && other.fetchBatchSize == 5)
            #expect(other.resultType == .dictionaryResultType && !other.includesSubentities)
            #expect(other.returnsDistinctResults && other.includesPendingChanges && other.returnsObjectsAsFaults)
            #expect(other.propertiesToFetch as? [String] == ["age"])
            #expect(other.propertiesToGroupBy as? [String] == ["age"])
            #expect(other.relationshipKeyPathsForPrefetching == ["department"])
        }
        let copy = try #require(request.copy() as? NSFetchRequest<NSDictionary>)
        check(copy)
        check(NSFetchRequest<NSDictionary>(converting: NSFetchRequest<any NSFetchRequestResult>(converting: request)))
        copy.fetchLimit = 1
        #expect(request.fetchLimit == 7)
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        request.encode(with: archiver)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        check(try #require(NSFetchRequest<NSDictionary>(coder: unarchiver)))
    }
}
