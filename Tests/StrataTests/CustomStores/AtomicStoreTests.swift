import CoreData
import Foundation
import Testing

/// A store in a file of lines: `name<tab>age<tab>department`.
private final class LineStore: NSAtomicStore, @unchecked Sendable {
    static let type = "LineStore"
    var savedCount = 0
    var refusesToSave = false
    var removed: [String] = []

    override var type: String { Self.type }

    override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: "LINES", NSStoreTypeKey: Self.type]
    }

    override func load() throws {
        guard let url, let text = try? String(contentsOf: url, encoding: .utf8),
            let entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName,
            let employee = entities["Employee"], let department = entities["Department"]
        else { return }
        var departments: [String: NSAtomicStoreCacheNode] = [:]
        var all: Set<NSAtomicStoreCacheNode> = []
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            let node = NSAtomicStoreCacheNode(objectID: objectID(for: employee, withReferenceObject: fields[0]))
            node.setValue(fields[0], forKey: "name")
            node.setValue(Int(fields[1]), forKey: "age")
            if !fields[2].isEmpty {
                let target =
                    departments[fields[2]]
                    ?? NSAtomicStoreCacheNode(objectID: objectID(for: department, withReferenceObject: fields[2]))
                target.setValue(fields[2], forKey: "title")
                departments[fields[2]] = target
                node.setValue(target, forKey: "department")
            }
            all.insert(node)
        }
        addCacheNodes(all.union(departments.values))
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        managedObject.value(forKey: managedObject.entity.name == "Department" ? "title" : "name") ?? ""
    }

    override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        removed += cacheNodes.compactMap { $0.value(forKey: "name") as? String }
    }

    override func save() throws {
        if refusesToSave { throw CocoaError(.fileWriteOutOfSpace) }
        savedCount += 1
        let lines = cacheNodes().filter { $0.objectID.entity.name == "Employee" }.map { node in
            let department = node.value(forKey: "department") as? NSAtomicStoreCacheNode
            let fields: [Any?] = [
                node.value(forKey: "name"), node.value(forKey: "age"), department?.value(forKey: "title"),
            ]
            return fields.map { $0.map { "\($0)" } ?? "" }.joined(separator: "\t")
        }
        guard let url else { return }
        try Data(lines.sorted().joined(separator: "\n").utf8).write(to: url)
    }
}

@Suite(.serialized) struct AtomicStoreTests {
    private func temporaryURL() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("strata-atomic-\(UUID().uuidString)")
    }

    private func open(
        _ type: String, _ url: URL, _ model: NSManagedObjectModel = GraphModel.company(), readOnly: Bool = false
    ) throws -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator.registerStoreClass(LineStore.self, forStoreType: LineStore.type)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url, options: [NSReadOnlyPersistentStoreOption: readOnly])
        return coordinator
    }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test func aFormatOfOnesOwn() throws {
        let url = temporaryURL()
        defer { removeStore(at: url) }
        try Data("Ada\t36\tResearch\nBob\t50\t\nCyd\t20\tResearch".utf8).write(to: url)
        let coordinator = try open(LineStore.type, url)
        let store = try #require(coordinator.persistentStores.first as? LineStore)
        let context = context(coordinator)
        try context.performAndWait {
            let people = try fetchAll(Employee.self, "Employee", context, sort: "name")
            #expect(people.map(\.name) == ["Ada", "Bob", "Cyd"])
            #expect(people[0].department?.employees == [people[0], people[2]])
            #expect(people[0].objectID.uriRepresentation().absoluteString == "x-coredata://LINES/Employee/pAda")
            people[0].age = 37
            people[1].department = people[0].department
            context.delete(people[2])
            let new = Employee(context: context)
            new.name = "Dan"
            try context.save()
            #expect(new.objectID.uriRepresentation().lastPathComponent == "pDan")
            #expect(store.savedCount == 1 && store.removed == ["Cyd"])
        }
        let text = try String(contentsOf: url, encoding: .utf8)
        #expect(text == "Ada\t37\tResearch\nBob\t50\tResearch\nDan\t18\t")
    }

    @Test func aFailedSaveLeavesTheNodes() throws {
        let url = temporaryURL()
        try Data("Ada\t36\t".utf8).write(to: url)
        defer { removeStore(at: url) }
        let coordinator = try open(LineStore.type, url)
        let store = try #require(coordinator.persistentStores.first as? LineStore)
        let context = context(coordinator)
        try context.performAndWait {
            let ada = try #require(try fetchAll(Employee.self, "Employee", context).first)
            ada.age = 40
            _ = insert("Department", context)
            store.refusesToSave = true
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(store.cacheNodes().count == 1)
            #expect(store.cacheNode(for: ada.objectID)?.value(forKey: "age") as? Int == 36)
            #expect(ada.isUpdated && context.hasChanges)
            store.refusesToSave = false
            try context.save()
            #expect(store.cacheNode(for: ada.objectID)?.value(forKey: "age") as? Int == 40)
            #expect(store.cacheNodes().count == 2 && !context.hasChanges)
        }
    }

    @Test(arguments: [NSBinaryStoreType, NSXMLStoreType])
    func everyAttributeTypeInAFile(type: String) throws {
        let url = temporaryURL()
        defer { removeStore(at: url) }
        let model = GraphModel.everything()
        let sample: [String: Any] = [
            "bool": NSNumber(value: true), "int16": Int16.min, "int32": Int32.max, "int64": Int64.min,
            "float": Float(0.1),
            "double": 0.1 + 0.2, "decimal": NSDecimalNumber(string: "-12345678901234567890.123456789"),
            "string": "<&> \u{1} größer", "data": Data([0, 255]), "date": Date(timeIntervalSinceReferenceDate: 1.0 / 3),
            "uuid": UUID(), "uri": URL(string: "https://example.org/a?b=c#d") as Any, "list": ["a", "b"] as NSArray,
        ]
        do {
            let context = context(try open(type, url, model))
            try context.performAndWait {
                let thing = insert("Thing", context)
                for (key, value) in sample { thing.setValue(value, forKey: key) }
                _ = insert("Thing", context)
                try context.save()
            }
        }
        let context = context(try open(type, url, model))
        try context.performAndWait {
            let things = try fetchAll(NSManagedObject.self, "Thing", context)
            #expect(things.count == 2)
            let full = try #require(things.first { $0.value(forKey: "string") != nil })
            for (key, value) in sample {
                #expect(full.value(forKey: key) as? AnyHashable == value as? AnyHashable, "\(key)")
            }
            let empty = try #require(things.first { $0 !== full })
            for key in sample.keys { #expect(empty.value(forKey: key) == nil, "\(key)") }
        }
    }

    @Test(arguments: [NSBinaryStoreType, NSXMLStoreType])
    func relationshipsAndMetadataInAFile(type: String) throws {
        let url = temporaryURL()
        defer { removeStore(at: url) }
        var uri: URL?
        do {
            let coordinator = try open(type, url)
            #expect(FileManager.default.fileExists(atPath: url.path))
            let store = coordinator.persistentStores[0]
            coordinator.setMetadata(["key": "value"], for: store)
            let context = context(coordinator)
            try context.performAndWait {
                let department = Department(context: context)
                department.title = "Research"
                let boss = insert("Manager", context)
                let project = insert("Project", context)
                boss.setValue(department, forKey: "department")
                boss.setValue(Set([project]), forKey: "projects")
                let tasks = (1...3).map { number in
                    let task = insert("Task", context)
                    task.setValue("\(number)", forKey: "text")
                    return task
                }
                project.setValue(NSOrderedSet(array: tasks.reversed()), forKey: "tasks")
                try context.save()
                uri = boss.objectID.uriRepresentation()
            }
        }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
        #expect(metadata["key"] as? String == "value" && metadata[NSStoreTypeKey] as? String == type)
        try NSPersistentStoreCoordinator.setMetadata(["key": "other"], forPersistentStoreOfType: type, at: url)
        let coordinator = try open(type, url)
        #expect(coordinator.metadata(for: coordinator.persistentStores[0])["key"] as? String == "other")
        #expect(coordinator.persistentStores[0].identifier == metadata[NSStoreUUIDKey] as? String)
        let context = context(coordinator)
        try context.performAndWait {
            let id = try #require(uri.flatMap { coordinator.managedObjectID(forURIRepresentation: $0) })
            let boss = try #require(try context.existingObject(with: id) as? Manager)
            #expect(boss.department?.title == "Research" && boss.department?.employees == [boss])
            let project = try #require((boss.value(forKey: "projects") as? Set<NSManagedObject>)?.first)
            let tasks = try #require(project.value(forKey: "tasks") as? NSOrderedSet)
            #expect(tasks.compactMap { ($0 as? NSManagedObject)?.value(forKey: "text") as? String } == ["3", "2", "1"])
        }
    }

    @Test(arguments: [NSBinaryStoreType, NSXMLStoreType])
    func filesThatCannotBeUsed(type: String) throws {
        let url = temporaryURL()
        defer { removeStore(at: url) }
        var error = #expect(throws: CocoaError.self) { try open(type, url, readOnly: true) }
        #expect(error?.code == .fileReadNoSuchFile)
        try Data("garbage".utf8).write(to: url)
        error = #expect(throws: CocoaError.self) { try open(type, url) }
        #expect(error?.code == .fileReadCorruptFile)
        try FileManager.default.removeItem(at: url)
        _ = try open(type, url)
        error = #expect(throws: CocoaError.self) { try open(type, url, GraphModel.everything()) }
        #expect(error?.code == .persistentStoreIncompatibleVersionHash)
        #expect((error?.userInfo["metadata"] as? [String: Any])?[NSStoreTypeKey] as? String == type)
        let context = context(try open(type, url, readOnly: true))
        context.performAndWait {
            _ = insert("Department", context)
            #expect(throws: CocoaError.self) { try context.save() }
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        try coordinator.destroyPersistentStore(at: url, ofType: type)
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }
}
