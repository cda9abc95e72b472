import CoreData
import Foundation
import Testing

@testable import Strata

/// The row that an object goes by has been replaced, and compaction has taken it away: what the object was before its
/// changes cannot be had any more when a merge policy takes them back.
@Suite struct LostRowTests {
    private static func forgetOldRows(_ store: TestStore, _ context: NSManagedObjectContext) throws {
        let request = NSPersistentHistoryChangeRequest.deleteHistory(before: Date().addingTimeInterval(3_600))
        _ = try context.execute(request)
        try store.coordinator.compact(store.store)
    }

    /// A deletion is taken back that had cleared a reference, of an object that others have saved since.
    @Test(arguments: [NSMergePolicyType.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType])
    func aReferenceIsGivenBack(_ type: NSMergePolicyType) throws {
        let store = try TestStore(.log, ConflictModel.make())
        let (here, there) = (store.context(), store.context())
        try here.performAndWait {
            here.mergePolicy = NSMergePolicy(merge: type)
            let owner = item(here, ["code": "a"])
            let part = insert("Part", here).set(["text": "old", "note": "old", "owner": owner])
            try here.save()
            part.setValue("ours", forKey: "note")
            here.delete(owner)
            here.processPendingChanges()
            #expect(part.value(forKey: "owner") == nil)
            try there.performAndWait {
                there.object(with: part.objectID).setValue("theirs", forKey: "text")
                there.object(with: owner.objectID).setValue("theirs", forKey: "name")
                try there.save()
                try Self.forgetOldRows(store, there)
            }
            #expect(part.committedRow() == nil)
            try here.save()
            #expect(part.value(forKey: "owner") as? NSManagedObject === owner && owner.text("name") == "theirs")
            #expect(part.text("text") == "theirs" && owner.members("parts") == [part])
        }
        let fresh = store.context()
        try fresh.performAndWait {
            let part = try #require(fetchAll(NSManagedObject.self, "Part", fresh).first)
            let owner = part.value(forKey: "owner") as? NSManagedObject
            #expect(part.text("text") == "theirs" && owner?.text("name") == "theirs")
            #expect(owner?.members("parts") == [part])
        }
    }
}
