import CoreData
import Foundation
import Testing

/// An incremental store that notes each request, and answers from tables in memory.
private final class NotingStore: NSIncrementalStore, @unchecked Sendable {
    // Unchecked: tests use a store from one thread at a time.
    static let type = "NotingStore"
    var calls: [String] = []
    var saved: [String: Any] = [:]
    /// Names of people, and of the department that each is in; nil for those whose node leaves it out.
    var people: [String: String?] = [:]
    var sendsLists = false

    override var type: String { Self.type }
    override class func identifierForNewStore(at storeURL: URL) -> Any { "NOTED-\(storeURL.lastPathComponent)" }

    private func name(_ id: NSManagedObjectID) -> String { referenceObject(for: id) as? String ?? "" }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let save = request as? NSSaveChangesRequest {
            let sets = [save.insertedObjects, save.updatedObjects, save.deletedObjects, save.lockedObjects]
            calls.append("save " + sets.map { $0.map { "\($0.count)" } ?? "nil" }.joined(separator: " "))
            if sets.allSatisfy({ $0 == nil }) { saved = metadata }
            return []
        }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let context,
            let entity = fetch.entity
        else {
            throw CocoaError(.persistentStoreUnsupportedRequestType)
        }
        calls.append("fetch \(fetch.resultType.rawValue) \(fetch.fetchLimit) \(fetch.propertiesToFetch?.count ?? 0)")
        let names = entity.name == "Employee" ? people.keys.sorted() : []
        if fetch.resultType == .countResultType { return [NSNumber(value: names.count)] }
        if fetch.resultType == .dictionaryResultType { return names.map { ["name": $0] } }
        return names.map { context.object(with: newObjectID(for: entity, referenceObject: $0)) }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        calls.append("values \(name(objectID))")
        if objectID.entity.name == "Department" {
            return NSIncrementalStoreNode(objectID: objectID, withValues: ["title": name(objectID)], version: 1)
        }
        guard let department = people[name(objectID)] else { throw CocoaError(.managedObjectReferentialIntegrity) }
        var values: [String: Any] = ["name": name(objectID), "badge": NSNull()]
        if department == "" { values["department"] = NSNull() }
        let node = NSIncrementalStoreNode(objectID: objectID, withValues: [:], version: 1)
        node.update(withValues: values, version: 2)
        return node
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        calls.append("relationship \(relationship.name) of \(name(objectID))")
        guard let target = relationship.destinationEntity else { return NSNull() }
        if relationship.isToMany {
            let ids = people.filter { $0.value == name(objectID) }.keys.sorted()
                .map { newObjectID(for: target, referenceObject: $0) }
            return sendsLists ? ids : Set(ids)
        }
        guard relationship.name == "department", let department = people[name(objectID)] ?? nil else { return NSNull() }
        return newObjectID(for: target, referenceObject: department)
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        calls.append("ids \(array.count)")
        return array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
    }

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
        calls.append("registered \(objectIDs.map(name).sorted().joined(separator: ","))")
    }
    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        calls.append("unregistered \(objectIDs.map(name).sorted().joined(separator: ","))")
    }
    override func didAdd(to coordinator: NSPersistentStoreCoordinator) { calls.append("added") }
    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) { calls.append("removed") }
}

/// An atomic store that notes what it is asked for.
private final class NotingFile: NSAtomicStore, @unchecked Sendable {
    // Unchecked: tests use a store from one thread at a time.
    static let type = "NotingFile"
    var calls: [String] = []
    private var next = 1

    /// Computes one of its values.
    final class Node: NSAtomicStoreCacheNode {
        override func value(forKey key: String) -> Any? { key == "title" ? "computed" : super.value(forKey: key) }
    }

    override var type: String { Self.type }
    override func loadMetadata() throws { metadata = [NSStoreUUIDKey: "FILE", NSStoreTypeKey: Self.type] }
    override func load() throws {
        calls.append("load")
        let entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName
        guard let department = entities?["Department"], let employee = entities?["Employee"] else { return }
        let node = Node(objectID: objectID(for: department, withReferenceObject: 100))
        let member = NSAtomicStoreCacheNode(objectID: objectID(for: employee, withReferenceObject: 200))
        member.propertyCache = ["name": "Ada", "department": node]
        addCacheNodes([node, member])
    }
    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        calls.append("reference")
        defer { next += 1 }
        return next
    }
    override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        calls.append("node \(managedObject.objectID.isTemporaryID)")
        return super.newCacheNode(for: managedObject)
    }
    override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        calls.append("update")
        super.updateCacheNode(node, from: managedObject)
    }
    override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        calls.append("remove \(cacheNodes.count)")
    }
    override func save() throws { calls.append("save \(cacheNodes().count)") }
}

/// What Core Data's reference says of atomic and incremental stores, where no other suite says it.
@Suite(.serialized) struct CustomStoreReferenceTests {
    private func added<S: NSPersistentStore>(
        _ type: S.Type, _ name: String
    ) throws -> (S, NSManagedObjectContext, NSPersistentStoreCoordinator) {
        NSPersistentStoreCoordinator.registerStoreClass(type, forStoreType: name)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let url = try #require(URL(string: "noting://host/\(UUID().uuidString)"))
        let store = try coordinator.addPersistentStore(ofType: name, configurationName: nil, at: url) as? S
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return (try #require(store), context, coordinator)
    }

    /// "If the save request contains nil values for the inserted/updated/deleted/locked collections; you should treat
    /// it as a request to save the store metadata."
    @Test func metadataIsSavedByARequestWithoutObjects() throws {
        let (store, context, coordinator) = try added(NotingStore.self, NotingStore.type)
        #expect(store.calls == ["added"])
        try context.check { () throws in
            try context.save()
            #expect(store.calls == ["added"])
            var metadata = coordinator.metadata(for: store)
            metadata["mine"] = "new"
            coordinator.setMetadata(metadata, for: store)
            try context.save()
            #expect(store.calls == ["added", "save nil nil nil nil"] && store.saved["mine"] as? String == "new")
            try context.save()
            metadata["mine"] = "newer"
            coordinator.setMetadata(metadata, for: store)
            _ = Department(context: context)
            store.calls = []
            try context.save()
            let saves = store.calls.filter { $0.hasPrefix("save") }
            #expect(saves == ["save 1 0 0 0", "save nil nil nil nil"] && store.saved["mine"] as? String == "newer")
        }
        store.calls = []
        try coordinator.remove(store)
        #expect(store.calls.last == "removed")
    }

    @Test func theIdentifierOfANewStoreIsItsUUID() throws {
        let (store, _, coordinator) = try added(NotingStore.self, NotingStore.type)
        #expect(store.identifier == "NOTED-\(store.url?.lastPathComponent ?? "")")
        #expect(coordinator.metadata(for: store)[NSStoreUUIDKey] as? String == store.identifier)
        #expect(coordinator.metadata(for: store)[NSStoreTypeKey] as? String == NotingStore.type)
    }

    /// A to-one relationship that a node leaves out is asked for; one that is NSNull is not. A to-many one may come as
    /// an array or a set.
    @Test(arguments: [false, true]) func relationshipsAreAskedForIfTheNodeLeavesThemOut(_ sendsLists: Bool) throws {
        let (store, context, _) = try added(NotingStore.self, NotingStore.type)
        store.people = ["Ada": "Research", "Bob": "", "Cyd": "Research"]
        store.sendsLists = sendsLists
        try context.check { () throws in
            let people = try fetchAll(Employee.self, "Employee", context)
            #expect(people.map(\.name) == ["Ada", "Bob", "Cyd"])
            store.calls = []
            #expect(people[1].department == nil && people[1].badge == nil)
            #expect(!store.calls.contains { $0.hasPrefix("relationship") })
            let department = try #require(people[0].department)
            #expect(department.title == "Research" && department.employees == [people[0], people[2]])
        }
    }

    /// What a store says of a request is what the program gets.
    @Test func requestsReachTheStoreAsTheyAre() throws {
        let (store, context, _) = try added(NotingStore.self, NotingStore.type)
        store.people = ["Ada": "", "Bob": ""]
        try context.check { () throws in
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Employee")
            dictionaries.resultType = .dictionaryResultType
            dictionaries.propertiesToFetch = ["name"]
            #expect(try context.fetch(dictionaries).map { $0["name"] as? String } == ["Ada", "Bob"])
            #expect(store.calls.last == "fetch \(NSFetchRequestResultType.dictionaryResultType.rawValue) 0 1")
            let limited = NSFetchRequest<Employee>(entityName: "Employee")
            limited.fetchLimit = 1
            #expect(try context.fetch(limited).count == 1)
            #expect(store.calls.contains("fetch 0 1 0"))
            #expect(try context.count(for: NSFetchRequest<Employee>(entityName: "Employee")) == 2)
        }
    }

    /// "Indicates that objects are in use in a context", and that they no longer are.
    @Test func contextsTellWhatTheyUse() throws {
        let (store, context, _) = try added(NotingStore.self, NotingStore.type)
        store.people = ["Ada": "", "Bob": ""]
        try context.check { () throws in
            let people = try fetchAll(Employee.self, "Employee", context)
            #expect(people.count == 2)
            let told = store.calls.filter { $0.hasPrefix("registered") }.joined()
            #expect(told.contains("Ada") && told.contains("Bob"))
            store.calls = []
            context.reset()
            let gone = store.calls.filter { $0.hasPrefix("unregistered") }.joined()
            #expect(gone.contains("Ada") && gone.contains("Bob"))
        }
    }

    /// As with other stores, nobody has to hold what a fetch finds until the block ends.
    @Test func resultsLiveUntilTheBlockEnds() throws {
        let (store, context, _) = try added(NotingStore.self, NotingStore.type)
        store.people = ["Ada": ""]
        weak var kept: Employee?
        try context.check { () throws in
            kept = try fetchAll(Employee.self, "Employee", context).first
            #expect(kept?.name == "Ada")
        }
        #expect(kept == nil)
    }

    @Test func lockedObjectsAreInTheRequest() throws {
        let (store, context, _) = try added(NotingStore.self, NotingStore.type)
        store.people = ["Ada": ""]
        try context.check { () throws in
            let ada = try #require(try fetchAll(Employee.self, "Employee", context).first)
            #expect(ada.name == "Ada")
            context.detectConflicts(for: ada)
            _ = Department(context: context)
            try context.save()
            #expect(store.calls.contains("save 1 0 0 1") && store.calls.contains("ids 1"))
        }
    }

    /// IDs first, then new nodes, updated nodes, removed nodes, and the file as the last.
    @Test func anAtomicStoreIsAskedInOrder() throws {
        let (file, context, _) = try added(NotingFile.self, NotingFile.type)
        #expect(file.calls == ["load"])
        try context.check { () throws in
            let department = try #require(try fetchAll(Department.self, "Department", context).first)
            let ada = try #require(try fetchAll(Employee.self, "Employee", context).first)
            #expect(department.title == "computed" && ada.department === department)
            #expect(file.referenceObject(for: ada.objectID) as? Int == 200)
            #expect(file.cacheNode(for: ada.objectID)?.value(forKey: "name") as? String == "Ada")
            ada.name = "Countess"
            ada.department = nil
            let new = Employee(context: context)
            new.name = "Bob"
            file.calls = []
            try context.save()
            #expect(file.calls.first == "reference" && file.calls.dropFirst().first == "node false")
            #expect(file.calls.last == "save 3" && !file.calls.contains("node true"))
            #expect(file.cacheNode(for: new.objectID)?.value(forKey: "name") as? String == "Bob")
            #expect(file.cacheNode(for: ada.objectID)?.value(forKey: "name") as? String == "Countess")
            #expect(file.cacheNode(for: ada.objectID)?.value(forKey: "department") == nil)
            file.calls = []
            context.delete(new)
            try context.save()
            #expect(file.calls == ["remove 1", "save 2"] && file.cacheNode(for: new.objectID) == nil)
        }
    }
}
