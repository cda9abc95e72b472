import CoreData
import Foundation
import Testing

/// A save whose merge policy kept a deletion of what others had changed fails after all, and the deletion is taken
/// back.
///
/// The object went by the version of the newest row and had the values of the one before. The next change wrote these
/// over what the others had saved, without a conflict, and the two ends of relationships came to disagree.
@Suite struct DeletionTakenBackTests {
    enum Way: CaseIterable, Sendable {
        case rollback, undo
    }

    private struct Failure: Error {}

    /// Resolves the first conflicts, and fails nevertheless.
    private final class FailingPolicy: NSMergePolicy, @unchecked Sendable {
        // Unchecked: used by one save after the other.
        private var hasFailed = false

        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            try super.resolve(optimisticLockingConflicts: list)
            if hasFailed { return }
            hasFailed = true
            throw Failure()
        }
    }

    private static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.retainsRegisteredObjects = true
        return context
    }

    @Test(arguments: StorePlace.allCases, Way.allCases)
    func whatOthersSavedIsNotWrittenOver(_ place: StorePlace, _ way: Way) throws {
        for type in [NSMergePolicyType.overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType] {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-back-\(UUID().uuidString)")
            let coordinator = try place.coordinator(ConflictModel.make(), at: url)
            defer {
                for store in coordinator.persistentStores { try? coordinator.remove(store) }
                removeStore(at: url)
            }
            let (here, there) = (Self.context(coordinator), Self.context(coordinator))
            let (partID, ids) = try there.performAndWait {
                let owners = ["a", "b"].map { item(there, ["code": $0]) }
                let part = insert("Part", there).set(["text": "old", "number": 1, "owner": owners[0]])
                try there.save()
                return (part.objectID, owners.map(\.objectID))
            }
            try here.performAndWait {
                if way == .undo { here.undoManager = UndoManager() }
                let part = try here.existingObject(with: partID)
                #expect(part.text("text") == "old" && here.object(with: ids[0]).members("parts") == [part])
                here.mergePolicy = FailingPolicy(merge: type)
                here.delete(part)
                here.processPendingChanges()
                try there.performAndWait {
                    let part = there.object(with: partID)
                    _ = part.set(["text": "theirs", "owner": there.object(with: ids[1])])
                    try there.save()
                }
                #expect(throws: Failure.self) { try here.save() }
                if way == .undo { here.undo() } else { here.rollback() }
                #expect(!part.isDeleted)
                part.setValue(2, forKey: "number")
                try here.save()
                #expect(part.text("text") == "theirs" && part.number("number") == 2)
            }
            let fresh = Self.context(coordinator)
            try fresh.performAndWait {
                let part = try fresh.existingObject(with: partID)
                #expect(part.text("text") == "theirs" && part.number("number") == 2)
                let owner = try #require(part.value(forKey: "owner") as? NSManagedObject)
                #expect(owner.objectID == ids[1], "\(place) \(way) \(type)")
                #expect(ids.map { fresh.object(with: $0).members("parts").count } == [0, 1])
            }
        }
    }

    /// A deletion that only went because another one did is denied once that one is taken back.
    ///
    /// The rule was asked before the conflict, and not again.
    @Test(arguments: StoreKind.allCases) func whatRefersToTheObjectStays(_ kind: StoreKind) throws {
        let (box, thing, guest) = (GraphModel.entity("Box"), GraphModel.entity("Thing"), GraphModel.entity("Guest"))
        let things = GraphModel.relationship("things", to: thing, toMany: true, rule: .cascadeDeleteRule)
        let home = GraphModel.relationship("box", to: box, rule: .denyDeleteRule)
        GraphModel.link(things, home)
        box.properties = [GraphModel.attribute("name", .stringAttributeType), things]
        thing.properties = [home]
        guest.properties = [GraphModel.attribute("name", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [box, thing, guest]
        let store = try TestStore(kind, model)
        let (here, there) = (store.context(), store.context())
        for type in [NSMergePolicyType.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType] {
            try here.performAndWait {
                here.mergePolicy = NSMergePolicy(merge: type)
                let box = insert("Box", here).set(["name": "ours"])
                let thing = insert("Thing", here).set(["box": box])
                try here.save()
                here.delete(box)
                here.processPendingChanges()
                #expect(thing.isDeleted)
                try there.performAndWait {
                    there.object(with: box.objectID).setValue("theirs", forKey: "name")
                    try there.save()
                }
                #expect(saveError(here)?.code == .validationRelationshipDeniedDelete)
                here.rollback()
                #expect(!box.isDeleted && !thing.isDeleted && box.members("things") == [thing])
                #expect(box.text("name") == "theirs")
                here.delete(box)
                try here.save()
            }
        }
    }
}
