import CoreData
import Testing

/// No row holds the default value of a transient attribute: an object has it from its insertion on, as long as it is no
/// fault, whatever is saved and taken back meanwhile.
@Suite struct TransientDefaultsTests {
    private static func model() -> NSManagedObjectModel {
        let (note, folder) = (GraphModel.entity("Note"), GraphModel.entity("Folder"))
        let notes = GraphModel.relationship("notes", to: note, toMany: true)
        let parent = GraphModel.relationship("folder", to: folder)
        GraphModel.link(notes, parent)
        folder.properties = [GraphModel.attribute("name", .stringAttributeType), notes]
        let transient = GraphModel.attribute("mood", .stringAttributeType, optional: false, default: "calm")
        transient.isTransient = true
        let number = GraphModel.attribute("weight", .integer64AttributeType, default: 3)
        number.isTransient = true
        note.properties = [GraphModel.attribute("text", .stringAttributeType), transient, number, parent]
        let model = NSManagedObjectModel()
        model.entities = [note, folder]
        return model
    }

    private static func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        return child
    }

    @Test(arguments: StoreKind.allCases, [0, 1, 2]) func rollbacksKeepThem(_ kind: StoreKind, _ depth: Int) throws {
        let store = try TestStore(kind, Self.model())
        var contexts = [store.context()]
        for _ in 0..<depth { contexts.append(Self.child(of: contexts[contexts.count - 1])) }
        let lowest = contexts[depth]
        try lowest.performAndWait {
            let note = insert("Note", lowest).set(["text": "a"])
            #expect(note.text("mood") == "calm" && note.number("weight") == 3)
            for context in contexts.reversed() { try context.performAndWait { try context.save() } }
            #expect(note.text("mood") == "calm" && note.number("weight") == 3)
            note.setValue("b", forKey: "text")
            lowest.rollback()
            #expect(note.text("text") == "a")
            #expect(note.text("mood") == "calm" && note.number("weight") == 3)
            note.setValue("merry", forKey: "mood")
            try lowest.save()
            note.setValue("c", forKey: "text")
            lowest.rollback()
            #expect(note.text("mood") == "merry" && note.number("weight") == 3)
            note.setValue("sad", forKey: "mood")
            lowest.rollback()
            #expect(note.text("text") == "a" && note.number("weight") == 3)
        }
    }

    /// What a child has inserted its parent has with the defaults, too, also once the parent has saved and taken a
    /// change back.
    @Test(arguments: StoreKind.allCases) func parentsHaveThem(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let parent = store.context()
        let child = Self.child(of: parent)
        let id = try child.performAndWait {
            let note = insert("Note", child).set(["text": "a"])
            try child.save()
            return note.objectID
        }
        try parent.performAndWait {
            let note = parent.object(with: id)
            #expect(note.text("mood") == "calm" && note.number("weight") == 3)
            try parent.save()
            #expect(note.text("mood") == "calm" && note.number("weight") == 3)
            note.setValue("b", forKey: "text")
            parent.rollback()
            #expect(note.text("text") == "a" && note.text("mood") == "calm" && note.number("weight") == 3)
        }
    }

    /// A merge policy gives back the reference that a deletion had cleared, or keeps the deletion of the object itself,
    /// which is rolled back then: both put the stored row beneath what the object was inserted with.
    @Test(arguments: StoreKind.allCases) func mergePoliciesKeepThem(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let (here, there) = (store.context(), store.context())
        try here.performAndWait {
            here.mergePolicy = NSMergePolicy.rollback
            let folder = insert("Folder", here).set(["name": "a"])
            let note = insert("Note", here).set(["text": "a", "folder": folder])
            try here.save()
            here.delete(folder)
            here.processPendingChanges()
            #expect(note.value(forKey: "folder") == nil)
            try there.performAndWait {
                there.object(with: folder.objectID).setValue("b", forKey: "name")
                try there.save()
            }
            try here.save()
            #expect(note.value(forKey: "folder") as? NSManagedObject === folder && folder.text("name") == "b")
            // It is mandatory.
            note.setValue("b", forKey: "text")
            try here.save()
            #expect(note.text("mood") == "calm" && note.number("weight") == 3)
        }
    }
}
