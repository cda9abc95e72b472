import CoreData
import Foundation
import Testing

/// What a transaction of the history tells names the objects whose rows were written, and not the other ends of their
/// relationships: these follow, too.
///
/// A member that was inserted elsewhere did not come into the relationship of its owner, and one that had not been read
/// did not move from one owner to another. The program went on with the members of before, without an error.
@Suite struct MergedEndsTests {
    private typealias G = GraphModel

    /// Teams with players, and an ordered bench.
    private static func model() -> NSManagedObjectModel {
        let (team, player) = (G.entity("Team"), G.entity("Player"))
        let players = G.relationship("players", to: player, toMany: true)
        let teamOf = G.relationship("team", to: team)
        G.link(players, teamOf)
        let bench = G.relationship("bench", to: player, toMany: true, ordered: true)
        let benchOf = G.relationship("benchOf", to: team)
        G.link(bench, benchOf)
        team.properties = [players, bench, G.attribute("name", .stringAttributeType)]
        player.properties = [teamOf, benchOf, G.attribute("name", .stringAttributeType)]
        return makeModel([team, player])
    }

    /// Two teams whose relationships have been read, in a context and perhaps a child of it, and another context.
    private final class Fixture: @unchecked Sendable {
        // Unchecked: a test uses it on one thread at a time.
        let store: TestStore
        let parent: NSManagedObjectContext
        let viewer: NSManagedObjectContext
        let writer: NSManagedObjectContext
        var teams: [NSManagedObject] = []
        var players: [NSManagedObject] = []
        private(set) var refreshed: Set<NSManagedObject> = []
        private var observer: (any NSObjectProtocol)?
        private var token: NSPersistentHistoryToken?

        init(_ kind: StoreKind, inChild: Bool) throws {
            store = try TestStore(kind, MergedEndsTests.model())
            (parent, writer) = (store.context(), store.context())
            viewer = inChild ? NSManagedObjectContext(.privateQueue) : parent
            if inChild {
                viewer.parent = parent
                viewer.automaticallyMergesChangesFromParent = true
            }
            let ids = try writer.performAndWait {
                let teams = ["red", "blue"].map { writer.insert("Team", ["name": $0]) }
                let players = (0..<4).map { writer.insert("Player", ["name": "\($0)"]) }
                for player in players {
                    player.setValue(teams[0], forKey: "team")
                    player.setValue(teams[0], forKey: "benchOf")
                }
                try writer.save()
                return (teams.map(\.objectID), players.map(\.objectID))
            }
            try viewer.performAndWait {
                teams = try ids.0.map { try viewer.existingObject(with: $0) }
                // Faults, which the relationships know of.
                players = ids.1.map { viewer.object(with: $0) }
                for team in teams { _ = (team.members("players").count, Self.bench(of: team).count) }
                #expect(players.allSatisfy { $0.isFault })
            }
            token = store.coordinator.currentPersistentHistoryToken(fromStores: nil)
            observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextObjectsDidChange, object: viewer, queue: nil
            ) { [weak self] note in
                self?.refreshed.formUnion(note.userInfo?[NSRefreshedObjectsKey] as? Set<NSManagedObject> ?? [])
            }
        }

        deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

        /// Changes something elsewhere, and merges what the history tells of it.
        func merge(_ edit: @escaping ([NSManagedObject], [NSManagedObject]) throws -> Void) throws {
            let ids = viewer.performAndWait { (teams.map(\.objectID), players.map(\.objectID)) }
            try writer.performAndWait {
                writer.refreshAllObjects()
                try edit(ids.0.map { writer.object(with: $0) }, ids.1.map { writer.object(with: $0) })
                try writer.save()
            }
            refreshed = []
            try parent.performAndWait {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                let result = try parent.execute(request) as? NSPersistentHistoryResult
                let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
                #expect(!transactions.isEmpty)
                for transaction in transactions {
                    parent.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                }
                token = transactions.last?.token
            }
        }

        private static func bench(of team: NSManagedObject) -> [NSManagedObject] {
            (team.value(forKey: "bench") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
        }

        /// The names of the members of each team, in order.
        func names(_ key: String) -> [[String]] {
            viewer.performAndWait {
                teams.map { team in
                    let members = key == "bench" ? Self.bench(of: team) : Array(team.members(key))
                    let names = members.compactMap { $0.value(forKey: "name") as? String }
                    return key == "bench" ? names : names.sorted()
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func membersThatWereFaultsMoveToTheirNewOwner(_ kind: StoreKind, _ inChild: Bool) throws {
        let fixture = try Fixture(kind, inChild: inChild)
        try fixture.merge { teams, players in
            players[1].setValue(teams[1], forKey: "team")
            players[2].setValue(nil, forKey: "team")
            players[0].setValue(teams[1], forKey: "benchOf")
        }
        #expect(fixture.names("players") == [["0", "3"], ["1"]])
        #expect(fixture.names("bench") == [["1", "2", "3"], ["0"]])
        #expect(fixture.refreshed.isSuperset(of: fixture.teams))
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func anotherOrderOfMembersIsSeen(_ kind: StoreKind, _ areRead: Bool) throws {
        let fixture = try Fixture(kind, inChild: false)
        if areRead { _ = fixture.names("bench") }
        try fixture.merge { teams, _ in
            let bench = teams[0].mutableOrderedSetValue(forKey: "bench")
            bench.moveObjects(at: IndexSet(integer: 0), to: 3)
        }
        #expect(fixture.names("bench") == [["1", "2", "3", "0"], []])
        #expect(fixture.refreshed.contains(fixture.teams[0]) && !fixture.refreshed.contains(fixture.teams[1]))
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func membersThatWereInsertedComeIn(_ kind: StoreKind, _ inChild: Bool) throws {
        let fixture = try Fixture(kind, inChild: inChild)
        try fixture.merge { teams, _ in
            guard let context = teams[0].managedObjectContext else { return }
            context.insert("Player", ["name": "new"]).setValue(teams[1], forKey: "team")
            context.insert("Player", ["name": "last"]).setValue(teams[0], forKey: "benchOf")
        }
        #expect(fixture.names("players") == [["0", "1", "2", "3"], ["new"]])
        #expect(fixture.names("bench") == [["0", "1", "2", "3", "last"], []])
        #expect(fixture.refreshed.isSuperset(of: fixture.teams))
    }

    /// Their going is told of the objects that had them.
    @Test(arguments: StoreKind.allCases, [false, true])
    func membersThatWereDeletedGo(_ kind: StoreKind, _ inChild: Bool) throws {
        let fixture = try Fixture(kind, inChild: inChild)
        try fixture.merge { _, players in
            for player in players.prefix(2) { player.managedObjectContext?.delete(player) }
        }
        #expect(fixture.names("players") == [["2", "3"], []])
        #expect(fixture.names("bench") == [["2", "3"], []])
        #expect(fixture.refreshed.contains(fixture.teams[0]) && !fixture.refreshed.contains(fixture.teams[1]))
    }

    /// Owners whose members stay are not told of.
    @Test(arguments: StoreKind.allCases, [false, true])
    func otherChangesOfMembersLeaveTheirOwnersAlone(_ kind: StoreKind, _ inChild: Bool) throws {
        let fixture = try Fixture(kind, inChild: inChild)
        try fixture.merge { _, players in players[1].setValue("renamed", forKey: "name") }
        #expect(fixture.names("players") == [["0", "2", "3", "renamed"], []])
        #expect(fixture.names("bench") == [["0", "renamed", "2", "3"], []])
        #expect(fixture.refreshed.isDisjoint(with: fixture.teams))
    }

    /// What the context has changed itself stays.
    @Test(arguments: StoreKind.allCases) func ownChangesStay(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind, inChild: false)
        fixture.viewer.performAndWait {
            fixture.teams[1].setValue("green", forKey: "name")
            fixture.players[3].setValue(fixture.teams[1], forKey: "team")
            fixture.viewer.processPendingChanges()
        }
        try fixture.merge { teams, players in
            players[1].setValue(teams[1], forKey: "team")
            players[3].setValue(nil, forKey: "team")
        }
        #expect(fixture.names("players") == [["0", "2"], ["1", "3"]])
        fixture.viewer.performAndWait { #expect(fixture.teams[1].value(forKey: "name") as? String == "green") }
    }
}
