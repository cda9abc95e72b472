import CoreData
import Foundation
import Testing

/// Requests that find nothing because they make no sense are errors, whatever kind of request it is.
struct FetchCheckTests {
    private typealias Request = NSFetchRequest<any NSFetchRequestResult>

    /// Three employees named 30, 31 and Ann, of which the first is in a department; one project.
    private static func filled(_ kind: StoreKind) throws -> TestStore {
        let model = GraphModel.company()
        let employee = try #require(model.entitiesByName["Employee"])
        let name = try #require(employee.attributesByName["name"])
        employee.indexes = [
            NSFetchIndexDescription(
                name: "byName", elements: [NSFetchIndexElementDescription(property: name, collationType: .binary)])
        ]
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait {
            let department = Department(context: context)
            department.title = "7"
            let project = make("Project", context)
            project.setValue("12", forKey: "code")
            for (text, age) in [("30", 30), ("31", 40), ("Ann", 50)] {
                let employee = Employee(context: context)
                (employee.name, employee.age) = (text, Int16(age))
                if age == 30 {
                    employee.department = department
                    employee.setValue(Set([project]), forKey: "projects")
                }
            }
            try context.save()
        }
        return store
    }

    /// What a request's error says; nil without one.
    private static func message(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            #expect((error as? CocoaError)?.code == .persistentStoreOperation)
            return error.localizedDescription
        }
    }

    /// Every way to ask with a request, in a context and in a child of it.
    private static func messages(
        _ store: TestStore, _ predicate: NSPredicate?, _ change: (Request) -> Void = { _ in }
    ) -> [String: String?] {
        var found: [String: String?] = [:]
        func request() -> Request {
            let request = Request(entityName: "Employee")
            request.predicate = predicate
            change(request)
            return request
        }
        let context = store.context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        func ask(_ name: String, _ context: NSManagedObjectContext, _ body: (Request) throws -> Void) {
            found[name] = context.performAndWait { message { try body(request()) } }
        }
        for (prefix, context) in [("", context), ("child ", child)] {
            ask(prefix + "fetch", context) { _ = try context.fetch($0) }
            ask(prefix + "count", context) { _ = try context.count(for: $0) }
            ask(prefix + "asynchronous", context) {
                _ = try context.execute(NSAsynchronousFetchRequest(fetchRequest: $0, completionBlock: nil))
            }
            ask(prefix + "controller", context) { request in
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                try NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil
                ).performFetch()
            }
        }
        ask("dictionaries", context) { request in
            request.resultType = .dictionaryResultType
            _ = try context.fetch(request)
        }
        ask("batch delete", context) { _ = try context.execute(NSBatchDeleteRequest(fetchRequest: $0)) }
        return found
    }

    private static let waysCount = 10

    @Test(arguments: StoreKind.allCases) func negativeWindowsThrow(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let changes: [(String, (Request) -> Void)] = [
            ("fetchLimit", { $0.fetchLimit = -1 }), ("fetchOffset", { $0.fetchOffset = -1 }),
            ("fetchBatchSize", { $0.fetchBatchSize = .min }),
        ]
        for (name, change) in changes {
            let messages = Self.messages(store, nil, change)
            #expect(messages.count == Self.waysCount)
            for (way, message) in messages {
                #expect(message?.contains("\(name) of a fetch request is -") == true, "\(name) in \(way)")
            }
        }
        let context = store.context()
        try context.performAndWait {
            let count = try context.count(for: Request(entityName: "Employee"))
            #expect(count == 3)
        }
    }

    @Test(arguments: StoreKind.allCases) func faultyPatternsThrow(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        for format in ["name MATCHES '((('", "NOT (age > 3 AND name MATCHES[c] '[')", "ANY projects.code MATCHES '*'"] {
            for (way, message) in Self.messages(store, NSPredicate(format: format)) {
                #expect(message?.contains("no regular expression") == true, "\(format) in \(way)")
            }
        }
        #expect(NSPredicate(format: "SELF MATCHES '((('").evaluate(with: "(((") == false)
    }

    @Test(arguments: StoreKind.allCases) func stringsThatAreNoNumbersThrow(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        for format in [
            "age == 'young'", "age > ''", "'0x10' < age", "age IN {'1', 'one'}", "age BETWEEN {'1', 'ten'}",
            "department.budget == 'much'", "ANY department.employees.age == 'old'",
            "SUBQUERY(department.employees, $e, $e.age == 'old').@count > 0", "projects.@count == 'many'",
        ] {
            for (way, message) in Self.messages(store, NSPredicate(format: format)) {
                #expect(message?.contains("is a number, and is compared with a String") == true, "\(format) in \(way)")
                #expect(message?.contains("old") != true && message?.contains("young") != true)
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func wrongTypesThrow(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        let badge = context.performAndWait { make("Badge", context) }
        let cases: [(NSPredicate, String)] = [
            (NSPredicate(format: "department == 'Sales'"), "Employee.department is an object"),
            (
                NSPredicate(format: "department == %@", badge),
                "leads to Department, and is compared with an object of Badge"
            ),
            (NSPredicate(format: "SELF == 3"), "Employee is an object"),
            (NSPredicate(format: "name == %@", Date()), "Employee.name is a String, and is compared with a Date"),
            (NSPredicate(format: "age == %@", UUID()), "Employee.age is a number, and is compared with a UUID"),
            (NSPredicate(format: "age BETWEEN {1, 2, 3}"), "BETWEEN takes"),
            (NSPredicate(format: "age BETWEEN %@", 5), "BETWEEN takes"),
            (NSPredicate(format: "age IN %@", 5), "IN takes a collection"),
            (NSPredicate(format: "age IN '5'"), "IN takes a collection"),
            (NSPredicate(format: "3 IN age"), "IN takes a collection"),
            (NSPredicate(format: "age BEGINSWITH '3'"), "BEGINSWITH takes a String"),
            (NSPredicate(format: "age CONTAINS 3"), "CONTAINS takes a String or a collection"),
        ]
        for (predicate, text) in cases {
            for (way, message) in Self.messages(store, predicate) {
                #expect(
                    message?.contains(text) == true, "\(predicate.formatString) in \(way): \(message ?? "")")
            }
        }
        let things = try TestStore(kind, GraphModel.everything())
        let everything = things.context()
        try everything.performAndWait {
            for format in ["date > '2026'", "uuid == 'x'", "data == 'x'", "uri == 'x'", "bool == 'maybe'"] {
                let request = Request(entityName: "Thing")
                request.predicate = NSPredicate(format: format)
                #expect(Self.message { _ = try everything.fetch(request) } != nil, "\(format)")
            }
            let request = Request(entityName: "Thing")
            request.predicate = NSPredicate(format: "date > 3 AND bool == '1' AND double < '1e3' AND decimal == '0.1'")
            let found = try everything.fetch(request)
            #expect(found.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases) func numbersAndStringsAreConverted(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        for isSaved in [true, false] {
            let context = store.context()
            try context.performAndWait {
                // Unsaved changes are tested one by one, by the interpreter.
                if !isSaved {
                    for object in try context.fetch(NSFetchRequest<Employee>()) {
                        object.age += 1
                        object.age -= 1
                    }
                }
                func names(_ format: String, _ arguments: [Any] = []) throws -> [String] {
                    let request = NSFetchRequest<Employee>(entityName: "Employee")
                    request.predicate = NSPredicate(format: format, argumentArray: arguments)
                    let found = try context.fetch(request).map(\.name).sorted()
                    #expect(try context.count(for: request) == found.count)
                    return found
                }
                #expect(try names("name == 30") == ["30"])
                #expect(try names("30 == name") == ["30"])
                #expect(try names("name == 30.0") == ["30"])
                #expect(try names("name != 30") == ["31", "Ann"])
                #expect(try names("name IN %@", [[30, 31, 5]]) == ["30", "31"])
                #expect(try names("name IN %@", [NSSet(array: [31, "Ann"])]) == ["31", "Ann"])
                #expect(try names("name BETWEEN {30, 31}") == ["30", "31"])
                #expect(try names("name CONTAINS 1") == ["31"])
                #expect(try names("age IN %@", [["30", "50"]]) == ["30", "Ann"])
                #expect(try names("age == '30'") == ["30"])
                #expect(try names("department.title == 7") == ["30"])
                #expect(try names("ANY projects.code == 12") == ["30"])
                #expect(try names("12 IN projects.code") == ["30"])
                #expect(try names("SUBQUERY(projects, $p, $p.code == 12).@count == '1'") == ["30"])
            }
        }
    }

    /// What holds for a fetch holds for all that find objects by a predicate.
    @Test(arguments: StoreKind.allCases) func everyRequestConvertsNumbersAndStrings(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        let child = ContextLine.child(of: context)
        let conditions: [(NSPredicate, [String])] = [
            (NSPredicate(format: "name IN %@", [30, 31]), ["30", "31"]), (NSPredicate(format: "name == 30"), ["30"]),
            (NSPredicate(format: "age IN %@", ["30", "50"]), ["30", "Ann"]),
            (NSPredicate(format: "age > '35'"), ["31", "Ann"]),
        ]
        for (predicate, names) in conditions {
            for context in [context, child] {
                try context.check { () throws in
                    #expect(try context.employeeNames(predicate) == names)
                    let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Employee")
                    dictionaries.resultType = .dictionaryResultType
                    dictionaries.propertiesToFetch = ["name"]
                    dictionaries.predicate = predicate
                    let found = try context.fetch(dictionaries).compactMap { $0["name"] as? String }
                    #expect(Set(found) == Set(names), "\(predicate.formatString)")
                    let update = NSBatchUpdateRequest(entityName: "Employee")
                    update.predicate = predicate
                    update.propertiesToUpdate = ["age": NSExpression(forKeyPath: "age")]
                    update.resultType = .updatedObjectsCountResultType
                    let result = try context.execute(update) as? NSBatchUpdateResult
                    #expect(result?.result as? Int == names.count, "\(predicate.formatString)")
                }
            }
        }
        try context.check { () throws in
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
            request.predicate = conditions[0].0
            let delete = NSBatchDeleteRequest(fetchRequest: request)
            delete.resultType = .resultTypeCount
            #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 2)
            #expect(try context.employeeNames() == ["Ann"])
        }
    }

    @Test(arguments: StoreKind.allCases) func unknownKeysNameTheOneThatWasMeant(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        context.performAndWait {
            func message(_ change: (Request) -> Void) -> String {
                let request = Request(entityName: "Employee")
                change(request)
                return Self.message { _ = try context.fetch(request) } ?? "no error"
            }
            func predicate(_ format: String) -> String { message { $0.predicate = NSPredicate(format: format) } }
            #expect(predicate("nane == 'x'").contains("nane not found in entity Employee (did you mean \"name\"?)"))
            #expect(predicate("department.tilte == 'x'").contains("(did you mean \"title\"?)"))
            #expect(predicate("ANY projects.coed == 'x'").contains("(did you mean \"code\"?)"))
            #expect(predicate("SUBQUERY(projects, $p, $p.cod == 1).@count > 0").contains("(did you mean \"code\"?)"))
            #expect(!predicate("salary > 3").contains("did you mean"))
            let sort = message { $0.sortDescriptors = [NSSortDescriptor(key: "Age", ascending: true)] }
            #expect(sort.contains("(did you mean \"age\"?)"))
            let dictionary = message {
                $0.resultType = .dictionaryResultType
                $0.propertiesToFetch = ["agee"]
            }
            #expect(dictionary.contains("(did you mean \"age\"?)"))
            let having = message {
                $0.resultType = .dictionaryResultType
                $0.propertiesToFetch = ["age"]
                $0.propertiesToGroupBy = ["age"]
                $0.havingPredicate = NSPredicate(format: "aeg > 3")
            }
            #expect(having.contains("(did you mean \"age\"?)"))
            #expect(message { $0.propertiesToFetch = ["agee"] }.contains("(did you mean \"age\"?)"))
            #expect(message { $0.relationshipKeyPathsForPrefetching = ["departmnet"] }.contains("\"department\"?)"))
            let request = Request(entityName: "Emloyee")
            #expect(Self.message { _ = try context.fetch(request) }?.contains("did you mean \"Employee\"?") == true)
        }
    }

    @Test(arguments: StoreKind.allCases) func historyRequestsAreChecked(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        context.performAndWait {
            func message(_ change: (Request) -> Void) -> String? {
                guard let fetch = NSPersistentHistoryTransaction.fetchRequest else { return "no request" }
                change(fetch)
                return Self.message {
                    _ = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch))
                }
            }
            #expect(message { $0.predicate = NSPredicate(format: "athor == 'x'") }?.contains("\"author\"?") == true)
            #expect(message { $0.predicate = NSPredicate(format: "author MATCHES '('") }?.contains("regular") == true)
            #expect(message { $0.sortDescriptors = [NSSortDescriptor(key: "time", ascending: true)] } != nil)
            #expect(message { $0.fetchLimit = -2 }?.contains("fetchLimit") == true)
            #expect(message { $0.predicate = NSPredicate(format: "ANY changes.changeType == 0") } == nil)
        }
    }

    @Test func suggestionsAreNear() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        context.performAndWait {
            let cases: [(key: String, meant: String?)] = [
                ("budgte", "budget"), ("Title", "title"), ("employes", "employees"), ("x", nil),
            ]
            for (key, meant) in cases {
                let request = Request(entityName: "Department")
                request.predicate = NSPredicate(format: "%K == nil", key)
                let text = Self.message { _ = try context.fetch(request) } ?? ""
                #expect(text.contains("did you mean") == (meant != nil), "\(text)")
                if let meant { #expect(text.contains("\"\(meant)\"")) }
            }
        }
    }

    /// The members of members are a collection of collections. Such an operator counted the outer ones of what was
    /// saved, and different ones of what was not.
    @Test(
        arguments: StoreKind.allCases,
        [
            "friends.friends.@count == 1", "friends.projects.@count > 0", "department.employees.friends.@sum.age > 1",
            "SUBQUERY(friends.friends, $x, $x.age > 1).@count == 1",
            "SUBQUERY(friends, $x, SUBQUERY($x.friends.friends, $y, $y.age > 1).@count > 0).@count == 1",
            "SUBQUERY(friends, $x, $x.friends.friends.@count > 0).@count == 1",
        ])
    func operatorsBehindMultipleToManyKeysAreRefused(_ kind: StoreKind, _ format: String) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        context.performAndWait {
            for isSaved in [true, false] {
                if !isSaved { _ = Employee(context: context) }
                let request = Request(entityName: "Employee")
                request.predicate = NSPredicate(format: format)
                let text = Self.message { _ = try context.fetch(request) }
                #expect(text?.contains("multiple to-many keys") == true, "\(text ?? "found something")")
            }
            for format in ["friends.@count == 0", "ANY friends.friends.age > 1", "friends.@sum.age == 0"] {
                let request = Request(entityName: "Employee")
                request.predicate = NSPredicate(format: format)
                #expect(Self.message { _ = try context.fetch(request) } == nil)
            }
        }
    }
}
