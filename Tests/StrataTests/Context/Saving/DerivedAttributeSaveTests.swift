import CoreData
import Foundation
import Testing

/// Trims what it is given.
private final class Note: NSManagedObject {
    override class var keyValidators: [String: KeyValidator] { ["text": KeyValidator(Note.validateText)] }

    func validateText(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        guard let text = value.pointee as? String, text.hasSuffix(" ") else { return }
        value.pointee = text.trimmingCharacters(in: .whitespaces) as AnyObject
    }
}

/// Derived attributes belong to what is saved, whatever validation and merge policies make of it.
@Suite struct DerivedAttributeSaveTests {
    @Test(arguments: StoreKind.allCases) func validationCorrectsTheSource(_ kind: StoreKind) throws {
        ManagedObjectClasses.register(Note.self)
        let note = GraphModel.entity("Note", Note.self)
        let key = NSDerivedAttributeDescription()
        key.name = "key"
        key.attributeType = .stringAttributeType
        key.derivationExpression = NSExpression(format: "canonical:(text)")
        let time = NSDerivedAttributeDescription()
        time.name = "time"
        time.attributeType = .dateAttributeType
        time.derivationExpression = NSExpression(format: "now()")
        note.properties = [GraphModel.attribute("text", .stringAttributeType), key, time]
        let model = NSManagedObjectModel()
        model.entities = [note]
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait {
            let object = Note(entity: note, insertInto: context)
            object.setValue("ABC  ", forKey: "text")
            try context.save()
            #expect(object.text("text") == "ABC" && object.text("key") == "abc" && !context.hasChanges)
        }
        #expect(try stored("Note", store, sort: "text").map { $0.text("key") } == ["abc"])
    }

    @Test(arguments: [NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType])
    func aMergePolicyAddsSources(_ type: NSMergePolicyType) throws {
        let store = try TestStore(.memory, FetchDerivedTests.library())
        let (context, other) = (store.context(), store.context())
        context.mergePolicy = NSMergePolicy(merge: type)
        try context.performAndWait {
            let author = insert("Author", context).set(["name": "a"])
            try context.save()
            _ = author.members("books")
            author.setValue("b", forKey: "name")
            insert("Book", context).set(["pages": 100]).setValue(author, forKey: "author")
            let id = author.objectID
            try other.performAndWait {
                insert("Book", other).set(["pages": 10]).setValue(other.object(with: id), forKey: "author")
                try other.save()
            }
            try context.save()
            #expect(author.number("pageCount") == 110 && author.number("bookCount") == 2)
        }
        let authors = try stored("Author", store, sort: "name")
        #expect(authors.map { $0.number("pageCount") } == [110] && authors.map { $0.text("canonicalName") } == ["b"])
    }
}
