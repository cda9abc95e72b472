import CoreData
import Foundation
import Testing

/// Refuses what it is asked about with an error of its own.
private final class RefusingPolicy: NSMergePolicy, @unchecked Sendable {
    init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        throw CocoaError(.userCancelled)
    }
    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        throw CocoaError(.userCancelled)
    }
}

/// What Core Data's reference says of merge policies and conflicts, where no other suite says it.
@Suite struct ConflictReferenceTests {
    /// An object with a part and a label that another context has renamed, and that has another count here.
    private func conflicting(
        _ kind: StoreKind, _ policy: NSMergePolicy,
        _ body: (TestStore, NSManagedObjectContext, NSManagedObject) throws -> Void
    ) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let (here, there) = (store.context(), store.context())
        here.mergePolicy = policy
        try here.check { () throws in
            let object = item(here, ["code": "a", "name": "start", "count": 1])
            let part = insert("Part", here).set(["owner": object, "text": "start"])
            try here.save()
            try there.check { () throws in
                _ = there.object(with: object.objectID).set(["name": "theirs", "count": 7])
                _ = there.object(with: part.objectID).set(["text": "theirs"])
                try there.save()
            }
            _ = object.set(["count": 2])
            _ = part.set(["note": "mine"])
            try body(store, here, object)
        }
    }

    /// "Save returns with an error that contains the object IDs of the objects that had conflicts
    /// (NSInsertedObjectsKey, NSUpdatedObjectsKey)."
    @Test(arguments: StoreKind.allCases) func theErrorNamesTheObjects(_ kind: StoreKind) throws {
        try conflicting(kind, .error) { store, context, object in
            let part = try #require(object.members("parts").first)
            let error = saveError(context)
            #expect(error?.code.rawValue == NSManagedObjectMergeError)
            let updated = error?.userInfo[NSUpdatedObjectsKey] as? Set<NSManagedObjectID>
            #expect(updated == [object.objectID, part.objectID])
            #expect(error?.userInfo[NSInsertedObjectsKey] == nil)
            context.rollback()
            let inserted = item(context, ["code": "a"])
            let refused = saveError(context)
            #expect(refused?.code.rawValue == NSManagedObjectConstraintMergeError)
            #expect(refused?.userInfo[NSInsertedObjectsKey] as? Set<NSManagedObjectID> == [inserted.objectID])
            #expect(refused?.userInfo[NSUpdatedObjectsKey] == nil)
        }
    }

    /// "Snapshot dictionaries include values for all attributes and to-one relationships, but not to-many
    /// relationships. Relationship values are NSManagedObjectID references."
    @Test(arguments: StoreKind.allCases) func snapshotsHaveAttributesAndIDs(_ kind: StoreKind) throws {
        try conflicting(kind, .error) { store, context, object in
            let part = try #require(object.members("parts").first)
            let conflicts = try #require(saveError(context)?.persistentStoreSaveConflicts)
            let ofObject = try #require(conflicts.first { $0.sourceObject === object })
            #expect(Set(ofObject.cachedSnapshot?.keys.map { $0 } ?? []) == ["code", "name", "count"])
            #expect(Set(ofObject.objectSnapshot?.keys.map { $0 } ?? []) == ["code", "name", "count"])
            let ofPart = try #require(conflicts.first { $0.sourceObject === part })
            #expect(Set(ofPart.cachedSnapshot?.keys.map { $0 } ?? []) == ["text", "note", "number", "owner"])
            #expect(ofPart.cachedSnapshot?["owner"] as? NSManagedObjectID == object.objectID)
            #expect(ofPart.objectSnapshot?["owner"] as? NSManagedObjectID == object.objectID)
            #expect(ofPart.cachedSnapshot?["note"] is NSNull && ofPart.cachedSnapshot?["number"] is NSNull)
            #expect(ofPart.persistedSnapshot == nil && ofPart.newVersionNumber != ofPart.oldVersionNumber)
        }
    }

    /// Overwriting pushes the whole object up, not just the changed properties; rolling back gives up all changes of
    /// the objects in conflict, and of no others; the two others go property by property.
    @Test(arguments: StoreKind.allCases, resolvingPolicies)
    func eachPolicyDoesWhatItSays(_ kind: StoreKind, _ type: NSMergePolicyType) throws {
        try conflicting(kind, NSMergePolicy(merge: type)) { store, context, object in
            let part = try #require(object.members("parts").first)
            let untouched = item(context, ["code": "b", "name": "new"])
            try context.save()
            let expected: (name: String, count: Int, text: String, note: String?) =
                switch type {
                case .mergeByPropertyStoreTrumpMergePolicyType: ("theirs", 7, "theirs", "mine")
                case .mergeByPropertyObjectTrumpMergePolicyType: ("theirs", 2, "theirs", "mine")
                case .overwriteMergePolicyType: ("start", 2, "start", "mine")
                default: ("theirs", 7, "theirs", nil)
                }
            let rows = store.context()
            for (at, object, part, other) in [
                ("here", object, part, untouched),
                (
                    "stored", rows.object(with: object.objectID), rows.object(with: part.objectID),
                    rows.object(with: untouched.objectID)
                ),
            ] {
                #expect(object.text("name") == expected.name && object.number("count") == expected.count, "\(at)")
                #expect(part.text("text") == expected.text && part.text("note") == expected.note, "\(at)")
                #expect(other.text("name") == "new", "\(at)")
            }
            #expect(!context.hasChanges)
        }
    }

    /// "The method should throw if the conflicts cannot be resolved": the save fails with that error, and the changes
    /// stay.
    @Test(arguments: StoreKind.allCases) func whatAPolicyThrowsTheSaveThrows(_ kind: StoreKind) throws {
        try conflicting(kind, RefusingPolicy()) { store, context, object in
            #expect(saveError(context)?.code == .userCancelled)
            #expect(object.isUpdated && object.number("count") == 2)
            context.rollback()
            let double = item(context, ["code": "a"])
            #expect(saveError(context)?.code == .userCancelled)
            #expect(double.isInserted && double.objectID.isTemporaryID)
        }
    }

    /// A child saves into its parent without being asked; the policy of the line's top decides.
    @Test(arguments: StoreKind.allCases) func theTopsPolicyDecides(_ kind: StoreKind) throws {
        try conflicting(kind, .mergeByPropertyStoreTrump) { store, context, object in
            let child = ContextLine.child(of: context)
            child.mergePolicy = NSMergePolicy.error
            let id = object.objectID
            try child.check { () throws in
                let same = child.object(with: id)
                #expect(same.number("count") == 2)
                _ = same.set(["name": "child's"])
                try child.save()
            }
            try context.save()
            #expect(object.text("name") == "theirs" && object.number("count") == 7)
        }
    }

    @Test func conflictsCanBeMadeAndResolved() throws {
        let store = try TestStore(.memory, ConflictModel.make())
        let context = store.context()
        try context.check { () throws in
            let object = item(context, ["code": "a", "name": "start"])
            try context.save()
            let made = NSMergeConflict(
                source: object, newVersion: 0, oldVersion: 3, cachedSnapshot: ["name": "cached"], persistedSnapshot: nil
            )
            #expect(made.sourceObject === object && made.newVersionNumber == 0 && made.oldVersionNumber == 3)
            #expect(made.cachedSnapshot?["name"] as? String == "cached" && made.persistedSnapshot == nil)
            let error = #expect(throws: CocoaError.self) { try NSMergePolicy.error.resolve(mergeConflicts: [made]) }
            #expect(error?.persistentStoreSaveConflicts == [made])
            let constraint = NSConstraintConflict(
                constraint: ["code"], database: object, databaseSnapshot: ["code": "a"],
                conflicting: [object], conflictingSnapshots: [["code": "a"]])
            #expect(constraint.constraint == ["code"] && constraint.databaseObject === object)
            #expect(constraint.conflictingObjects == [object])
            #expect(constraint.conflictingSnapshots.first?["code"] as? String == "a")
            let refused = #expect(throws: CocoaError.self) {
                try NSMergePolicy.error.resolve(constraintConflicts: [constraint])
            }
            #expect(refused?.code.rawValue == NSManagedObjectConstraintMergeError)
        }
        #expect(NSMergePolicy.error.mergeType == .errorMergePolicyType)
        #expect(NSMergePolicy.rollback.mergeType == .rollbackMergePolicyType)
        #expect(NSMergePolicy.overwrite.mergeType == .overwriteMergePolicyType)
        #expect(NSMergePolicy.mergeByPropertyObjectTrump.mergeType == .mergeByPropertyObjectTrumpMergePolicyType)
        #expect(NSMergePolicy.mergeByPropertyStoreTrump.mergeType == .mergeByPropertyStoreTrumpMergePolicyType)
    }
}
