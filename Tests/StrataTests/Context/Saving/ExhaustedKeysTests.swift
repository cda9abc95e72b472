import CoreData
import Foundation
import StrataLog
import Testing

@testable import Strata

/// A store whose log claims that nearly all primary keys are used, as a forged one may. The next insertion stopped the
/// program.
@Suite struct ExhaustedKeysTests {
    /// Leaves two keys of each entity.
    private static func exhaust(_ store: NSPersistentStore, leaving count: UInt64 = 2) throws {
        let log = try #require(store.handle).log
        for entity in log.schema.entities where entity.id == entity.rootID {
            log.reserveKeys(root: entity.id, through: ObjectRef.maximumKey - 1 - count)
        }
    }

    private static func expectRefusal(_ what: String, _ body: () throws -> Void) {
        let error = #expect(throws: CocoaError.self) { try body() }
        #expect(error?.code == .persistentStoreSave)
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("No new object\(what) can be numbered"), "\(text)")
        #expect(text.contains("primary keys left"), "\(text)")
        #expect(error?.userInfo[NSFilePathErrorKey] != nil)
    }

    @Test(arguments: StoreKind.allCases, ["save", "IDs", "child"])
    func newObjectsAreRefused(_ kind: StoreKind, _ way: String) throws {
        let store = try TestStore(kind)
        try Self.exhaust(store.store)
        let context = store.context()
        try context.performAndWait {
            let objects = (0..<3).map { insert("Project", context).set(["code": "\($0)"]) }
            switch way {
            case "IDs":
                Self.expectRefusal(" of Project") { try context.obtainPermanentIDs(for: objects) }
                #expect(objects.allSatisfy { $0.objectID.isTemporaryID })
            case "child":
                let child = NSManagedObjectContext(.privateQueue)
                child.parent = context
                child.performAndWait {
                    let more = (0..<3).map { _ in insert("Project", child) }
                    Self.expectRefusal(" of Project") { try child.obtainPermanentIDs(for: more) }
                    child.reset()
                }
            default: break
            }
            Self.expectRefusal(" of Project") { try context.save() }
            #expect(context.insertedObjects.count == 3)
            // What there is room for is saved, with the last two keys.
            context.delete(objects[2])
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Project")) == 2)
            objects[0].setValue("changed", forKey: "code")
            try context.save()
            _ = insert("Project", context)
            Self.expectRefusal(" of Project") { try context.save() }
            context.rollback()
        }
        try store.reopen()
        #expect(try stored("Project", store, sort: "code").compactMap { $0.text("code") } == ["1", "changed"])
    }

    /// Members of a relationship that is to-many at both ends are numbered, too.
    @Test(arguments: StoreKind.allCases) func newPairsAreRefused(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let project = insert("Project", context)
            let people = (0..<3).map { insert("Employee", context).set(["name": "\($0)"]) }
            try context.save()
            try Self.exhaust(store.store)
            project.setValue(NSSet(array: people), forKey: "staff")
            Self.expectRefusal("") { try context.save() }
            project.mutableSetValue(forKey: "staff").remove(people[2])
            try context.save()
            #expect(project.targets("staff").count == 2)
        }
    }

    @Test(arguments: StoreKind.allCases) func batchInsertsAreRefused(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        try Self.exhaust(store.store)
        let context = store.context()
        try context.performAndWait { () throws in
            Self.expectRefusal(" of Project") {
                _ = try context.execute(
                    NSBatchInsertRequest(
                        entityName: "Project", objects: (0..<20).map { ["code": "\($0)"] }))
            }
            var rest = 20
            Self.expectRefusal(" of Project") {
                _ = try context.execute(
                    NSBatchInsertRequest(
                        entityName: "Project",
                        managedObjectHandler: { object in
                            object.setValue("\(rest)", forKey: "code")
                            rest -= 1
                            return rest < 0
                        }))
            }
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Project")) == 0)
        }
    }

    /// A copy takes the keys over; one more object is refused there as well.
    @Test func aCopyIsNoWayOut() throws {
        let store = try TestStore(.log)
        let context = store.context()
        try context.performAndWait {
            _ = insert("Project", context).set(["code": "first"])
            try context.save()
        }
        try Self.exhaust(store.store, leaving: 1)
        try context.performAndWait {
            _ = insert("Project", context).set(["code": "last"])
            try context.save()
        }
        let target = store.url.deletingLastPathComponent().appendingPathComponent("copy-\(UUID().uuidString)")
        defer { removeStore(at: target) }
        let moved = try store.coordinator.migratePersistentStore(store.store, to: target, type: .sqlite)
        let later = store.context()
        try later.performAndWait { () throws in
            #expect(try later.count(for: NSFetchRequest<NSManagedObject>(entityName: "Project")) == 2)
            _ = insert("Project", later)
            Self.expectRefusal(" of Project") { try later.save() }
        }
        #expect(moved.url?.path == target.path)
    }
}
