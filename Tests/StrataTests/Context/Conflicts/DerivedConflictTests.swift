import CoreData
import Dispatch
import Testing

/// Derived attributes are right after every save, whatever other contexts have saved since this one read.
@Suite struct DerivedConflictTests {
    @Test(arguments: StoreKind.allCases) func membersThatWereReadMayBeOutdated(_ kind: StoreKind) throws {
        let club = try Club(kind, people: ["p": "A", "q": "B", "r": "A"])
        try club.here.performAndWait {
            for name in ["A", "B"] { _ = club[name].members("members") }
            // The count of neither team changes, so that their rows stay as they are.
            try club.elsewhere {
                club.other("p").setValue(club.other("B"), forKey: "team")
                club.other("q").setValue(club.other("A"), forKey: "team")
            }
            club["p"].setValue(club["B"], forKey: "team")
            try club.here.save()
        }
        #expect(try club.stored("Team", "members") == ["A": "qr", "B": "p"])
        #expect(try club.stored("Team", "memberCount") == ["A": 2, "B": 1])
    }

    /// The new count is what this context's old row has, but not what the store has.
    @Test(arguments: StoreKind.allCases, [false, true])
    func theCountComesOutAsItWas(_ kind: StoreKind, _ readsMembers: Bool) throws {
        let club = try Club(kind, people: ["p": "A", "q": nil])
        try club.here.performAndWait {
            #expect(club["A"].number("memberCount") == 1)
            if readsMembers { _ = club["A"].members("members") }
            try club.elsewhere { club.other("q").setValue(club.other("A"), forKey: "team") }
            club["p"].setValue(nil, forKey: "team")
            try club.here.save()
            #expect(club["A"].number("memberCount") == 1)
        }
        #expect(try club.stored("Team", "memberCount") == ["A": 1, "B": 0])
    }

    @Test(arguments: StoreKind.allCases) func whatIsDerivedFromOneObjectFollowsItsNewestRow(_ kind: StoreKind) throws {
        let club = try Club(kind, people: ["p": "A"])
        try club.here.performAndWait {
            #expect(club["A"].text("title") == "A")
            try club.elsewhere { club.other("A").setValue("A2", forKey: "title") }
            club["q", in: club.here].setValue(club["A"], forKey: "team")
            try club.here.save()
        }
        #expect(try club.stored("Person", "teamTitle") == ["p": "A2", "q": "A2"])
    }

    @Test(arguments: StoreKind.allCases) func newMembersElsewhereFollowTheirOwner(_ kind: StoreKind) throws {
        let club = try Club(kind, people: ["p": "A"])
        try club.here.performAndWait {
            _ = club["A"].members("members")
            try club.elsewhere { club["q", in: club.there].setValue(club.other("A"), forKey: "team") }
            club["A"].setValue("A2", forKey: "title")
            try club.here.save()
        }
        #expect(try club.stored("Person", "teamTitle") == ["p": "A2", "q": "A2"])
    }

    /// The team that an object leaves by becoming the stored one kept counting it: the inserted object had referred to
    /// nothing before, so nobody took it away from there.
    @Test(arguments: StoreKind.allCases, [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func anInsertedObjectThatBecomesTheStoredOneLeavesItsTeam(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
        let club = try Club(kind, people: ["p": "A", "q": "A"], policy: policy, uniqueNames: true)
        club.there.mergePolicy = policy
        try club.elsewhere {
            club["p", in: club.there].setValue(club.other("B"), forKey: "team")
            // Only overwriting has a team replaced by none.
            _ = club["q", in: club.there]
        }
        let isKept = policy === NSMergePolicy.mergeByPropertyObjectTrump
        #expect(try club.stored("Team", "members") == ["A": isKept ? "q" : "", "B": "p"])
        #expect(try club.stored("Team", "memberCount") == ["A": isKept ? 1 : 0, "B": 1])
        club.there.performAndWait {
            #expect(club.other("A").number("memberCount") == (isKept ? 1 : 0))
            #expect(club.other("A").members("members").count == (isKept ? 1 : 0))
        }
    }

    /// What a context did to an object that others had deleted, and that it had found to be gone, was counted, though
    /// nothing of it is stored: the count was one too high from then on.
    @Test(arguments: StoreKind.allCases, [false, true])
    func membersThatOthersHaveDeletedDoNotCount(_ kind: StoreKind, _ isTeamNew: Bool) throws {
        let club = try Club(kind, people: ["p": "A", "q": "A"])
        try club.there.performAndWait {
            let fault = club.other("p")
            try club.here.performAndWait {
                club.here.delete(club["p"])
                try club.here.save()
            }
            #expect(fault.text("name") == nil && fault.isDeleted)
            let team = isTeamNew ? insert("Team", club.there).set(["title": "N"]) : club.other("B")
            fault.setValue(team, forKey: "team")
            fault.setValue(7, forKey: "rank")
            try club.there.save()
        }
        #expect(try club.stored("Team", "members") == ["A": "q", "B": ""].merging(isTeamNew ? ["N": ""] : [:]) { $1 })
        #expect(try club.stored("Team", "memberCount") == ["A": 1, "B": 0].merging(isTeamNew ? ["N": 0] : [:]) { $1 })
        #expect(try club.stored("Team", "topRank", as: Int.self)["B"] == nil)
    }

    /// The maximum hides changes of others: no row of the team is written for them.
    @Test(arguments: StoreKind.allCases) func whatTheMaximumHid(_ kind: StoreKind) throws {
        let club = try Club(kind, people: ["p": "A", "q": "A"])
        try club.here.performAndWait {
            club["p"].setValue(9, forKey: "rank")
            club["q"].setValue(5, forKey: "rank")
            try club.here.save()
            _ = club["A"].members("members").map { $0.number("rank") }
            try club.elsewhere { club.other("q").setValue(2, forKey: "rank") }
            club["p"].setValue(nil, forKey: "team")
            try club.here.save()
        }
        #expect(try club.stored("Team", "topRank")["A"] == 2)
    }

    @Test(
        arguments: StoreKind.allCases,
        [NSMergePolicyType.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType])
    func aDeletionThatIsGivenUpTakesNothingWithIt(_ kind: StoreKind, _ type: NSMergePolicyType) throws {
        let club = try Club(kind, people: ["p": "A", "q": "A"], policy: NSMergePolicy(merge: type))
        try club.here.performAndWait {
            club["p"].link(club["X"])
            try club.here.save()
            try club.elsewhere { club.other("p").setValue(3, forKey: "rank") }
            club.here.delete(club["p"])
            try club.here.save()
            #expect(!club["p"].isDeleted && club["A"].members("members").count == 2)
            #expect(club["X"].members("watchers") == [club["p"]])
        }
        #expect(try club.stored("Team", "memberCount")["A"] == 2)
        #expect(try club.stored("Team", "members")["A"] == "pq")
        #expect(try club.stored("Board", "watchers")["X"] == "p")
        #expect(try club.stored("Board", "watcherCount")["X"] == 1)
    }

    /// A team that is not deleted after all keeps its members, whose rows its deletion has changed here.
    @Test(arguments: StoreKind.allCases) func aDeletionThatIsGivenUpLeavesReferences(_ kind: StoreKind) throws {
        let club = try Club(kind, people: ["p": "A", "q": "A"], policy: .mergeByPropertyStoreTrump)
        try club.here.performAndWait {
            try club.elsewhere { club.other("A").setValue("A2", forKey: "title") }
            club.here.delete(club["A"])
            try club.here.save()
            #expect(club["A"].members("members").count == 2 && club["p"].value(forKey: "team") != nil)
        }
        #expect(try club.stored("Team", "members")["A2"] == "pq")
        #expect(try club.stored("Team", "memberCount")["A2"] == 2)
    }

    @Test(arguments: StoreKind.allCases) func manyWritersAtOnce(_ kind: StoreKind) throws {
        let club = try Club(kind, people: [:])
        let teams = [club["A"], club["B"]].map { $0.objectID }
        let coordinator = club.store.coordinator
        DispatchQueue.concurrentPerform(iterations: 4) { index in
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            context.performAndWait {
                var own: [NSManagedObject] = []
                for round in 0..<30 {
                    let person = insert("Person", context).set(["name": "\(index)-\(round)", "rank": round])
                    person.setValue(context.object(with: teams[round % 2]), forKey: "team")
                    own.append(person)
                    if round % 3 == 2 { own.removeFirst().setValue(nil, forKey: "team") }
                    if round % 5 == 4 {
                        own[0].setValue(context.object(with: teams[(round + index) % 2]), forKey: "team")
                    }
                    if round % 7 == index {
                        context.object(with: teams[0]).setValue("\(index)\(round)", forKey: "title")
                    }
                    #expect(throws: Never.self) { try context.save() }
                }
            }
        }
        let fresh = club.store.context()
        try fresh.performAndWait {
            for team in try fresh.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team")) {
                let members = team.members("members")
                #expect(team.number("memberCount") == members.count)
                #expect(team.number("topRank") == members.compactMap { $0.number("rank") }.max())
                #expect(members.allSatisfy { $0.text("teamTitle") == team.text("title") })
            }
        }
    }
}

extension Club {
    /// A new person in one of the contexts.
    subscript(_ name: String, in context: NSManagedObjectContext) -> NSManagedObject {
        insert("Person", context).set(["name": name])
    }
}
