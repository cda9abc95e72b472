import CoreData
import Dispatch
import Testing

/// A link is stored once, whoever adds it, and nothing refers to what is gone.
@Suite struct LinkConflictTests {
    @Test(arguments: StoreKind.allCases, [false, true])
    func bothAddTheSameLink(_ kind: StoreKind, _ merges: Bool) throws {
        let club = try Club(kind, people: ["p": nil])
        let notifications = SaveNotifications(club.there)
        try club.here.performAndWait {
            try club.elsewhere { club.other("p").link(club.other("X")) }
            club["p"].link(club["X"])
            if merges {
                for note in notifications.all { club.here.mergeChanges(fromContextDidSave: note) }
                #expect(club["X"].count(of: ToManySlot<NSManagedObject>("watchers")) == 1)
            }
            try club.here.save()
            club.here.refreshAllObjects()
            #expect(club["X"].members("watchers") == [club["p"]] && club["p"].members("watching").count == 1)
        }
        #expect(try club.stored("Board", "watchers") == ["X": "p", "Y": ""])
        #expect(try club.stored("Board", "watcherCount") == ["X": 1, "Y": 0])
        // There is but one to be removed.
        try club.here.performAndWait {
            club["p"].unlink(club["X"])
            try club.here.save()
        }
        #expect(try club.stored("Person", "watching") == ["p": ""])
        #expect(try club.stored("Board", "watcherCount") == ["X": 0, "Y": 0])
    }

    /// A link that somebody else has added, too, is removed with the own one.
    @Test(arguments: StoreKind.allCases) func addedByBothAndRemovedAfterMerging(_ kind: StoreKind) throws {
        let club = try Club(kind, people: ["p": nil])
        let notifications = SaveNotifications(club.there)
        try club.here.performAndWait {
            try club.elsewhere { club.other("p").link(club.other("X")) }
            club["p"].link(club["X"])
            for note in notifications.all { club.here.mergeChanges(fromContextDidSave: note) }
            club["p"].unlink(club["X"])
            try club.here.save()
        }
        #expect(try club.stored("Board", "watchers") == ["X": "", "Y": ""])
    }

    @Test(arguments: StoreKind.allCases) func bothRemoveTheSameLink(_ kind: StoreKind) throws {
        let club = try Club(kind, people: ["p": nil])
        try club.here.performAndWait {
            club["p"].link(club["X"])
            club["p"].link(club["Y"])
            try club.here.save()
            try club.elsewhere { club.other("p").unlink(club.other("X")) }
            club["p"].unlink(club["X"])
            try club.here.save()
        }
        #expect(try club.stored("Board", "watchers") == ["X": "", "Y": "p"])
        #expect(try club.stored("Board", "watcherCount") == ["X": 0, "Y": 1])
    }

    /// Links that are added and taken away by many at once.
    @Test(arguments: StoreKind.allCases) func manyAtOnce(_ kind: StoreKind) throws {
        let club = try Club(kind, people: ["p": nil, "q": nil])
        let ids = ["p", "q", "X", "Y"].map { club[$0].objectID }
        let coordinator = club.store.coordinator
        DispatchQueue.concurrentPerform(iterations: 4) { index in
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            context.performAndWait {
                for round in 0..<40 {
                    let person = context.object(with: ids[(round + index) % 2])
                    let board = context.object(with: ids[2 + round / 2 % 2])
                    if (round + index) % 3 == 0 { person.unlink(board) } else { person.link(board) }
                    #expect(throws: Never.self) { try context.save() }
                    context.refreshAllObjects()
                }
                // What is left, everybody adds.
                for person in ids[..<2] {
                    for board in ids[2...] { context.object(with: person).link(context.object(with: board)) }
                }
                #expect(throws: Never.self) { try context.save() }
            }
        }
        #expect(try club.stored("Board", "watchers") == ["X": "pq", "Y": "pq"])
        #expect(try club.stored("Board", "watcherCount") == ["X": 2, "Y": 2])
        let fresh = club.store.context()
        try fresh.performAndWait {
            let boards = try fresh.fetch(NSFetchRequest<NSManagedObject>(entityName: "Board"))
            #expect(boards.map { $0.objectIDs(forRelationshipNamed: "watchers").count } == [2, 2])
        }
    }

    /// An order that is saved brings no links back.
    @Test(arguments: StoreKind.allCases) func removedElsewhereFromAnOrder(_ kind: StoreKind) throws {
        let club = try Club(kind, people: ["p": nil, "q": nil, "r": nil])
        try club.here.performAndWait {
            let queue = ToManySlot<NSManagedObject>("queue")
            club["X"].members(queue).set([club["p"], club["q"], club["r"]])
            try club.here.save()
            _ = club["X"].members(queue).array
            try club.elsewhere { club.other("X").members(queue).remove(club.other("q")) }
            club["X"].members(queue).move(from: 2, to: 0)
            try club.here.save()
            club.here.refreshAllObjects()
            #expect(club["X"].members(queue).array == [club["r"], club["p"]])
        }
        #expect(try club.stored("Person", "queuedIn") == ["p": "X", "q": "", "r": "X"])
    }

    // MARK: What is gone

    private static let resolving = resolvingPolicies.map { NSMergePolicy(merge: $0) }

    @Test(arguments: StoreKind.allCases) func whatIsReferredToWasDeletedElsewhere(_ kind: StoreKind) throws {
        let club = try Club(kind, people: ["p": nil], policy: .error)
        try club.here.performAndWait {
            try club.elsewhere {
                club.there.delete(club.other("A"))
                club.there.delete(club.other("X"))
            }
            club["p"].setValue(club["A"], forKey: "team")
            #expect(saveError(club.here)?.code == .managedObjectMerge)
            club.here.rollback()
            club["p"].link(club["X"])
            #expect(saveError(club.here)?.code == .managedObjectMerge)
        }
        #expect(try club.stored("Person", "watching") == ["p": ""])
    }

    @Test(arguments: StoreKind.allCases, resolving)
    func referencesToWhatWasDeletedElsewhereGo(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
        let club = try Club(kind, people: ["p": nil], policy: policy)
        try club.here.performAndWait {
            try club.elsewhere {
                club.there.delete(club.other("A"))
                club.there.delete(club.other("X"))
            }
            club["p"].setValue(club["A"], forKey: "team")
            club["p"].link(club["X"])
            club["p"].setValue(7, forKey: "rank")
            try club.here.save()
            #expect(club["p"].value(forKey: "team") == nil && club["p"].members("watching").isEmpty)
        }
        #expect(try club.stored("Person", "rank") == ["p": 7])
        #expect(try club.stored("Person", "watching") == ["p": ""])
        #expect(try club.stored("Person", "team", as: NSManagedObject.self).isEmpty)
    }

    /// The row under what an object has saved is older than that. When a policy took the deletion of its owner back,
    /// the reference was read from there, and stored, while the owner still had its member.
    @Test(arguments: StoreKind.allCases, [NSMergePolicy.mergeByPropertyStoreTrump, .rollback])
    func aReferenceSavedHereComesBackWithItsTarget(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let (context, rival) = (store.context(), store.context())
        context.mergePolicy = policy
        try context.performAndWait {
            let (owner, part) = (item(context, ["code": "a"]), insert("Part", context))
            try context.save()
            part.setValue(owner, forKey: "owner")
            try context.save()
            part.setValue("late", forKey: "text")
            context.delete(owner)
            try rival.performAndWait {
                rival.object(with: owner.objectID).setValue("theirs", forKey: "name")
                try rival.save()
            }
            try context.save()
            #expect(part.value(forKey: "owner") as? NSManagedObject === owner && owner.members("parts") == [part])
            let found = try stored("Part", store, sort: "text")
            #expect(found.map { $0.text("text") } == ["late"])
            #expect(found.map { $0.value(forKeyPath: "owner.name") as? String } == ["theirs"])
            #expect(try stored("Item", store, sort: "code").map { $0.members("parts").count } == [1])
        }
    }

    /// What a policy makes of the objects has to be valid as well.
    @Test(arguments: StoreKind.allCases, resolving)
    func whatIsMergedIsValidated(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
        let club = try Club(kind, people: [:], policy: policy)
        try club.here.performAndWait {
            try club.elsewhere { club.there.delete(club.other("A")) }
            insert("Post", club.here).set(["title": "P"]).setValue(club["A"], forKey: "team")
            #expect(saveError(club.here)?.code == .validationMissingMandatoryProperty)
        }
        #expect(try club.stored("Post", "title", as: String.self).isEmpty)
    }
}
