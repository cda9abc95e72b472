import CoreData
import Foundation
import Testing

// The casts that programs make of what Core Data hands out as Any: numbers, sets, dictionaries, notifications, errors.

private final class CastsTag: NSManagedObject {}

private final class CastsNote: NSManagedObject {
    var tags: Set<CastsTag> { value(forKey: "tags") as? Set<CastsTag> ?? [] }
    var pages: [NSManagedObject] { (value(forKey: "pages") as? NSOrderedSet)?.array as? [NSManagedObject] ?? [] }
}

@Suite struct CastsClientTests {
    private static var model: NSManagedObjectModel {
        let note = GraphModel.entity("CastsNote", CastsNote.self)
        let tag = GraphModel.entity("CastsTag", CastsTag.self)
        let page = GraphModel.entity("CastsPage")
        let tags = GraphModel.relationship("tags", to: tag, toMany: true)
        let notes = GraphModel.relationship("notes", to: note, toMany: true)
        GraphModel.link(tags, notes)
        let pages = GraphModel.relationship(
            "pages", to: page, toMany: true, rule: .cascadeDeleteRule, ordered: true)
        let owner = GraphModel.relationship("note", to: note)
        GraphModel.link(pages, owner)
        note.properties = [
            GraphModel.attribute("title", .stringAttributeType, optional: false),
            GraphModel.attribute("count", .integer32AttributeType, default: 0),
            GraphModel.attribute("ratio", .floatAttributeType, default: 0),
            GraphModel.attribute("isOpen", .booleanAttributeType, default: true),
            GraphModel.attribute("price", .decimalAttributeType),
            GraphModel.attribute("when", .dateAttributeType), GraphModel.attribute("bytes", .binaryDataAttributeType),
            GraphModel.attribute("token", .UUIDAttributeType), GraphModel.attribute("link", .URIAttributeType), tags,
            pages,
        ]
        tag.properties = [GraphModel.attribute("name", .stringAttributeType), notes]
        page.properties = [GraphModel.attribute("number", .integer16AttributeType, default: 0), owner]
        let model = NSManagedObjectModel()
        model.entities = [note, tag, page]
        return model
    }

    private static func note(_ context: NSManagedObjectContext) -> CastsNote {
        let note = CastsNote(context: context)
        note.setValuesForKeys([
            "title": "t", "count": 3, "ratio": 0.5, "isOpen": false, "price": NSDecimalNumber(string: "1.25"),
            "when": Date(timeIntervalSinceReferenceDate: 10), "bytes": Data([1, 2]), "token": UUID(),
            "link": URL(string: "https://example.org/a") as Any,
        ])
        return note
    }

    @Test(arguments: StoreKind.allCases)
    func valuesByKey(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        try context.performAndWait {
            let note = Self.note(context)
            for _ in 0..<2 {
                #expect(note.value(forKey: "count") as? Int == 3 && note.value(forKey: "count") as? Int32 == 3)
                #expect(note.value(forKey: "count") as? Double == 3 && note.value(forKey: "count") as? NSNumber == 3)
                #expect(note.value(forKey: "ratio") as? Float == 0.5 && note.value(forKey: "ratio") as? Double == 0.5)
                #expect(note.value(forKey: "isOpen") as? Bool == false)
                #expect(note.value(forKey: "isOpen") as? NSNumber == NSNumber(value: false))
                #expect(note.value(forKey: "price") as? Decimal == Decimal(string: "1.25"))
                #expect((note.value(forKey: "price") as? NSDecimalNumber)?.stringValue == "1.25")
                #expect((note.value(forKey: "price") as? NSNumber)?.doubleValue == 1.25)
                #expect(note.value(forKey: "when") as? NSDate == NSDate(timeIntervalSinceReferenceDate: 10))
                #expect((note.value(forKey: "bytes") as? NSData)?.length == 2)
                #expect(note.value(forKey: "bytes") as? Data == Data([1, 2]))
                #expect(
                    note.value(forKey: "title") as? NSString == "t" && note.value(forKey: "title") as? String == "t")
                #expect(note.value(forKey: "token") is UUID && (note.value(forKey: "token") as? NSUUID) != nil)
                #expect((note.value(forKey: "link") as? NSURL)?.host == "example.org")
                #expect(note.value(forKey: "count") as? String == nil)
                // As values are set from Foundation's classes.
                note.setValue(NSNumber(value: 3), forKey: "count")
                note.setValue(Decimal(string: "1.25"), forKey: "price")
                note.setValue(true as NSNumber, forKey: "isOpen")
                note.setValue(false, forKey: "isOpen")
                note.setValue("t" as NSString, forKey: "title")
                note.setValue(NSDate(timeIntervalSinceReferenceDate: 10), forKey: "when")
                note.setValue(NSData(data: Data([1, 2])), forKey: "bytes")
                try context.save()
                context.refreshAllObjects()
            }
            let committed = note.committedValues(forKeys: ["count", "title"])
            #expect(committed["count"] as? Int == 3 && committed["title"] as? String == "t")
            note.setValue(4, forKey: "count")
            #expect(note.changedValues() as NSDictionary == ["count": 4] as NSDictionary)
            #expect(note.dictionaryWithValues(forKeys: ["count", "isOpen"])["count"] as? Int == 4)
            let comparable = note.changedValues() as? [String: AnyHashable]
            #expect(comparable?["count"] as? Int == 4)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func relationshipsByKey(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        try context.performAndWait {
            let note = Self.note(context)
            let tags = (0..<3).map { index in
                let tag = CastsTag(context: context)
                tag.setValue("\(index)", forKey: "name")
                return tag
            }
            note.setValue(Set(tags), forKey: "tags")
            #expect(note.tags == Set(tags))
            note.setValue(NSSet(array: tags), forKey: "tags")
            #expect((note.value(forKey: "tags") as? NSSet)?.count == 3)
            #expect((note.value(forKey: "tags") as? NSSet)?.allObjects is [CastsTag])
            #expect((note.value(forKey: "tags") as? Set<NSManagedObject>)?.count == 3)
            let mutable = note.mutableSetValue(forKey: "tags")
            mutable.remove(tags[0])
            mutable.minus([tags[1]])
            #expect(note.tags == [tags[2]] && mutable.allObjects as? [CastsTag] == [tags[2]])
            mutable.addObjects(from: tags)
            #expect(mutable.contains(tags[1]) && (tags[1].value(forKey: "notes") as? Set<CastsNote>) == [note])
            let names = note.value(forKeyPath: "tags.name")
            #expect(names as? Set<String> == ["0", "1", "2"])
            #expect((names as? NSSet)?.contains("1") == true)
            for number in 0..<3 {
                let page = NSEntityDescription.insertNewObject(forEntityName: "CastsPage", into: context)
                page.setValue(number, forKey: "number")
                page.setValue(note, forKey: "note")
            }
            #expect(note.pages.map { $0.value(forKey: "number") as? Int } == [0, 1, 2])
            let moved = note.mutableOrderedSetValue(forKey: "pages")
            moved.insert(moved.lastObject as Any, at: 0)
            #expect(note.pages.map { $0.value(forKey: "number") as? Int } == [0, 1, 2])
            let page = NSEntityDescription.insertNewObject(forEntityName: "CastsPage", into: context)
            page.setValue(9, forKey: "number")
            moved.insert(page, at: 1)
            #expect(note.pages.map { $0.value(forKey: "number") as? Int } == [0, 9, 1, 2])
            #expect((moved.array as? [NSManagedObject])?.map { $0.value(forKey: "number") as? Int } == [0, 9, 1, 2])
            try context.save()
            context.refreshAllObjects()
            #expect(note.pages.map { $0.value(forKey: "number") as? Int } == [0, 9, 1, 2])
            #expect(note.value(forKeyPath: "pages.@sum.number") as? Double == 12)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func resultsOfRequests(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        try context.performAndWait {
            let note = Self.note(context)
            try context.save()
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "CastsNote")
            #expect(try context.fetch(request) as? [CastsNote] == [note])
            #expect(try context.fetch(request) as? [NSManagedObject] == [note])
            request.resultType = .managedObjectIDResultType
            #expect(try context.fetch(request) as? [NSManagedObjectID] == [note.objectID])
            request.resultType = .countResultType
            #expect(try context.fetch(request) as? [Int] == [1] && context.fetch(request) as? [NSNumber] == [1])
            request.resultType = .dictionaryResultType
            let id = NSExpressionDescription()
            id.name = "id"
            id.expression = NSExpression.expressionForEvaluatedObject()
            id.expressionResultType = .objectIDAttributeType
            request.propertiesToFetch = ["title", "count", "isOpen", "price", "when", id]
            let rows = try #require(try context.fetch(request) as? [[String: Any]])
            #expect(rows.count == 1 && rows[0]["title"] as? String == "t" && rows[0]["count"] as? Int == 3)
            #expect(rows[0]["isOpen"] as? Bool == false && rows[0]["id"] as? NSManagedObjectID == note.objectID)
            #expect(rows[0]["price"] as? Decimal == Decimal(string: "1.25") && rows[0]["when"] is Date)
            #expect((try context.fetch(request) as? [NSDictionary])?.first?["count"] as? NSNumber == 3)
            #expect((try context.fetch(request) as? [[String: AnyHashable]])?.first?["count"] as? Int == 3)
        }
    }

    @Test func notificationsAndErrors() throws {
        let store = try TestStore(.memory, Self.model)
        let context = store.context()
        let found = LockedBox<[String]>([])
        let names: [Notification.Name] = [
            .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave,
            NSManagedObjectContext.didSaveObjectIDsNotification,
        ]
        let tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
                let info = note.userInfo ?? [:]
                if let set = info[NSInsertedObjectsKey] as? Set<CastsNote> {
                    found.change { $0.append("\(set.count)") }
                }
                if (info[NSInsertedObjectsKey] as? NSSet)?.anyObject() is CastsNote { found.change { $0.append("NS") } }
                if let ids = info[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> {
                    found.change { $0.append("id \(ids.count)") }
                }
                if let inserted = info["inserted"] as? Set<NSManagedObject>, inserted.count == 1 {
                    found.change { $0.append("name") }
                }
            }
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        try context.performAndWait {
            let note = Self.note(context)
            try context.save()
            #expect(found.value == ["1", "NS", "name", "1", "NS", "name", "id 1"])
            note.setValue(nil, forKey: "title")
            do {
                try context.save()
                Issue.record("the save went through")
            } catch {
                let error = error as NSError
                #expect(error.code == 1570 && (error as? CocoaError)?.code == .validationMissingMandatoryProperty)
                #expect(error.userInfo["NSValidationErrorKey"] as? String == "title")
                #expect(error.userInfo[NSValidationObjectErrorKey] as? CastsNote === note)
                #expect(error.localizedDescription.contains("title"))
            }
            let other = store.context()
            try other.performAndWait {
                let same = try #require(try other.existingObject(with: note.objectID) as? CastsNote)
                same.setValue(1, forKey: "count")
                try other.save()
            }
            note.setValue("again", forKey: "title")
            note.setValue(2, forKey: "count")
            do {
                try context.save()
                Issue.record("the save went through")
            } catch let error as NSError {
                #expect(error.code == NSManagedObjectMergeError)
                let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
                #expect(conflicts?.first?.sourceObject === note)
                #expect(conflicts?.first?.cachedSnapshot?["count"] as? Int == 1)
                #expect((error.userInfo["conflictList"] as? NSArray)?.count == 1)
            }
        }
    }
}
