import CoreData
import Foundation
import Testing

/// Keeps the number of its members, as programs do that cannot ask for it.
private final class CountingItem: NSManagedObject {
    override func willSave() {
        let count = (value(forKey: "parts") as? NSSet)?.count ?? 0
        if value(forKey: "count") as? Int != count { setValue(count, forKey: "count") }
    }
}

@Suite struct WillSaveAfterConflictTests {
    private static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let (item, part) = (NSEntityDescription(), NSEntityDescription())
        (item.name, part.name) = ("Item", "Part")
        item.managedObjectClassName = NSStringFromClass(CountingItem.self)
        let (parts, whole) = (NSRelationshipDescription(), NSRelationshipDescription())
        (parts.name, parts.destinationEntity, parts.maxCount, parts.inverseRelationship) = ("parts", part, 0, whole)
        (whole.name, whole.destinationEntity, whole.maxCount, whole.inverseRelationship) = ("whole", item, 1, parts)
        item.properties = [attribute("code", .stringAttributeType), attribute("count", .integer32AttributeType), parts]
        part.properties = [whole]
        item.uniquenessConstraints = [["code"]]
        let model = NSManagedObjectModel()
        model.entities = [item, part]
        return model
    }

    /// An inserted item gives way to the stored one, which gets its parts: a count that the stored one keeps was saved
    /// without them.
    @Test(arguments: StoreKind.allCases) func theStoredObjectCountsWhatItTakesOver(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        func add(_ context: NSManagedObjectContext) -> NSManagedObject {
            let item = insert("Item", context)
            item.setValue("a", forKey: "code")
            let part = insert("Part", context)
            part.setValue(item, forKey: "whole")
            return part
        }
        let (context, other) = (store.context(), store.context())
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        try context.performAndWait { () throws in
            let part = add(context)
            try other.performAndWait {
                _ = add(other)
                try other.save()
            }
            try context.save()
            #expect(part.value(forKeyPath: "whole.count") as? Int == 2)
            #expect((part.value(forKeyPath: "whole.parts") as? NSSet)?.count == 2)
        }
        #expect(try stored("Item", store, sort: "code").map { $0.value(forKey: "count") as? Int } == [2])
    }

    /// Who is told that a policy has taken the store's values may change something else, whose willSave has its say.
    @Test(arguments: StoreKind.allCases) func whatAnObserverChangesThenIsAskedToo(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let (context, other) = (store.context(), store.context())
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        try context.performAndWait { () throws in
            let (item, watched) = (insert("Item", context), insert("Item", context))
            item.setValue("a", forKey: "code")
            watched.setValue("b", forKey: "code")
            try context.save()
            let id = item.objectID
            try other.performAndWait {
                other.object(with: id).setValue("theirs", forKey: "code")
                try other.save()
            }
            item.setValue("mine", forKey: "code")
            nonisolated(unsafe) let (asked, other) = (item, watched)
            nonisolated(unsafe) var part: NSManagedObject?
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
            ) { _ in
                guard part == nil, asked.value(forKey: "code") as? String == "theirs" else { return }
                part = other.managedObjectContext.map { insert("Part", $0) }
                part?.setValue(other, forKey: "whole")
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            try context.save()
            #expect(part != nil && watched.value(forKey: "count") as? Int == 1 && !context.hasChanges)
        }
        let counts = try stored("Item", store, sort: "code").map { $0.value(forKey: "count") as? Int }
        #expect(counts == [1, 0])
    }
}
