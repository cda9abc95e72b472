import CoreData
import Foundation
import Testing

// Helpers as programs bring them along: generic factories, predicates with casts, key-path sorting, notifications as
// sequences; with both modules imported and types of predicates written out.

private class HelperNote: NSManagedObject {
    class func fetchRequest() -> NSFetchRequest<HelperNote> { NSFetchRequest<HelperNote>(entityName: "HelperNote") }

    var text: String? {
        get { value(forKey: "text") as? String }
        set { setValue(newValue, forKey: "text") }
    }
    var stamp: Date? {
        get {
            willAccessValue(forKey: "stamp")
            defer { didAccessValue(forKey: "stamp") }
            return primitiveValue(forKey: "stamp") as? Date
        }
        set { setValue(newValue, forKey: "stamp") }
    }
    var rank: Int64 {
        get { value(forKey: "rank") as! Int64 }
        set { setValue(newValue, forKey: "rank") }
    }
    var token: UUID? {
        get { value(forKey: "token") as? UUID }
        set { setValue(newValue, forKey: "token") }
    }
    var summary: String { "\(text ?? "") \(rank)" }

    convenience init(_ text: String, rank: Int64, in context: NSManagedObjectContext) {
        self.init(context: context)
        self.text = text
        self.rank = rank
    }
}

extension NSManagedObjectContext {
    fileprivate func make<T: NSManagedObject>(_ type: T.Type = T.self, _ configure: (T) -> Void = { _ in }) -> T {
        let object = T(context: self)
        configure(object)
        return object
    }

    fileprivate func firstObject<T: NSManagedObject>(_ type: T.Type, where predicate: NSPredicate) throws -> T? {
        let request = T.fetchRequest()
        request.predicate = predicate
        request.fetchLimit = 1
        return try fetch(request).first as? T
    }
}

extension NSManagedObject {
    fileprivate static func create(in context: NSManagedObjectContext) -> Self { Self(context: context) }
}

extension NSComparisonPredicate {
    fileprivate static func equal(_ left: NSExpression, _ right: Any?) -> NSComparisonPredicate {
        NSComparisonPredicate(
            leftExpression: left, rightExpression: NSExpression(forConstantValue: right), modifier: .direct,
            type: .equalTo,
            options: [])
    }
}

private func predicate(_ format: String, _ arguments: any CVarArg...) -> NSPredicate {
    withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
}

@MainActor
@Suite struct HelpersClientTests {
    private func context(_ kind: StoreKind = .memory, named name: String? = nil) throws -> NSManagedObjectContext {
        let entity = NSEntityDescription()
        entity.name = "HelperNote"
        entity.managedObjectClassName = name ?? NSStringFromClass(HelperNote.self)
        entity.properties = [
            ("text", NSAttributeType.stringAttributeType), ("stamp", .dateAttributeType),
            ("rank", .integer64AttributeType),
            ("token", .UUIDAttributeType),
        ].map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            if name == "rank" { attribute.defaultValue = 0 }
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("helper-\(UUID().uuidString)")
        try coordinator.addPersistentStore(
            ofType: kind == .memory ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil,
            at: kind == .memory ? nil : url, options: nil)
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test(arguments: ["HelperNote", String(describing: HelperNote.self), String(reflecting: HelperNote.self)])
    func privateClassesHaveNames(_ name: String) throws {
        let context = try context(named: name)
        let note = NSEntityDescription.insertNewObject(forEntityName: "HelperNote", into: context)
        #expect(type(of: note) == HelperNote.self)
        #expect(HelperNote(context: context).entity.name == "HelperNote")
        #expect(NSStringFromClass(NSManagedObject.self) == "NSManagedObject")
    }

    @Test func unknownClassesArePlainObjects() throws {
        let context = try context(named: "NoSuchClass")
        let note = NSEntityDescription.insertNewObject(forEntityName: "HelperNote", into: context)
        #expect(type(of: note) == NSManagedObject.self)
    }

    @Test func genericFactoriesMakeTheClass() throws {
        let context = try context()
        let note = context.make(HelperNote.self) { $0.text = "a" }
        let other: HelperNote = context.make()
        #expect(type(of: HelperNote.create(in: context)) == HelperNote.self)
        #expect(HelperNote("b", rank: 2, in: context).rank == 2)
        #expect(note.isInserted && other.isInserted)
        #expect(context.insertedObjects.count == 4)
        #expect(try context.firstObject(HelperNote.self, where: NSPredicate(format: "text == 'a'")) === note)
        let found: [HelperNote] = try context.fetch(HelperNote.fetchRequest())
        #expect(found.count == 4)
    }

    @Test(arguments: StoreKind.allCases)
    func argumentsMayBeCast(_ kind: StoreKind) throws {
        let context = try context(kind)
        let note = HelperNote("x", rank: 7, in: context)
        let token = UUID()
        let date = Date(timeIntervalSinceReferenceDate: 77)
        note.token = token
        note.stamp = date
        _ = HelperNote("y", rank: -8, in: context)
        try context.save()
        let predicates = [
            NSPredicate(format: "token == %@", token as any CVarArg),
            NSPredicate(format: "stamp == %@", date as any CVarArg),
            NSPredicate(format: "stamp <= %@", date as NSDate), NSPredicate(format: "SELF == %@", note as any CVarArg),
            NSPredicate(format: "rank == %@", NSNumber(value: 7) as any CVarArg),
            NSPredicate(format: "text IN %@", ["x", "z"] as any CVarArg),
            NSPredicate(format: "text IN %@", Set(["x"]) as any CVarArg),
            NSPredicate(format: "SELF IN %@", [note.objectID] as any CVarArg),
            predicate("%K == %@", "token", token), predicate("stamp == %@", date),
            predicate("rank == %ld AND text == %@", 7, "x"),
            predicate("SELF == %@", note), predicate("text IN %@", ["x"]), predicate("NOT rank == %d", -8),
            predicate("rank > %f AND rank < %f AND text != %@", 6.5, 7.5, "'%@'"), predicate("text == 'x'"),
            predicate("rank IN %@", [NSNumber(value: 7)] as NSArray), predicate("NOT (rank == %d)", Int32(-8)),
            NSComparisonPredicate.equal(NSExpression(forKeyPath: \HelperNote.text), "x"),
        ]
        for predicate in predicates {
            let request = HelperNote.fetchRequest() as NSFetchRequest<HelperNote>
            request.predicate = predicate
            #expect(try context.fetch(request) == [note], "\(predicate)")
        }
        let typed: NSComparisonPredicate? = predicates[0] as? NSComparisonPredicate
        let right: NSExpression? = typed?.rightExpression
        #expect(right?.constantValue as? UUID == token)
    }

    @Test(arguments: StoreKind.allCases)
    func keyPathsSortByTheirAttributes(_ kind: StoreKind) throws {
        let context = try context(kind)
        for (index, text) in ["b", "c", "a"].enumerated() {
            let note = HelperNote(text, rank: Int64(index), in: context)
            note.stamp = Date(timeIntervalSinceReferenceDate: Double(-index))
        }
        try context.save()
        context.reset()
        func texts(_ sort: NSSortDescriptor) throws -> [String?] {
            let request = HelperNote.fetchRequest() as NSFetchRequest<HelperNote>
            request.sortDescriptors = [sort]
            return try context.fetch(request).map(\.text)
        }
        #expect(try texts(NSSortDescriptor(keyPath: \HelperNote.text, ascending: true)) == ["a", "b", "c"])
        #expect(try texts(NSSortDescriptor(keyPath: \HelperNote.text, ascending: false)) == ["c", "b", "a"])
        #expect(try texts(NSSortDescriptor(keyPath: \HelperNote.stamp, ascending: true)) == ["a", "c", "b"])
        #expect(try texts(NSSortDescriptor(keyPath: \HelperNote.rank, ascending: false)) == ["a", "c", "b"])
        #expect(try texts(NSSortDescriptor(keyPath: \HelperNote.summary, ascending: false)) == ["c", "b", "a"])
        #expect(NSSortDescriptor(keyPath: \HelperNote.stamp, ascending: true).key == "stamp")
        let names = NSFetchRequest<NSDictionary>(entityName: "HelperNote")
        names.resultType = .dictionaryResultType
        names.propertiesToFetch = ["text"]
        names.sortDescriptors = [NSSortDescriptor(keyPath: \HelperNote.rank, ascending: true)]
        #expect(try context.fetch(names).map { $0["text"] as? String } == ["b", "c", "a"])
    }

    @Test func notificationsAreASequence() async throws {
        let context = try context()
        let notifications = NotificationCenter.default.notifications(
            named: .NSManagedObjectContextDidSave, object: context)
        var iterator = notifications.makeAsyncIterator()
        _ = HelperNote("a", rank: 1, in: context)
        try context.save()
        _ = HelperNote("b", rank: 1, in: context)
        _ = HelperNote("c", rank: 1, in: context)
        try context.save()
        let first = await iterator.next()
        let second = await iterator.next()
        #expect((first?.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count == 1)
        #expect((second?.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count == 2)
        let task = Task { () -> Int in
            var count = 0
            for await _ in NotificationCenter.default.notifications(named: Notification.Name("never")) { count += 1 }
            return count
        }
        task.cancel()
        #expect(await task.value == 0)
    }

    @Test func entitiesOfOtherModelsStandForOnesOwn() throws {
        let first = try context()
        let second = try context()
        let entity = try #require(first.persistentStoreCoordinator?.managedObjectModel.entitiesByName["HelperNote"])
        let note = HelperNote(entity: entity, insertInto: second)
        #expect(note.managedObjectContext === second)
        #expect(note.entity === second.persistentStoreCoordinator?.managedObjectModel.entitiesByName["HelperNote"])
        note.text = "here"
        try second.save()
        let insert = NSBatchInsertRequest(entity: entity, objects: [["text": "batch"]])
        try second.execute(insert)
        let update = NSBatchUpdateRequest(entity: entity)
        update.propertiesToUpdate = ["rank": 5]
        update.resultType = .updatedObjectsCountResultType
        #expect((try second.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)
        let request: NSFetchRequest<any NSFetchRequestResult> = HelperNote.fetchRequest()
        request.entity = entity
        request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
        #expect(try (second.fetch(request) as? [HelperNote])?.map(\.text) == ["batch", "here"])
        #expect(try first.count(for: request) == 0)
    }
}
