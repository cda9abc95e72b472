import CoreData
import Foundation
import Testing

@Suite struct BatchInsertTests {
    private func execute(_ request: NSBatchInsertRequest, _ context: NSManagedObjectContext) throws -> Any? {
        try context.performAndWait { () throws in
            try #require(try context.execute(request) as? NSBatchInsertResult).result
        }
    }

    @Test(arguments: StoreKind.allCases) func dictionariesBecomeObjects(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let request = NSBatchInsertRequest(
            entityName: "Employee",
            objects: [
                ["name": "Ann", "age": 30], ["name": "Bob", "age": NSNull()], ["name": "Cem"], [:],
            ])
        #expect(request.entityName == "Employee" && request.resultType == .statusOnly)
        #expect(request.requestType == .batchInsertRequestType)
        #expect(try execute(request, context) as? Bool == true)
        #expect(request.entity?.name == "Employee")
        try store.reopen()
        let other = store.context()
        try other.performAndWait { () throws in
            let employees = try fetchAll(Employee.self, "Employee", other)
            #expect(employees.map(\.name) == ["Ann", "Bob", "Cem", ""])
            #expect(employees.map(\.age) == [30, 0, 18, 18])
            #expect(employees[1].value(forKey: "age") == nil)
        }
    }

    @Test(arguments: StoreKind.allCases) func everyTypeIsStored(_ kind: StoreKind) throws {
        let store = try TestStore(kind, GraphModel.everything())
        let context = store.context()
        let uuid = UUID()
        let long = String(repeating: "long ", count: 30_000)
        let values: [String: Any] = [
            "bool": true, "int16": 1, "int32": 2, "int64": 3, "float": 1.5, "double": 2.5,
            "decimal": Decimal(string: "12.34") ?? 0, "string": long, "data": Data([1, 2, 3]),
            "date": Date(timeIntervalSinceReferenceDate: 5), "uuid": uuid,
            "uri": URL(string: "https://example.com") ?? URL(fileURLWithPath: "/"), "list": ["a", "b"],
        ]
        let request = NSBatchInsertRequest(entityName: "Thing", objects: [values])
        request.resultType = .objectIDs
        let ids = try #require(try execute(request, context) as? [NSManagedObjectID])
        try context.performAndWait { () throws in
            let thing = try context.existingObject(with: try #require(ids.first))
            for (key, value) in values where !["bool", "decimal", "list"].contains(key) {
                #expect(thing.value(forKey: key) as? AnyHashable == value as? AnyHashable, "\(key)")
            }
            #expect((thing.value(forKey: "decimal") as? NSDecimalNumber)?.decimalValue == Decimal(string: "12.34"))
            #expect(thing.value(forKey: "bool") as? Bool == true)
            #expect(thing.value(forKey: "list") as? [String] == ["a", "b"])
        }
    }

    @Test(arguments: StoreKind.allCases) func handlersAreAskedUntilTheySayStop(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let entity = try #require(store.model.entitiesByName["Employee"])
        var index = 0
        let dictionaries = NSBatchInsertRequest(entity: entity) { (dictionary: NSMutableDictionary) -> Bool in
            #expect(dictionary.count == 0)
            guard index < 1_000 else { return true }
            dictionary["name"] = "d\(index)"
            index += 1
            return false
        }
        dictionaries.resultType = .count
        #expect(try execute(dictionaries, context) as? Int == 1_000)
        var count = 0
        let objects = NSBatchInsertRequest(entityName: "Employee") { (object: NSManagedObject) -> Bool in
            guard count < 10, let employee = object as? Employee else { return true }
            #expect(employee.age == 18 && employee.name == "")
            employee.name = "o\(count)"
            if count == 3 { employee.age = 99 }
            count += 1
            return false
        }
        objects.resultType = .objectIDs
        let ids = try #require(try execute(objects, context) as? [NSManagedObjectID])
        #expect(Set(ids).count == 10)
        try context.performAndWait { () throws in
            #expect(try fetchAll(Employee.self, "Employee", context).count == 1_010)
            let inserted = try ids.map { try #require(try context.existingObject(with: $0) as? Employee) }
            #expect(inserted.map(\.name) == (0..<10).map { "o\($0)" })
            #expect(inserted.map(\.age) == [18, 18, 18, 99, 18, 18, 18, 18, 18, 18])
        }
    }

    /// What a handler is given is a dictionary in every respect, in whatever order and under whatever keys it is
    /// filled.
    @Test func handlersUseTheDictionaryAsAny() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        var index = 0
        let request = NSBatchInsertRequest(entityName: "Employee") { (dictionary: NSMutableDictionary) -> Bool in
            #expect(dictionary.count == 0 && dictionary.allKeys.isEmpty && dictionary["name"] == nil)
            guard index < 6 else { return true }
            defer { index += 1 }
            switch index {
            case 0:
                dictionary["name"] = "a"
                dictionary["age"] = 30
            case 1:
                dictionary["age"] = Int16(31)
                dictionary["name"] = "b"
                dictionary["name"] = "c"
                #expect(dictionary.count == 2)
            case 2:
                dictionary.setObject("d", forKey: NSString("name"))
                dictionary.setObject(NSNumber(value: 32), forKey: "age" as NSString)
                #expect(dictionary["name"] as? String == "d" && dictionary.object(forKey: "age") as? Int == 32)
            case 3:
                dictionary.addEntries(from: ["name": "e", "age": 33, "nothing": 1])
                dictionary.removeObject(forKey: "nothing")
                dictionary["age"] = nil
                #expect(dictionary.count == 1 && dictionary.allValues.first as? String == "e")
            case 4:
                dictionary.setDictionary(["age": 34, "name": "f"])
                dictionary.setValue("g", forKey: "name")
                #expect(Set(dictionary.allKeys.compactMap { $0 as? String }) == ["name", "age"])
                #expect((dictionary.copy() as? NSDictionary)?.count == 2)
                #expect(dictionary == ["age": 34, "name": "g"] as NSDictionary)
                #expect(dictionary.map { "\($0.key)" }.sorted() == ["age", "name"])
            default:
                dictionary["name"] = "x"
                dictionary.removeAllObjects()
                dictionary["name"] = "h"
            }
            return false
        }
        request.resultType = .count
        #expect(try execute(request, context) as? Int == 6)
        try context.performAndWait { () throws in
            let found = try fetchAll(Employee.self, "Employee", context).sorted { $0.name < $1.name }
            #expect(found.map(\.name) == ["a", "c", "d", "e", "g", "h"])
            #expect(found.map(\.age) == [30, 31, 32, 18, 34, 18])
        }
    }

    @Test func keysThatNameNothingAreRefusedWhereverTheyCome() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        for keys in [["nme"], ["name", "nme"], ["nme", "name"], ["reports", "name"]] {
            let request = NSBatchInsertRequest(entityName: "Employee") { (dictionary: NSMutableDictionary) -> Bool in
                for key in keys { dictionary[key] = "x" }
                return false
            }
            #expect(throws: (any Error).self, "\(keys)") { _ = try execute(request, context) }
        }
    }

    @Test(arguments: StoreKind.allCases) func otherContextsMergeTheIDs(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let viewer = store.context()
        let request = NSBatchInsertRequest(entityName: "Employee", objects: [["name": "Ann"], ["name": "Bob"]])
        request.resultType = .objectIDs
        let ids = try #require(try execute(request, context) as? [NSManagedObjectID])
        viewer.performAndWait { viewer.retainsRegisteredObjects = true }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectsKey: ids], into: [viewer])
        viewer.performAndWait {
            let names = viewer.registeredObjects.compactMap { ($0 as? Employee)?.name }
            #expect(Set(names) == ["Ann", "Bob"])
        }
    }

    @Test(arguments: StoreKind.allCases) func objectsOfHandlersReferToSavedOnes(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let departments = (0..<3).map { index in
                let department = Department(context: context)
                department.setValue("d\(index)", forKey: "title")
                return department
            }
            try context.save()
            var count = 0
            let request = NSBatchInsertRequest(entityName: "Employee") { (object: NSManagedObject) -> Bool in
                guard count < 3_000, let employee = object as? Employee else { return true }
                #expect(employee.department == nil && employee.name == "", "the object is new each time")
                employee.name = "e\(count)"
                employee.department = count % 4 == 3 ? nil : departments[count % 4]
                count += 1
                return false
            }
            try context.execute(request)
            #expect(!context.hasChanges, "the other ends have not been touched")
            context.refreshAllObjects()
            #expect(departments.map { $0.employees.count } == [750, 750, 750])
            let names = Set(departments[1].employees.map(\.name))
            #expect(names.contains("e1") && names.contains("e2997") && !names.contains("e2"))
        }
    }

    @Test(arguments: StoreKind.allCases) func objectsOfHandlersReferToNothingElse(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let other = store.context()
        let foreign = try other.performAndWait { () throws in
            let department = Department(context: other)
            try other.save()
            return department
        }
        try context.performAndWait { () throws in
            let unsaved = Department(context: context)
            let refused: [(Employee) -> Void] = [
                { $0.department = unsaved },
                { $0.department = foreign },
                { employee in
                    let project = NSEntityDescription.insertNewObject(forEntityName: "Project", into: context)
                    employee.setValue(NSSet(object: project), forKey: "projects")
                },
            ]
            for (number, change) in refused.enumerated() {
                var isFirst = true
                let request = NSBatchInsertRequest(entityName: "Employee") { (object: NSManagedObject) -> Bool in
                    guard isFirst, let employee = object as? Employee else { return true }
                    isFirst = false
                    change(employee)
                    return false
                }
                #expect(throws: CocoaError.self, "\(number)") { try context.execute(request) }
            }
            let employees = try context.count(for: NSFetchRequest<Employee>(entityName: "Employee"))
            #expect(employees == 0)
        }
    }

    @Test(arguments: StoreKind.allCases) func toOneRelationshipsTakeIDs(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let department = try #require(insert("Department", context) as? Department)
            try context.save()
            let request = NSBatchInsertRequest(
                entityName: "Employee",
                objects: [
                    ["name": "Ann", "department": department.objectID], ["name": "Bob", "department": department],
                    ["name": "Cem"],
                ])
            try context.execute(request)
            context.refresh(department, mergeChanges: false)
            #expect(Set(department.employees.map(\.name)) == ["Ann", "Bob"])
            let wrong = NSBatchInsertRequest(entityName: "Employee", objects: [["badge": department.objectID]])
            #expect(throws: CocoaError.self) { try context.execute(wrong) }
        }
    }

    @Test(arguments: StoreKind.allCases) func aWrongValueInsertsNothing(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let request = NSBatchInsertRequest(entityName: "Employee", objects: [["name": "Ann"], ["age": "old"]])
        let error = #expect(throws: CocoaError.self) { try execute(request, context) }
        #expect(error?.code == .persistentStoreOperation)
        let unknown = NSBatchInsertRequest(entityName: "Nobody", objects: [[:]])
        #expect(throws: CocoaError.self) { try execute(unknown, context) }
        try context.performAndWait { () throws in
            #expect(try context.count(for: NSFetchRequest<Employee>(entityName: "Employee")) == 0)
        }
    }

    /// Unknown keys and missing values were passed over in silence.
    @Test(arguments: StoreKind.allCases) func unknownKeysAndMissingValuesInsertNothing(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let rows: [[String: Any]] = [["number": 1], ["number": 2, "colour": "red"]]
        let gaps: [[String: Any]] = [["number": 1], [:], ["number": NSNull()]]
        func handler(_ rows: [[String: Any]]) -> NSBatchInsertRequest {
            var rest = rows[...]
            return NSBatchInsertRequest(entityName: "Badge") { (dictionary: NSMutableDictionary) in
                guard let next = rest.popFirst() else { return true }
                for (key, value) in next { dictionary[key] = value }
                return false
            }
        }
        var count = 0
        let objects = NSBatchInsertRequest(entityName: "Badge") { (_: NSManagedObject) in
            count += 1
            return count > 2
        }
        for request in [NSBatchInsertRequest(entityName: "Badge", objects: rows), handler(rows)] {
            let error = #expect(throws: CocoaError.self) { try execute(request, context) }
            #expect(error?.code == .persistentStoreOperation && "\(error as Any)".contains("colour"))
        }
        for request in [NSBatchInsertRequest(entityName: "Badge", objects: gaps), handler(gaps), objects] {
            for appliesValidation in [false, true] {
                request.appliesValidation = appliesValidation
                let error = #expect(throws: CocoaError.self) { try execute(request, context) }
                #expect(error?.code == .validationMissingMandatoryProperty && error?.validationKey == "number")
            }
        }
        try context.performAndWait { () throws in
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Badge")) == 0)
        }
    }

    @Test(arguments: StoreKind.allCases) func partsAreTransactions(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let request = NSBatchInsertRequest(
            entityName: "Employee", objects: (0..<25).map { ["name": "e\($0)", "age": $0] })
        request.resultType = .count
        request.maximumObjectsPerTransaction = 10
        #expect(try execute(request, context) as? Int == 25)
        try context.performAndWait { () throws in
            let history = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(history) as? NSPersistentHistoryResult
            let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
            #expect(transactions.map { $0.changes?.count } == [10, 10, 5])
            #expect(Set(try fetchAll(Employee.self, "Employee", context).map(\.name)).count == 25)
        }
    }
}

@Suite struct BatchUniquenessTests {
    private func model() -> NSManagedObjectModel {
        let city = GraphModel.entity("City")
        city.properties = [
            GraphModel.attribute("code", .stringAttributeType), GraphModel.attribute("name", .stringAttributeType),
            GraphModel.attribute("size", .integer64AttributeType, default: 1),
        ]
        city.uniquenessConstraints = [["code"]]
        let model = NSManagedObjectModel()
        model.entities = [city]
        return model
    }

    private func cities(_ context: NSManagedObjectContext) throws -> [String] {
        context.reset()
        return try fetchAll(NSManagedObject.self, "City", context, sort: "code").map { city in
            ["code", "name", "size"].map { "\(city.value(forKey: $0) ?? "-")" }.joined(separator: " ")
        }
    }

    private func filled(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext) {
        let store = try TestStore(kind, model())
        let context = store.context()
        try context.performAndWait { () throws in
            let objects: [[String: Any]] = [
                ["code": "a", "name": "Aachen", "size": 5], ["code": "b", "name": "Bonn"], ["name": "no code"],
            ]
            try context.execute(NSBatchInsertRequest(entityName: "City", objects: objects))
        }
        return (store, context)
    }

    private let more: [[String: Any]] = [
        ["code": "b", "size": 9], ["code": "c", "name": "Celle"], ["code": "c", "size": 3], ["code": "b", "name": "B"],
    ]

    @Test(arguments: StoreKind.allCases) func withoutPolicyConflictsAreErrors(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait { () throws in
            let error = #expect(throws: CocoaError.self) {
                try context.execute(NSBatchInsertRequest(entityName: "City", objects: more))
            }
            #expect(error?.code == .managedObjectConstraintMerge)
            // Its text named an entity and objects without names.
            let text = (error as NSError?)?.localizedDescription ?? ""
            #expect(text.contains("code must be unique") && !text.contains(". :") && !text.contains("in ."), "\(text)")
            let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
            #expect(conflicts?.first?.constraint == ["code"])
            #expect(try cities(context).count == 3)
            let update = NSBatchUpdateRequest(entityName: "City")
            update.propertiesToUpdate = ["code": "a"]
            let other = #expect(throws: CocoaError.self) { try context.execute(update) }
            #expect(other?.code == .managedObjectConstraintMerge)
        }
    }

    @Test(arguments: StoreKind.allCases) func withObjectTrumpRowsAreUpdated(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait { () throws in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let request = NSBatchInsertRequest(entityName: "City", objects: more)
            request.resultType = .objectIDs
            let result = try context.execute(request) as? NSBatchInsertResult
            #expect((result?.result as? [NSManagedObjectID])?.count == 2)
            #expect(try cities(context) == ["- no code 1", "a Aachen 5", "b B 9", "c Celle 3"])
            var index = 0
            let objects = NSBatchInsertRequest(entityName: "City") { (city: NSManagedObject) -> Bool in
                guard index < 2 else { return true }
                city.setValue(["a", "d"][index], forKey: "code")
                city.setValue("object", forKey: "name")
                index += 1
                return false
            }
            try context.execute(objects)
            #expect(
                try cities(context) == ["- no code 1", "a object 5", "b B 9", "c Celle 3", "d object 1"])
        }
    }

    @Test(arguments: StoreKind.allCases) func withStoreTrumpRowsStay(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait { () throws in
            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            let request = NSBatchInsertRequest(entityName: "City", objects: more)
            request.resultType = .count
            #expect((try context.execute(request) as? NSBatchInsertResult)?.result as? Int == 1)
            #expect(try cities(context) == ["- no code 1", "a Aachen 5", "b Bonn 1", "c Celle 1"])
        }
    }
}
