import CoreData
import Foundation
import Testing

// An importer: records from a server with stable identifiers go into a background context, uniqueness constraints and a
// merge policy of its own decide what stays, the view follows by itself, and a list shows it in sections.

/// Takes whichever side was changed last, and leaves everything else to object trump.
private final class NewestWins: NSMergePolicy, @unchecked Sendable {
    private(set) var asked: [String] = []

    init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        for conflict in list {
            asked.append("row")
            let (mine, theirs) = (
                conflict.sourceObject.value(forKey: "changed") as? Date, conflict.cachedSnapshot?["changed"] as? Date
            )
            if let mine, let theirs, theirs > mine {
                let object = conflict.sourceObject
                for (key, value) in conflict.cachedSnapshot ?? [:] where object.entity.attributesByName[key] != nil {
                    object.setValue(value is NSNull ? nil : value, forKey: key)
                }
            }
        }
        try super.resolve(optimisticLockingConflicts: list)
    }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        for conflict in list {
            asked.append("constraint \(conflict.constraint.joined(separator: ","))")
            guard let stored = conflict.databaseObject, let theirs = stored.value(forKey: "changed") as? Date else {
                continue
            }
            for object in conflict.conflictingObjects {
                guard let mine = object.value(forKey: "changed") as? Date, theirs > mine else { continue }
                for key in object.entity.attributesByName.keys {
                    object.setValue(stored.value(forKey: key), forKey: key)
                }
            }
        }
        try super.resolve(constraintConflicts: list)
    }
}

private final class Table: NSObject, NSFetchedResultsControllerDelegate {
    private(set) var changes: [String] = []

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        changes.append("\(type) section \(sectionIndex)")
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        changes.append("\(type) \((anObject as? NSManagedObject)?.value(forKey: "identifier") ?? "-")")
    }
}

@Suite struct ImportClientTests {
    private static func model() -> NSManagedObjectModel {
        let article = GraphModel.entity("Article")
        let source = GraphModel.entity("Source")
        let sourceOf = GraphModel.relationship("source", to: source)
        let articles = GraphModel.relationship("articles", to: article, toMany: true, rule: .cascadeDeleteRule)
        GraphModel.link(sourceOf, articles)
        article.properties = [
            GraphModel.attribute("identifier", .stringAttributeType, optional: false),
            GraphModel.attribute("title", .stringAttributeType), GraphModel.attribute("section", .stringAttributeType),
            GraphModel.attribute("changed", .dateAttributeType),
            GraphModel.attribute("isRead", .booleanAttributeType, default: false),
            sourceOf,
        ]
        article.uniquenessConstraints = [["identifier"]]
        source.properties = [GraphModel.attribute("name", .stringAttributeType), articles]
        source.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [article, source]
        return model
    }

    private static func day(_ number: Double) -> Date { Date(timeIntervalSinceReferenceDate: number * 86_400) }

    @discardableResult
    private func article(
        _ identifier: String, _ title: String, day: Double, in section: String = "News",
        _ context: NSManagedObjectContext
    ) -> NSManagedObject {
        let article = NSEntityDescription.insertNewObject(forEntityName: "Article", into: context)
        article.setValuesForKeys([
            "identifier": identifier, "title": title, "changed": Self.day(day), "section": section,
        ])
        return article
    }

    private func titles(_ context: NSManagedObjectContext) throws -> [String] {
        try fetchAll(NSManagedObject.self, "Article", context, sort: "identifier").map {
            "\($0.value(forKey: "identifier") ?? "-") \($0.value(forKey: "title") ?? "-")"
        }
    }

    @Test(arguments: StoreKind.allCases) func theNewestRecordStays(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        let policy = NewestWins()
        context.mergePolicy = policy
        try context.check { () throws in
            article("1", "old", day: 1, context)
            article("2", "new", day: 9, context)
            try context.save()
            context.reset()
            article("1", "newer", day: 5, context)
            article("2", "stale", day: 5, context)
            article("3", "first", day: 5, context)
            try context.save()
            #expect(policy.asked == ["constraint identifier", "constraint identifier"])
            context.reset()
            #expect(try titles(context) == ["1 newer", "2 new", "3 first"])
        }
    }

    @Test(arguments: StoreKind.allCases) func rowsThatChangedMeanwhileAreAskedFor(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let (here, there) = (store.context(), store.context())
        let policy = NewestWins()
        here.mergePolicy = policy
        try here.check { () throws in
            let (first, second) = (article("1", "a", day: 1, here), article("2", "a", day: 1, here))
            try here.save()
            try there.check { () throws in
                for object in try fetchAll(NSManagedObject.self, "Article", there) {
                    object.setValuesForKeys(["title": "theirs", "changed": Self.day(5)])
                }
                try there.save()
            }
            first.setValuesForKeys(["title": "mine", "changed": Self.day(3)])
            second.setValuesForKeys(["title": "mine", "changed": Self.day(7)])
            try here.save()
            #expect(policy.asked == ["row", "row"])
            #expect(
                first.value(forKey: "title") as? String == "theirs"
                    && second.value(forKey: "title") as? String == "mine")
            here.reset()
            #expect(try titles(here) == ["1 theirs", "2 mine"])
        }
    }

    @Test(arguments: StoreKind.allCases) func withoutAPolicyTheImportFailsAndSaysWhy(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.check { () throws in
            article("1", "stored", day: 1, context)
            try context.save()
            let double = article("1", "double", day: 2, context)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.errorCode == NSManagedObjectConstraintMergeError)
            let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
            #expect(conflicts?.count == 1 && conflicts?.first?.constraint == ["identifier"])
            #expect(conflicts?.first?.constraintValues["identifier"] as? String == "1")
            #expect(conflicts?.first?.conflictingObjects == [double])
            #expect(context.insertedObjects == [double] && context.hasChanges)
            double.setValue("2", forKey: "identifier")
            try context.save()
            #expect(try titles(context) == ["1 stored", "2 double"])
        }
    }

    /// Relationships of what is imported twice end up with the one object that stays.
    @Test(arguments: StoreKind.allCases) func sourcesThatComeWithEachRecordAreOne(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        for round in 0..<3 {
            let context = store.context()
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.check { () throws in
                let source = NSEntityDescription.insertNewObject(forEntityName: "Source", into: context)
                source.setValue("agency", forKey: "name")
                article("\(round)", "r\(round)", day: 1, context).setValue(source, forKey: "source")
                try context.save()
            }
        }
        let context = store.context()
        try context.check { () throws in
            let sources = try fetchAll(NSManagedObject.self, "Source", context)
            #expect(sources.count == 1)
            #expect((sources.first?.value(forKey: "articles") as? Set<NSManagedObject>)?.count == 3)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Article")
            request.predicate = NSPredicate(format: "source.name == 'agency'")
            #expect(try context.count(for: request) == 3)
        }
    }

    /// What the program knows beside the server's data survives an upsert by batch, where its columns are not given.
    @Test(arguments: StoreKind.allCases) func batchesUpsertAndTheListFollows(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let view = store.context()
        view.automaticallyMergesChangesFromParent = true
        try view.check { () throws in
            article("1", "one", day: 1, in: "A", view).setValue(true, forKey: "isRead")
            article("2", "two", day: 1, in: "B", view)
            try view.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Article")
            request.sortDescriptors = ["section", "identifier"].map { NSSortDescriptor(key: $0, ascending: true) }
            let list = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: view, sectionNameKeyPath: "section", cacheName: nil)
            let table = Table()
            list.delegate = table
            try list.performFetch()
            func sections() -> [String] { list.sections?.map { "\($0.name)\($0.numberOfObjects)" } ?? [] }
            #expect(sections() == ["A1", "B1"])
            let importer = store.context()
            importer.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            nonisolated(unsafe) var ids: [NSManagedObjectID] = []
            try importer.check { () throws in
                let insert = NSBatchInsertRequest(
                    entityName: "Article",
                    objects: [
                        ["identifier": "1", "title": "one!", "section": "B"],
                        ["identifier": "3", "title": "three", "section": "C"],
                    ])
                insert.resultType = .objectIDs
                ids = (try importer.execute(insert) as? NSBatchInsertResult)?.result as? [NSManagedObjectID] ?? []
            }
            #expect(ids.count == 2)
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectsKey: ids], into: [view])
            view.processPendingChanges()
            #expect(sections() == ["B2", "C1"])
            let first = try #require(list.fetchedObjects?.first)
            #expect(first.value(forKey: "title") as? String == "one!" && first.value(forKey: "isRead") as? Bool == true)
            #expect(table.changes.sorted() == ["delete section 0", "insert 3", "insert section 1", "move 1"])
        }
    }
}
