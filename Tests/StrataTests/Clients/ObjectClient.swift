import CoreData
import Foundation
import Testing

// Code that works with plain managed objects by key, and with life-cycle methods.

class TodoItem: NSManagedObject {
    enum Status: Int16 { case open = 0, done = 1 }

    static let log = LockedBox<[String]>([])

    var status: Status {
        get {
            willAccessValue(forKey: "status")
            defer { didAccessValue(forKey: "status") }
            return (primitiveValue(forKey: "status") as? Int16).flatMap(Status.init(rawValue:)) ?? .open
        }
        set {
            willChangeValue(forKey: "status")
            defer { didChangeValue(forKey: "status") }
            setPrimitiveValue(newValue.rawValue, forKey: "status")
        }
    }
    var title: String {
        get { value(forKey: "title") as! String }
        set { setValue(newValue, forKey: "title") }
    }
    var isUrgent: Bool {
        get { value(forKey: "isUrgent") as! Bool }
        set { setValue(newValue, forKey: "isUrgent") }
    }
    var estimate: Double? {
        get { (value(forKey: "estimate") as? NSNumber)?.doubleValue }
        set { setValue(newValue.map(NSNumber.init(value:)), forKey: "estimate") }
    }
    var children: Set<TodoItem> {
        get { value(forKey: "children") as! Set<TodoItem> }
        set { setValue(newValue, forKey: "children") }
    }
    var childrenSet: NSSet? {
        get { value(forKey: "children") as? NSSet }
        set { setValue(newValue, forKey: "children") }
    }
    var parentItem: TodoItem? {
        get { value(forKey: "parentItem") as? TodoItem }
        set { setValue(newValue, forKey: "parentItem") }
    }
    var upperTitle: String? {
        value(forKey: "upperTitle") as? String
    }
    var modified: Date? {
        get { value(forKey: "modified") as? Date }
        set { setValue(newValue, forKey: "modified") }
    }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue("New", forKey: "title")
        Self.log.change { $0.append("insert") }
    }
    override func awakeFromFetch() {
        super.awakeFromFetch()
        setPrimitiveValue(title.uppercased(), forKey: "upperTitle")
        Self.log.change { $0.append("fetch") }
    }
    override func willSave() {
        super.willSave()
        if !isDeleted, primitiveValue(forKey: "modified") == nil || changedValues()["modified"] == nil {
            setPrimitiveValue(Date(), forKey: "modified")
        }
    }
    override func prepareForDeletion() {
        super.prepareForDeletion()
        Self.log.change { $0.append("delete") }
    }
    override func validateForInsert() throws {
        try super.validateForInsert()
        try validateTitle()
    }
    override func validateForUpdate() throws {
        try super.validateForUpdate()
        try validateTitle()
    }
    private func validateTitle() throws {
        if title == "bad" {
            throw NSError(domain: "Todo", code: 7, userInfo: [NSLocalizedDescriptionKey: "Bad title"])
        }
    }
    override func didTurnIntoFault() { super.didTurnIntoFault() }
    override var description: String { "Todo(\(isFault ? "fault" : title))" }
}

extension TodoItem {
    class func fetchRequest() -> NSFetchRequest<TodoItem> { NSFetchRequest(entityName: "TodoItem") }
}

extension NSManagedObject {
    /// The values as a dictionary that can be compared.
    func toDictionary() -> [String: Any] {
        var result: [String: Any] = [:]
        for name in entity.attributesByName.keys { result[name] = value(forKey: name) }
        for (name, relationship) in entity.relationshipsByName where !relationship.isToMany {
            result[name] = (value(forKey: name) as? NSManagedObject)?.objectID.uriRepresentation().absoluteString
        }
        return result
    }

    /// A copy with the attributes and the children, as clone helpers do it.
    func clone(in context: NSManagedObjectContext, seen: inout [NSManagedObjectID: NSManagedObject]) -> NSManagedObject
    {
        if let known = seen[objectID] { return known }
        let copy = NSEntityDescription.insertNewObject(forEntityName: entity.name!, into: context)
        seen[objectID] = copy
        copy.setValuesForKeys(dictionaryWithValues(forKeys: Array(entity.attributesByName.keys)))
        for (name, relationship) in entity.relationshipsByName where relationship.isToMany {
            let source =
                relationship.isOrdered
                ? (mutableOrderedSetValue(forKey: name).array as! [NSManagedObject])
                : (mutableSetValue(forKey: name).allObjects as! [NSManagedObject])
            let target = copy.mutableSetValue(forKey: name)
            for child in source { target.add(child.clone(in: context, seen: &seen)) }
        }
        return copy
    }
}

@MainActor
@Suite(.serialized) struct ObjectClientTests {
    static func model() -> NSManagedObjectModel {
        let item = NSEntityDescription()
        item.name = "TodoItem"
        item.managedObjectClassName = NSStringFromClass(TodoItem.self)
        func attribute(
            _ name: String, _ type: NSAttributeType, _ optional: Bool, _ value: Any? = nil
        ) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = optional
            attribute.defaultValue = value
            return attribute
        }
        let upper = attribute("upperTitle", .stringAttributeType, true)
        upper.isTransient = true
        let children = NSRelationshipDescription()
        children.name = "children"
        children.destinationEntity = item
        children.isOptional = true
        children.deleteRule = .cascadeDeleteRule
        let parent = NSRelationshipDescription()
        parent.name = "parentItem"
        parent.destinationEntity = item
        parent.maxCount = 1
        parent.isOptional = true
        parent.deleteRule = .nullifyDeleteRule
        parent.inverseRelationship = children
        children.inverseRelationship = parent
        item.properties = [
            attribute("title", .stringAttributeType, false, ""), attribute("status", .integer16AttributeType, false, 0),
            attribute("isUrgent", .booleanAttributeType, false, false),
            attribute("estimate", .doubleAttributeType, true),
            attribute("modified", .dateAttributeType, true), upper, children, parent,
        ]
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }

    static func stack(_ kind: StoreKind) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let url = ProcessFolder.url.appendingPathComponent("todo-\(UUID().uuidString).sqlite")
        try coordinator.addPersistentStore(
            ofType: kind == .memory ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil,
            at: kind == .memory ? nil : url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test(arguments: StoreKind.allCases)
    func aLifeByKeys(_ kind: StoreKind) throws {
        let context = try Self.stack(kind)
        TodoItem.log.change { $0 = [] }
        let item = TodoItem(context: context)
        #expect(item.title == "New")
        #expect(item.status == .open)
        #expect(item.estimate == nil)
        item.status = .done
        item.isUrgent = true
        item.estimate = 2.5
        #expect(item.value(forKey: "isUrgent") as? Bool == true)
        #expect(item.value(forKey: "isUrgent") as? NSNumber == 1)
        #expect(item.value(forKey: "status") as? Int == 1)
        #expect(Set(item.changedValues().keys).isSuperset(of: ["status", "isUrgent", "estimate"]))
        try context.save()
        #expect(item.modified != nil)
        #expect(item.changedValues().isEmpty)
        #expect(!item.hasChanges)
        context.refresh(item, mergeChanges: false)
        #expect(item.isFault)
        #expect(item.description == "Todo(fault)")
        #expect(item.estimate == 2.5)
        #expect(item.upperTitle == "NEW")
        #expect(item.status == .done)
        #expect(!context.hasChanges)

        item.setValue(nil, forKey: "estimate")
        #expect(item.estimate == nil)
        #expect(item.committedValues(forKeys: ["estimate"])["estimate"] as? Double == 2.5)
        let child = TodoItem(context: context)
        item.mutableSetValue(forKey: "children").add(child)
        #expect(child.parentItem === item)
        item.children.insert(TodoItem(context: context))
        item.childrenSet = item.childrenSet?.adding(TodoItem(context: context)) as NSSet?
        #expect(item.children.count == 3)
        #expect(item.childrenSet?.count == 3)
        for (index, child) in item.children.enumerated() {
            child.estimate = Double(index + 1)
            child.title = "c\(index)"
        }
        #expect(item.value(forKeyPath: "children.@sum.estimate") as? Double == 6)
        #expect(item.value(forKeyPath: "children.@max.estimate") as? Double == 3)
        #expect(item.value(forKeyPath: "children.title") as? Set<String> == ["c0", "c1", "c2"])
        #expect(item.value(forKeyPath: "children.@count") as? Int == 3)
        #expect(child.value(forKeyPath: "parentItem.title") as? String == "New")
        item.setValue("Top", forKeyPath: "title")
        child.setValue("Top2", forKeyPath: "parentItem.title")
        #expect(item.title == "Top2")
        try context.save()

        var seen: [NSManagedObjectID: NSManagedObject] = [:]
        let copy = try #require(item.clone(in: context, seen: &seen) as? TodoItem)
        #expect(copy.children.count == 3)
        #expect(Set(copy.children.map(\.title)) == Set(item.children.map(\.title)))
        #expect(copy.toDictionary()["title"] as? String == "Top2")
        try context.save()
        #expect(item.objectIDs(forRelationshipNamed: "children").count == 3)

        context.delete(item)
        #expect(item.isDeleted)
        try context.save()
        #expect(item.managedObjectContext == nil)
        #expect(try context.count(for: TodoItem.fetchRequest() as NSFetchRequest<TodoItem>) == 4)
        #expect(TodoItem.log.value.filter { $0 == "delete" }.count == 4)
    }

    @Test(arguments: StoreKind.allCases)
    func failuresOfTheProgramsOwn(_ kind: StoreKind) throws {
        let context = try Self.stack(kind)
        let item = TodoItem(context: context)
        item.title = "bad"
        do {
            try context.save()
            Issue.record("saved")
        } catch let error as NSError {
            #expect(error.domain == "Todo")
            #expect(error.code == 7)
            #expect(error.localizedDescription == "Bad title")
        }
        item.title = "good"
        try context.save()
        var value: AnyObject? = nil
        #expect(throws: (any Error).self) { try item.validateValue(&value, forKey: "title") }
        value = "x" as NSString
        try item.validateValue(&value, forKey: "title")
    }

    @Test func undoAndRedo() throws {
        let context = try Self.stack(.memory)
        let manager = UndoManager()
        manager.groupsByEvent = false
        manager.levelsOfUndo = 10
        context.undoManager = manager
        manager.beginUndoGrouping()
        let item = TodoItem(context: context)
        item.title = "one"
        manager.setActionName("Add")
        context.processPendingChanges()
        manager.endUndoGrouping()
        #expect(manager.undoActionName == "Add")
        manager.beginUndoGrouping()
        item.title = "two"
        context.processPendingChanges()
        manager.endUndoGrouping()
        #expect(manager.canUndo && !manager.canRedo)
        manager.undo()
        #expect(item.title == "one")
        manager.redo()
        #expect(item.title == "two")
        manager.undo()
        manager.undo()
        #expect(item.managedObjectContext == nil || item.isDeleted || !context.insertedObjects.contains(item))
        #expect(context.insertedObjects.isEmpty)
        manager.redo()
        #expect(context.insertedObjects.count == 1)
        manager.removeAllActions()
        #expect(!manager.canUndo)
        context.undoManager = nil
        context.rollback()
        #expect(!context.hasChanges)
    }

    @Test func storesComeAndGo() throws {
        let model = Self.model()
        let container = NSPersistentContainer(name: "Todo", managedObjectModel: model)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("come-\(UUID().uuidString)/Todo.sqlite")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        func load() {
            container.loadPersistentStores { description, error in
                #expect(error == nil)
                #expect(description.url == url)
            }
        }
        load()
        let coordinator = container.persistentStoreCoordinator
        for round in 0..<3 {
            let context = container.newBackgroundContext()
            try context.performAndWait {
                #expect(try context.count(for: NSFetchRequest<TodoItem>(entityName: "TodoItem")) == 0)
                _ = TodoItem(context: context)
                try context.save()
            }
            let store = try #require(coordinator.persistentStore(for: url))
            #expect(store.type == NSSQLiteStoreType)
            try coordinator.remove(store)
            #expect(coordinator.persistentStores.isEmpty)
            if round == 1 {
                try coordinator.destroyPersistentStore(at: url, type: .sqlite, options: nil)
            } else {
                try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
            }
            load()
        }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        #expect(metadata[NSStoreUUIDKey] != nil)
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    @Test func asyncPerform() async throws {
        let context = try Self.stack(.memory)
        let coordinator = try #require(context.persistentStoreCoordinator)
        let ids = try await withThrowingTaskGroup(of: [NSManagedObjectID].self) { group in
            for number in 0..<4 {
                let background = NSManagedObjectContext(.privateQueue)
                background.persistentStoreCoordinator = coordinator
                group.addTask {
                    try await background.perform(schedule: .enqueued) {
                        let items = (0..<5).map { index -> TodoItem in
                            let item = TodoItem(context: background)
                            item.title = "\(number)-\(index)"
                            return item
                        }
                        try background.save()
                        return items.map(\.objectID)
                    }
                }
            }
            var all: [NSManagedObjectID] = []
            for try await part in group { all += part }
            return all
        }
        #expect(Set(ids).count == 20)
        let titles = ids.compactMap { (context.object(with: $0) as? TodoItem)?.title }
        #expect(Set(titles).count == 20)
        struct Stop: Error {}
        await #expect(throws: Stop.self) { try await context.perform { throw Stop() } }
        #expect(throws: Stop.self) { try context.performAndWait { throw Stop() } }
        let value: Int = await context.perform { 3 }
        #expect(value == 3)
    }
}
