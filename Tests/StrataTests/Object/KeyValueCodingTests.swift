import CoreData
import Foundation
import Testing

/// Accessors written by hand over primitive values, as Core Data's documentation has them.
final class Ledger: NSManagedObject {
    var undefinedKeys: [String] = []
    var nilKeys: [String] = []

    var total: Int64 {
        get {
            willAccessValue(forKey: "total")
            defer { didAccessValue(forKey: "total") }
            return primitiveValue(forKey: "total") as? Int64 ?? 0
        }
        set {
            willChangeValue(forKey: "total")
            setPrimitiveValue(newValue, forKey: "total")
            didChangeValue(forKey: "total")
        }
    }

    override func value(forUndefinedKey key: String) -> Any? {
        undefinedKeys.append(key)
        return "undefined"
    }

    override func setValue(_ value: Any?, forUndefinedKey key: String) { undefinedKeys.append("set \(key)") }

    override func setNilValueForKey(_ key: String) {
        nilKeys.append(key)
        if key == "total" { setValue(-1, forKey: key) } else { super.setNilValueForKey(key) }
    }

    static func model() -> NSManagedObjectModel {
        ManagedObjectClasses.register(Ledger.self)
        let ledger = GraphModel.entity("Ledger", Ledger.self)
        ledger.properties = [
            GraphModel.attribute("total", .integer64AttributeType), GraphModel.attribute("rate", .doubleAttributeType),
            GraphModel.attribute("title", .stringAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [ledger]
        return model
    }
}

@Suite struct KeyValueCodingTests {
    /// An `Any` may hold a number as one of its superclasses. The object's class was taken for the type that it is held
    /// as: a decimal became another number, and an address was written in the place of an integer.
    @Test func valuesMayBeHeldAsSuperclasses() throws {
        let types: [(String, NSAttributeType, NSObject)] = [
            ("bool", .booleanAttributeType, NSNumber(value: true)),
            ("int16", .integer16AttributeType, NSNumber(value: 7)),
            ("int32", .integer32AttributeType, NSNumber(value: 70_000)),
            ("int64", .integer64AttributeType, NSNumber(value: Int64.min)),
            ("float", .floatAttributeType, NSNumber(value: Float(0.5))),
            ("double", .doubleAttributeType, NSNumber(value: 0.1)),
            ("decimal", .decimalAttributeType, NSDecimalNumber(string: "12.34")),
        ]
        let entity = GraphModel.entity("Numbers")
        entity.properties = types.map { GraphModel.attribute($0.0, $0.1) }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let store = try TestStore(.memory, model)
        let context = store.context()
        try context.performAndWait {
            let (object, other) = (insert("Numbers", context), insert("Numbers", context))
            for (name, _, value) in types {
                object.setValue(value, forKey: name)
                #expect(object.value(forKey: name) as? NSObject == value, "\(name)")
            }
            let decimal: NSNumber = NSDecimalNumber(string: "2.5")
            for (name, _, _) in types { other.setValue(decimal, forKey: name) }
            #expect(other.value(forKey: "decimal") as? Decimal == Decimal(string: "2.5"))
            #expect(other.value(forKey: "double") as? Double == 2.5 && other.value(forKey: "float") as? Float == 2.5)
            #expect(other.number("int16") == 2 && other.number("int32") == 2 && other.number("int64") == 2)
            try context.save()
            context.refreshAllObjects()
            for (name, _, value) in types { #expect(object.value(forKey: name) as? NSObject == value, "\(name)") }
        }
    }

    /// Many, alike and of every length, and one that is spelled in two ways.
    @Test func everyPropertyIsFoundByItsName() throws {
        let names = (0..<300).map { "a\($0)" } + (1...40).map { String(repeating: "b", count: $0) } + ["caf\u{e9}"]
        let wide = GraphModel.entity("Wide", NSManagedObject.self)
        wide.properties = names.map { GraphModel.attribute($0, .stringAttributeType) }
        let model = NSManagedObjectModel()
        model.entities = [wide]
        let store = try TestStore(.memory, model)
        let context = store.context()
        try context.performAndWait {
            let object = insert("Wide", context)
            for name in names { object.setValue("value of \(name)", forKey: name) }
            #expect(names.allSatisfy { object.value(forKey: $0) as? String == "value of \($0)" })
            #expect(object.value(forKey: "cafe\u{301}") as? String == "value of caf\u{e9}")
            try context.save()
            context.refresh(object, mergeChanges: false)
            #expect(names.allSatisfy { object.value(forKey: $0) as? String == "value of \($0)" })
        }
    }

    @Test(arguments: StoreKind.allCases) func primitivesAreSilent(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Ledger.model())
        let context = store.context()
        try context.performAndWait {
            let ledger = Ledger(context: context)
            ledger.total = 5
            #expect(ledger.total == 5 && ledger.value(forKey: "total") as? Int64 == 5)
            try context.save()
            ledger.setPrimitiveValue(6, forKey: "total")
            #expect(ledger.total == 6 && !ledger.hasChanges && !context.hasChanges)
            try context.save()
            // The next save of the object has it.
            ledger.setValue("x", forKey: "title")
            try context.save()
            ledger.total = 7
            #expect(ledger.isUpdated && context.updatedObjects == [ledger])
            context.refresh(ledger, mergeChanges: false)
            #expect(ledger.isFault && ledger.primitiveValue(forKey: "total") == nil && ledger.isFault)
            #expect(ledger.total == 6 && !ledger.isFault)
        }
    }

    @Test(arguments: StoreKind.allCases) func primitiveInAwakeFromFetchIsNoChange(_ kind: StoreKind) throws {
        final class Awaking: NSManagedObject {
            override func awakeFromFetch() {
                willChangeValue(forKey: "note")
                setPrimitiveValue("derived", forKey: "note")
                didChangeValue(forKey: "note")
            }
            override func awakeFromInsert() { setPrimitiveValue("new", forKey: "note") }
        }
        ManagedObjectClasses.register(Awaking.self, name: "AwakingForTests")
        let entity = GraphModel.entity("Awaking")
        entity.managedObjectClassName = "AwakingForTests"
        let note = GraphModel.attribute("note", .stringAttributeType)
        note.isTransient = true
        entity.properties = [note]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait {
            let object = make("Awaking", context)
            #expect(object.value(forKey: "note") as? String == "new")
            try context.save()
            context.refresh(object, mergeChanges: false)
            #expect(object.value(forKey: "note") as? String == "derived")
            #expect(!object.hasChanges && !context.hasChanges && object.changedValues().isEmpty)
        }
    }

    @Test func undefinedKeysAndNil() throws {
        let store = try TestStore(.memory, Ledger.model())
        let context = store.context()
        context.performAndWait {
            let ledger = Ledger(context: context)
            #expect(ledger.value(forKey: "colour") as? String == "undefined")
            ledger.setValue(1, forKey: "size")
            #expect(ledger.undefinedKeys == ["colour", "set size"])
            ledger.setValue(nil, forKey: "total")
            #expect(ledger.total == -1)
            ledger.setValue(nil, forKey: "rate")
            ledger.setValue(nil, forKey: "title")
            #expect(ledger.nilKeys == ["total", "rate"] && ledger.value(forKey: "rate") == nil)
            #expect(ledger.value(forKey: "isInserted") as? Bool == true)
            #expect(ledger.value(forKeyPath: "objectID") as? NSManagedObjectID == ledger.objectID)
            #expect(ledger.value(forKey: "self") as? Ledger === ledger)
        }
    }

    @Test func numbersAreConverted() throws {
        let store = try TestStore(.memory, GraphModel.everything())
        let context = store.context()
        context.performAndWait {
            let thing = make("Thing", context)
            for value in [NSNumber(value: 3), 3, Int16(3), UInt8(3), 3.0, Float(3), Decimal(3)] as [Any] {
                for key in ["int16", "int32", "int64", "float", "double", "decimal"] {
                    thing.setValue(value, forKey: key)
                    #expect((thing.value(forKey: key) as? NSNumber)?.intValue == 3, "\(key) from \(type(of: value))")
                }
            }
            thing.setValue(NSNumber(value: true), forKey: "bool")
            #expect(thing.value(forKey: "bool") as? Bool == true)
            thing.setValue(NSString("text"), forKey: "string")
            #expect(thing.value(forKey: "string") as? String == "text")
            thing.setValue(NSDate(timeIntervalSinceReferenceDate: 5), forKey: "date")
            #expect(thing.value(forKey: "date") as? Date == Date(timeIntervalSinceReferenceDate: 5))
            let optional: String?? = "inner"
            thing.setValue(optional as Any, forKey: "string")
            #expect(thing.value(forKey: "string") as? String == "inner")
            thing.setValuesForKeys(["string": NSNull(), "int16": 9])
            let values = thing.dictionaryWithValues(forKeys: ["string", "int16"])
            #expect(values["string"] is NSNull && values["int16"] as? Int == 9)
            thing["int32"] = 12
            #expect(thing["int32"] as? Int32 == 12)
        }
    }

    @Test func wrongTypesStop() async {
        await #expect(processExitsWith: .failure) {
            let store = try TestStore(.memory, GraphModel.everything())
            make("Thing", store.context()).setValue("no number", forKey: "int16")
        }
        await #expect(processExitsWith: .failure) {
            let store = try TestStore(.memory, NodeModel.nodes())
            let context = store.context()
            make("Node", context).setValue(make("Node", context), forKey: "children")
        }
        await #expect(processExitsWith: .failure) {
            let store = try TestStore(.memory)
            let context = store.context()
            Employee(context: context).setValue(Employee(context: context), forKey: "department")
        }
        await #expect(processExitsWith: .failure) {
            let store = try TestStore(.memory)
            _ = insert("Badge", store.context()).value(forKey: "colour")
        }
    }

    @Test(arguments: StoreKind.allCases) func collectionOperators(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let department = Department(context: context)
            let ages: [Int16] = [20, 30, 30, 40]
            let projects = ["a", "b"].map { make("Project", context, ["code": $0]) }
            for (index, age) in ages.enumerated() {
                let employee = Employee(context: context)
                employee.age = age
                employee.name = "e\(index)"
                employee.department = department
                employee.setValue(Set(projects[0...(index % 2)]), forKey: "projects")
            }
            for _ in 0..<2 {
                func value(_ path: String) -> Any? { department.value(forKeyPath: path) }
                #expect(value("employees.@count") as? Int == 4)
                #expect((value("employees.@sum.age") as? NSNumber)?.intValue == 120)
                #expect((value("employees.@avg.age") as? NSNumber)?.doubleValue == 30)
                #expect((value("employees.@min.age") as? NSNumber)?.intValue == 20)
                #expect((value("employees.@max.age") as? NSNumber)?.intValue == 40)
                #expect((value("employees.@unionOfObjects.age") as? [Any])?.count == 4)
                let distinct = value("employees.@distinctUnionOfObjects.age") as? NSSet
                #expect(distinct.map { Set($0.compactMap { ($0 as? NSNumber)?.intValue }) } == [20, 30, 40])
                let all = value("employees.@distinctUnionOfSets.projects") as? NSSet
                #expect(all?.count == 2)
                #expect((value("employees.name") as? NSSet)?.count == 4)
                try context.save()
                context.refreshAllObjects()
            }
            department.setValue(50, forKeyPath: "employees.age")
            #expect(department.employees.allSatisfy { $0.age == 50 })
            department.setValue("x", forKeyPath: "title")
            #expect(department.title == "x")
        }
    }

    @Test(arguments: StoreKind.allCases) func relationshipsTakeAnyCollection(_ kind: StoreKind) throws {
        let store = try TestStore(kind, NodeModel.nodes())
        let context = store.context()
        try context.performAndWait {
            let root = make("Node", context)
            let nodes = (0..<3).map { make("Node", context, ["key": $0]) }
            let collections: [Any] = [
                NSSet(array: nodes), Set(nodes), NSOrderedSet(array: nodes), nodes, NSArray(array: nodes),
                NSMutableSet(array: nodes),
            ]
            for collection in collections {
                for key in ["children", "items", "follows", "queue"] {
                    root.setValue(collection, forKey: key)
                    #expect(root.mutableCount(key) == 3)
                    root.setValue(nil, forKey: key)
                    #expect(root.mutableCount(key) == 0)
                }
            }
            root.setValue(nodes, forKey: "items")
            #expect((root.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject] == nodes)
            #expect(nodes[1].value(forKey: "owner") as? NSManagedObject === root)
            try context.save()
        }
    }
}

extension NSManagedObject {
    fileprivate func mutableCount(_ key: String) -> Int {
        entity.relationshipsByName[key]?.isOrdered == true
            ? mutableOrderedSetValue(forKey: key).count : mutableSetValue(forKey: key).count
    }
}
