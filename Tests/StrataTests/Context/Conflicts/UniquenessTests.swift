import CoreData
import Foundation
import Testing

/// Calls something with each conflict before and after it is resolved.
private final class SeeingPolicy: NSMergePolicy, @unchecked Sendable {
    // Unchecked: both are set before the policy is used.
    var before: (NSConstraintConflict) -> Void = { _ in }
    var after: (NSConstraintConflict) -> Void = { _ in }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        list.forEach(before)
        try super.resolve(constraintConflicts: list)
        list.forEach(after)
    }
}

@Suite struct UniquenessTests {
    @Test(arguments: StoreKind.allCases) func aValueThatIsStoredIsRefused(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let context = store.context()
        try context.performAndWait {
            let first = item(context, ["code": "a", "name": "first"])
            try context.save()
            let second = item(context, ["code": "a", "name": "second"])
            let error = saveError(context)
            #expect(error?.code.rawValue == NSManagedObjectConstraintMergeError)
            let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
            let conflict = try #require(conflicts?.first)
            #expect(conflicts?.count == 1 && conflict.constraint == ["code"])
            #expect(conflict.constraintValues["code"] as? String == "a")
            #expect(conflict.databaseObject === first && conflict.conflictingObjects == [second])
            #expect(conflict.databaseSnapshot?["name"] as? String == "first")
            #expect(conflict.conflictingSnapshots.first?["name"] as? String == "second")
            #expect(second.isInserted && second.objectID.isTemporaryID)
            second.setValue("b", forKey: "code")
            try context.save()
            #expect(try stored("Item", store, sort: "code").map { $0.text("code") } == ["a", "b"])
        }
    }

    @Test(arguments: StoreKind.allCases) func constraintsOutliveTheStore(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        var context = store.context()
        try context.performAndWait {
            for number in 0..<1_000 { _ = item(context, ["code": "code \(number)"]) }
            try context.save()
        }
        try store.reopen()
        context = store.context()
        try context.performAndWait {
            let double = item(context, ["code": "code 700"])
            #expect(saveError(context)?.code.rawValue == 133021)
            double.setValue("code 1000", forKey: "code")
            try context.save()
        }
    }

    @Test(arguments: StoreKind.allCases) func nilIsLikeNothing(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let context = store.context()
        try context.performAndWait {
            for _ in 0..<3 { _ = item(context, ["name": "no code"]) }
            let date = Date(timeIntervalSinceReferenceDate: 7)
            for _ in 0..<2 { _ = insert("Pair", context).set(["left": 1, "right": nil]) }
            _ = insert("Pair", context).set(["left": 1, "right": date])
            _ = insert("Pair", context).set(["left": 2, "right": date])
            try context.save()
            let double = insert("Pair", context).set(["left": 1, "right": date])
            let conflicts = saveError(context)?.userInfo["conflictList"] as? [NSConstraintConflict]
            #expect(conflicts?.first?.constraint == ["left", "right"])
            #expect(conflicts?.first?.constraintValues["right"] as? Date == date)
            double.setValue(3, forKey: "left")
            try context.save()
        }
    }

    @Test(arguments: StoreKind.allCases) func subentitiesShareTheConstraint(_ kind: StoreKind) throws {
        let model = ConflictModel.make()
        // As in the models that Apple's compiler writes, a subentity does not list what it inherits.
        #expect(model.entitiesByName["SpecialItem"]?.uniquenessConstraints.isEmpty == true)
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait {
            _ = item(context, ["code": "a"])
            try context.save()
            let special = insert("SpecialItem", context).set(["code": "a"])
            #expect(saveError(context)?.code.rawValue == 133021)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            special.setValue("extra", forKey: "extra")
            try context.save()
            #expect(try stored("Item", store, sort: "code").count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases) func batchesOfSubentitiesShareTheConstraint(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let context = store.context()
        try context.performAndWait { () throws in
            _ = item(context, ["code": "a", "name": "first"])
            try context.save()
            let request = NSBatchInsertRequest(entityName: "SpecialItem", objects: [["code": "a", "name": "second"]])
            let error = #expect(throws: CocoaError.self) { try context.execute(request) }
            #expect(error?.code == .managedObjectConstraintMerge)
            #expect(try stored("Item", store, sort: "code").map { $0.text("name") } == ["first"])
            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            _ = try context.execute(request)
            #expect(try stored("Item", store, sort: "code").map { $0.text("name") } == ["first"])
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            _ = try context.execute(request)
            #expect(try stored("Item", store, sort: "code").map { $0.text("name") } == ["second"])
        }
    }

    @Test(arguments: StoreKind.allCases) func updatesSwapsAndDeletesCount(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let context = store.context()
        try context.performAndWait {
            let a = item(context, ["code": "a"])
            let b = item(context, ["code": "b"])
            try context.save()
            a.setValue("b", forKey: "code")
            #expect(saveError(context)?.code.rawValue == 133021)
            b.setValue("a", forKey: "code")
            try context.save()
            context.delete(a)
            let c = item(context, ["code": "b"])
            try context.save()
            c.setValue("free", forKey: "name")
            try context.save()
            let again = item(context, ["code": "b"])
            #expect(saveError(context)?.code.rawValue == 133021)
            context.delete(again)
            c.setValue("c", forKey: "code")
            try context.save()
            _ = item(context, ["code": "b"])
            try context.save()
            #expect(try stored("Item", store, sort: "code").map { $0.text("code") } == ["a", "b", "c"])
        }
    }

    @Test(arguments: StoreKind.allCases) func twoOfOneSaveConflict(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let context = store.context()
        try context.performAndWait {
            let first = item(context, ["code": "a", "name": "first", "count": 1])
            let second = item(context, ["code": "a", "name": "second"])
            let conflicts = saveError(context)?.userInfo["conflictList"] as? [NSConstraintConflict]
            #expect(conflicts?.first?.databaseObject == nil && conflicts?.first?.databaseSnapshot == nil)
            #expect(Set(conflicts?.first?.conflictingObjects ?? []) == [first, second])
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            let all = try stored("Item", store, sort: "code")
            #expect(all.map { $0.text("name") } == ["second"] && all.first?.number("count") == 1)
            #expect(first.managedObjectContext == nil && second.managedObjectContext === context)
        }
    }

    @Test(arguments: StoreKind.allCases) func objectTrumpIsAnUpsert(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let first = store.context()
        let second = store.context()
        second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try first.performAndWait {
            let old = item(first, ["code": "a", "name": "old", "count": 9])
            let oldPart = insert("Part", first).set(["owner": old, "text": "old part"])
            let label = insert("Label", first).set(["items": Set([old])])
            try first.save()
            let new = item(second, ["code": "a", "name": "new"])
            _ = insert("Part", second).set(["owner": new, "text": "new part"])
            new.setValue(Set([second.object(with: label.objectID)]), forKey: "labels")
            try second.save()
            #expect(new.objectID == old.objectID && !new.hasChanges && new.managedObjectContext === second)
            #expect(new.text("name") == "new" && new.number("count") == 9)
            #expect(new.members("parts").count == 2 && new.members("labels").count == 1)
            let all = try stored("Item", store, sort: "code")
            #expect(all.map { $0.text("name") } == ["new"] && all.first?.number("count") == 9)
            #expect(all.first?.members("parts").count == 2 && all.first?.members("labels").count == 1)
            first.refreshAllObjects()
            #expect(old.text("name") == "new" && oldPart.value(forKey: "owner") as? NSManagedObject === old)
        }
    }

    @Test(arguments: resolvingPolicies, [true, false])
    func policiesResolveInsertions(_ type: NSMergePolicyType, _ isKnown: Bool) throws {
        let store = try TestStore(.memory, ConflictModel.make())
        let context = store.context()
        let other = isKnown ? context : store.context()
        context.mergePolicy = NSMergePolicy(merge: type)
        try context.performAndWait {
            let old = item(other, ["code": "a", "name": "old", "count": 9])
            try other.save()
            let new = item(context, ["code": "a", "name": "new"])
            let part = insert("Part", context).set(["owner": new])
            try context.save()
            let all = try stored("Item", store, sort: "code")
            let objectWins = type == .overwriteMergePolicyType || type == .mergeByPropertyObjectTrumpMergePolicyType
            #expect(all.map { $0.text("name") } == [objectWins ? "new" : "old"])
            #expect(all.first?.number("count") == (type == .overwriteMergePolicyType ? 5 : 9))
            #expect(all.first?.objectID == old.objectID)
            let owner = part.value(forKey: "owner") as? NSManagedObject
            #expect(owner?.objectID == (type == .rollbackMergePolicyType ? nil : old.objectID))
            #expect(all.first?.members("parts").count == (type == .rollbackMergePolicyType ? 0 : 1))
            if isKnown {
                #expect(new.managedObjectContext == nil && old.text("name") == all.first?.text("name"))
            } else if type != .rollbackMergePolicyType {
                #expect(new.text("name") == all.first?.text("name") && new.objectID == old.objectID)
            }
            #expect(!context.hasChanges)
        }
    }

    /// Policies of real programs read the stored object's relationships after the resolution, and take some over
    /// before.
    @Test(arguments: StoreKind.allCases) func aPolicyOfTheProgramsOwnMayUseTheStoredObject(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let other = store.context()
        try other.performAndWait {
            let old = item(other, ["code": "a", "name": "old", "count": 9])
            _ = insert("Part", other).set(["owner": old, "text": "old part"])
            _ = insert("Part", other).set(["owner": old, "text": "unwanted"])
            _ = insert("Label", other).set(["items": Set([old])])
            try other.save()
        }
        let context = store.context()
        let policy = SeeingPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        policy.before = { conflict in
            conflict.databaseObject?.setValue(10, forKey: "count")
            for part in conflict.databaseObject?.members("parts") ?? [] where part.text("text") == "unwanted" {
                context.delete(part)
            }
            // The inserted object takes the labels over.
            conflict.conflictingObjects.first?.setValue(
                conflict.databaseObject?.value(forKey: "labels"), forKey: "labels")
            conflict.databaseObject?.setValue(nil, forKey: "labels")
        }
        policy.after = { conflict in
            let stored = conflict.databaseObject
            #expect(stored?.managedObjectContext === context && stored?.text("name") == "new")
            #expect(stored?.members("parts").count == 1 && stored?.members("labels").count == 1)
            _ = insert("Part", context).set(["owner": stored, "text": "new part"])
            // The inserted object has been merged into the stored one, which gets what refers to it.
            _ = insert("Part", context).set(["owner": conflict.conflictingObjects.first, "text": "late part"])
        }
        context.mergePolicy = policy
        try context.performAndWait {
            let new = item(context, ["code": "a", "name": "new"])
            try context.save()
            #expect(new.managedObjectContext == nil && !context.hasChanges)
        }
        let all = try stored("Item", store, sort: "code")
        #expect(all.map { $0.text("name") } == ["new"] && all.first?.number("count") == 10)
        let texts = (all.first?.members("parts") ?? []).compactMap { $0.text("text") }.sorted()
        #expect(texts == ["late part", "new part", "old part"] && all.first?.members("labels").count == 1)
    }

    /// What was inserted again in another order has that order in the end.
    @Test func mergedMembersStandWhereTheInsertedOnesStood() throws {
        let (list, note) = (GraphModel.entity("List"), GraphModel.entity("Note"))
        let notes = GraphModel.relationship("notes", to: note, toMany: true)
        notes.isOrdered = true
        let owner = GraphModel.relationship("list", to: list)
        GraphModel.link(notes, owner)
        list.properties = [GraphModel.attribute("name", .stringAttributeType), notes]
        note.properties = [GraphModel.attribute("name", .stringAttributeType), owner]
        list.uniquenessConstraints = [["name"]]
        note.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [list, note]
        let store = try TestStore(.memory, model)
        for names in [["a", "b", "c"], ["c", "d", "a", "b"]] {
            let context = store.context()
            context.mergePolicy = SeeingPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
            try context.performAndWait {
                let members = names.map { insert("Note", context).set(["name": $0]) }
                _ = insert("List", context).set(["name": "all", "notes": NSOrderedSet(array: members)])
                try context.save()
            }
        }
        let lists = try stored("List", store, sort: "name")
        let found = (lists.first?.value(forKey: "notes") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
        #expect(lists.count == 1 && found.map { $0.text("name") } == ["c", "d", "a", "b"])
    }

    @Test(arguments: resolvingPolicies) func policiesResolveUpdates(_ type: NSMergePolicyType) throws {
        let store = try TestStore(.memory, ConflictModel.make())
        let context = store.context()
        context.mergePolicy = NSMergePolicy(merge: type)
        try context.performAndWait {
            let a = item(context, ["code": "a", "name": "a"])
            let b = item(context, ["code": "b", "name": "b"])
            try context.save()
            _ = b.set(["code": "a", "name": "changed"])
            try context.save()
            let codes = try stored("Item", store, sort: "code").map { $0.text("code") }
            let names = try stored("Item", store, sort: "code").map { $0.text("name") }
            switch type {
            case .overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType:
                #expect(codes == ["a"] && names == ["changed"] && a.managedObjectContext == nil)
            case .rollbackMergePolicyType:
                #expect(codes == ["a", "b"] && names == ["a", "b"] && b.text("name") == "b")
            default:
                #expect(codes == ["a", "b"] && names == ["a", "changed"] && b.text("code") == "b")
            }
            #expect(!context.hasChanges)
        }
    }

    /// Many contexts save the same values at once: of each value exactly one object must be there in the end.
    @Test(arguments: StoreKind.allCases) func manyContextsAtOnce(_ kind: StoreKind) async throws {
        let store = try TestStore(kind, ConflictModel.make())
        let coordinator = store.coordinator
        let refused = await withTaskGroup(of: Int.self) { group in
            for worker in 0..<6 {
                group.addTask {
                    let context = NSManagedObjectContext(.privateQueue)
                    context.persistentStoreCoordinator = coordinator
                    return await context.perform {
                        var refused = 0
                        for number in 0..<50 {
                            let new = item(context, ["code": "code \(number)", "count": worker])
                            do {
                                try context.save()
                            } catch {
                                if (error as? CocoaError)?.code.rawValue == 133021 { refused += 1 }
                                context.delete(new)
                            }
                        }
                        return refused
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(refused == 250)
        let codes = try stored("Item", store, sort: "code").map { $0.text("code") }
        #expect(codes.count == 50 && Set(codes).count == 50)
    }

    /// The inserted object was merged into one that had been deleted since the save was refused, and lost with it.
    @Test(arguments: StoreKind.allCases, resolvingPolicies)
    func whatIsDeletedMeanwhileIsInNobodysWay(_ kind: StoreKind, _ type: NSMergePolicyType) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let (context, rival) = (store.context(), store.context())
        let holder = try rival.performAndWait {
            let holder = item(rival, ["code": "a", "name": "holder"])
            try rival.save()
            return holder
        }
        let policy = SeeingPolicy(merge: type)
        policy.before = { _ in
            rival.performAndWait {
                rival.delete(holder)
                #expect(throws: Never.self) { try rival.save() }
            }
        }
        context.mergePolicy = policy
        try context.performAndWait {
            let new = item(context, ["code": "a", "name": "new"])
            let part = insert("Part", context).set(["owner": new])
            try context.save()
            #expect(new.managedObjectContext === context && part.value(forKey: "owner") as? NSManagedObject === new)
            #expect(try stored("Item", store, sort: "code").map { $0.text("name") } == ["new"])
            let parts = try stored("Part", store, sort: "text")
            #expect(parts.map { $0.value(forKeyPath: "owner.name") as? String } == ["new"])
        }
    }

    @Test(arguments: StoreKind.allCases) func longAndOddValuesAreCompared(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let context = store.context()
        let long = String(repeating: "long ", count: 30_000)
        try context.performAndWait {
            _ = item(context, ["code": long])
            _ = item(context, ["code": ""])
            _ = item(context, ["code": long + "!"])
            try context.save()
            let double = item(context, ["code": long])
            #expect(saveError(context)?.code.rawValue == 133021)
            double.setValue("", forKey: "code")
            #expect(saveError(context)?.code.rawValue == 133021)
            double.setValue("A", forKey: "code")
            _ = item(context, ["code": "a"])
            try context.save()
        }
    }
}
