import CoreData
import Foundation
import Testing

// A client that sets relationships by the identifiers that a server sends, through Foundation's collections; and one
// that watches an entity by a predicate over the objects of notifications.

@Suite struct TaggingClient {
    private typealias G = GraphModel

    private static func model() -> NSManagedObjectModel {
        let (post, note, tag) = (G.entity("Post"), G.entity("Note"), G.entity("Tag"))
        let notes = G.relationship("notes", to: note, toMany: true)
        let postOf = G.relationship("post", to: post)
        let tags = G.relationship("tags", to: tag, toMany: true, ordered: true)
        let posts = G.relationship("posts", to: post, toMany: true)
        G.link(notes, postOf)
        G.link(tags, posts)
        post.properties = [G.attribute("number", .integer32AttributeType), notes, tags]
        note.properties = [G.attribute("number", .integer32AttributeType), postOf]
        tag.properties = [G.attribute("number", .integer32AttributeType), posts]
        let model = NSManagedObjectModel()
        model.entities = [post, note, tag]
        return model
    }

    private static func make(_ entity: String, _ number: Int, _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(number, forKey: "number")
        return object
    }

    /// Makes a relationship that of the objects with these numbers, in their order if it has one.
    private static func relate(_ object: NSManagedObject, _ key: String, _ numbers: Any) throws {
        let relationship = try #require(object.entity.relationshipsByName[key])
        let wanted = try #require(numbers as? NSArray)
        let present: NSSet
        if relationship.isOrdered {
            present = (object.value(forKey: key) as? NSOrderedSet ?? NSOrderedSet()).set as NSSet
        } else {
            present = object.value(forKey: key) as? NSSet ?? NSSet()
        }
        let known = try #require(present.value(forKey: "number") as? NSSet)
        let gone = NSMutableArray(array: known.allObjects)
        gone.removeObjects(in: wanted as? [Any] ?? [])
        let new = try #require(wanted.mutableCopy() as? NSMutableArray)
        new.removeObjects(in: known.allObjects)
        let request = NSFetchRequest<any NSFetchRequestResult>(
            entityName: relationship.destinationEntity?.name ?? "")
        let all = try object.managedObjectContext?.fetch(request) as? [NSManagedObject] ?? []
        for member in all {
            let number = try #require(member.value(forKey: "number"))
            if relationship.isOrdered {
                let members = object.mutableOrderedSetValue(forKey: key)
                if new.contains(number) { members.add(member) }
                if gone.contains(number) { members.remove(member) }
                // What is set is the live collection itself.
                object.setValue(members, forKey: key)
            } else {
                let members = object.mutableSetValue(forKey: key)
                if new.contains(number) { members.add(member) }
                if gone.contains(number) { members.remove(member) }
                object.setValue(members, forKey: key)
            }
        }
        guard relationship.isOrdered else { return }
        for member in all {
            let index = wanted.index(of: try #require(member.value(forKey: "number")))
            guard index != NSNotFound else { continue }
            let members = object.mutableOrderedSetValue(forKey: key)
            members.moveObjects(at: IndexSet(integer: members.index(of: member)), to: index)
        }
    }

    @Test(arguments: StoreKind.allCases) func identifiersBecomeRelationships(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            let post = Self.make("Post", 1, context)
            let notes = (1...4).map { Self.make("Note", $0, context) }
            let tags = (1...4).map { Self.make("Tag", $0, context) }
            for round in 0..<2 {
                try context.save()
                if round == 1 { context.refreshAllObjects() }
                try Self.relate(post, "notes", [1, 2, 3])
                #expect(post.value(forKey: "notes") as? Set<NSManagedObject> == Set(notes[0...2]))
                try Self.relate(post, "notes", [2, 4])
                #expect(post.value(forKey: "notes") as? Set<NSManagedObject> == [notes[1], notes[3]])
                #expect(notes[3].value(forKey: "post") as? NSManagedObject == post)
                try Self.relate(post, "tags", [3, 1, 2])
                let first = post.value(forKey: "tags") as? NSOrderedSet
                #expect(first?.array as? [NSManagedObject] == [tags[2], tags[0], tags[1]])
                try Self.relate(post, "tags", [4, 3])
                let second = post.value(forKey: "tags") as? NSOrderedSet
                #expect(second?.array as? [NSManagedObject] == [tags[3], tags[2]])
            }
            try context.save()
            post.setValue(nil, forKey: "notes")
            #expect((post.value(forKey: "notes") as? NSSet)?.count == 0)
        }
    }

    @Test(arguments: StoreKind.allCases) func anEntityIsWatched(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Note", in: context))
        nonisolated(unsafe) let predicate: NSPredicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "entity == %@", entity), NSPredicate(format: "number > 1"),
        ])
        let seen = LockedBox<[[Int]]>([])
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { notification in
            let info = (notification as NSNotification).userInfo
            let counts = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey].map { key in
                ((info?[key] as? NSSet)?.filtered(using: predicate) as? Set<NSManagedObject>)?.count ?? -1
            }
            seen.change { $0.append(counts) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try context.performAndWait {
            let notes = (1...3).map { Self.make("Note", $0, context) }
            _ = Self.make("Tag", 7, context)
            try context.save()
            notes[1].setValue(9, forKey: "number")
            context.delete(notes[2])
            try context.save()
        }
        #expect(seen.value == [[2, 0, 0], [0, 1, 1]])
    }

    /// A context that is never to save anything is reset by whoever hears that it is about to.
    @Test(arguments: StoreKind.allCases) func aContextThatIsResetBeforeItSavesSavesNothing(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextWillSave, object: context, queue: nil
        ) { ($0.object as? NSManagedObjectContext)?.reset() }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Post")
        try context.performAndWait {
            _ = Self.make("Post", 1, context)
            try context.save()
            NotificationCenter.default.removeObserver(token)
            #expect(try context.count(for: request) == 0 && !context.hasChanges)
            _ = Self.make("Post", 2, context)
            try context.save()
            #expect(try context.count(for: request) == 1)
        }
    }
}
