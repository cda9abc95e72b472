import CoreData
import Foundation
import StrataTestKit
import Testing

/// Players of teams of leagues.
private enum Sports {
    static func model(_ random: inout SeededGenerator) -> NSManagedObjectModel {
        let league = GraphModel.entity("League")
        let club = GraphModel.entity("Club")
        let team = GraphModel.entity("Team")
        let player = GraphModel.entity("Player")
        let captain = GraphModel.entity("Captain")
        let rule: NSDeleteRule = Bool.random(using: &random) ? .nullifyDeleteRule : .cascadeDeleteRule
        let isOrdered = Bool.random(using: &random)
        let players = GraphModel.relationship("players", to: player, toMany: true, rule: rule, ordered: isOrdered)
        let side = GraphModel.relationship("team", to: club)
        GraphModel.link(players, side)
        let teams = GraphModel.relationship("teams", to: club, toMany: true)
        let leagueOf = GraphModel.relationship("league", to: league)
        GraphModel.link(teams, leagueOf)
        let title = GraphModel.attribute("title", .stringAttributeType)
        title.isTransient = true
        league.properties = [name(), rank(), teams]
        club.properties = [name(), rank(), title, leagueOf, players]
        player.properties = [name(), GraphModel.attribute("age", .integer16AttributeType, default: 1), side]
        club.subentities = [team]
        player.subentities = [captain]
        let model = NSManagedObjectModel()
        model.entities = [league, club, team, player, captain]
        return model
    }

    private static func name() -> NSAttributeDescription { GraphModel.attribute("name", .stringAttributeType) }
    private static func rank() -> NSAttributeDescription {
        GraphModel.attribute("rank", .integer32AttributeType, default: 0)
    }
}

/// Takes whatever snapshot it is given.
private final class SnapshotTaker: NSObject, NSFetchedResultsControllerDelegate {
    var sections: [(name: String, items: [NSManagedObjectID])] = []

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        sections = snapshot.sectionIdentifiers.map { section in
            let items = snapshot.itemIdentifiersInSection(withIdentifier: section)
            return (section as? String ?? "?", items.compactMap { $0 as? NSManagedObjectID })
        }
    }
}

/// Lays differences over a copy of the objects.
private final class DifferenceTaker: NSObject, NSFetchedResultsControllerDelegate {
    var objects: [NSManagedObject] = []

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        // IDs become permanent with a save.
        let ids = objects.map(\.objectID).applying(diff)
        #expect(ids != nil)
        objects = (ids ?? []).compactMap { controller.managedObjectContext.registeredObject(for: $0) }
    }
}

/// Changes players, and what they lead to, at random.
private struct SportsEditor {
    var random: SeededGenerator
    private var serial = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func number(_ end: Int) -> Int { Int.random(in: 0..<end, using: &random) }

    private mutating func any(_ entity: String, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        try fetchAll(NSManagedObject.self, entity, context).randomElement(using: &random)
    }

    private mutating func anyName() -> String { ["u", "v", "w", "x", "y", "z"][number(6)] }

    mutating func edit(_ context: NSManagedObjectContext, _ changes: Int) throws {
        for _ in 0..<changes { try editOnce(context) }
    }

    private mutating func editOnce(_ context: NSManagedObjectContext) throws {
        switch number(20) {
        case 0...3:
            let player = insert(number(3) == 0 ? "Captain" : "Player", context)
            serial += 1
            player.setValue("\(number(1_000))-\(serial)", forKey: "name")
            player.setValue(number(10), forKey: "age")
            player.setValue(try any("Club", context), forKey: "team")
        case 4: try any("Player", context)?.setValue(number(10), forKey: "age")
        case 5, 6: try any("Player", context)?.setValue(number(4) == 0 ? nil : any("Club", context), forKey: "team")
        case 7: if let doomed = try any("Player", context) { context.delete(doomed) }
        case 8:
            let club = insert(number(2) == 0 ? "Club" : "Team", context)
            club.setValue(anyName(), forKey: "name")
            club.setValue(number(5), forKey: "rank")
            club.setValue(try any("League", context), forKey: "league")
        case 9, 10, 11: try any("Club", context)?.setValue(anyName(), forKey: "name")
        case 12, 13: try any("Club", context)?.setValue(number(5), forKey: "rank")
        case 14: try any("Club", context)?.setValue(number(4) == 0 ? nil : any("League", context), forKey: "league")
        case 15: if number(3) == 0, let doomed = try any("Club", context) { context.delete(doomed) }
        case 16, 17: try any("League", context)?.setValue(anyName(), forKey: "name")
        case 18: try any("League", context)?.setValue(number(5), forKey: "rank")
        default:
            if number(4) == 0, let doomed = try any("League", context) { context.delete(doomed) }
            let league = insert("League", context)
            league.setValue(anyName(), forKey: "name")
            league.setValue(number(5), forKey: "rank")
        }
    }
}

@Suite struct FetchedResultsPathTests {
    private static let sectionPaths: [String?] = [nil, "team.name", "team.league.name", "team.rank", "age"]

    private static func request(_ section: String?, _ editor: inout SportsEditor) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Player")
        request.predicate = [nil, NSPredicate(format: "age < 8")][editor.number(2)]
        request.returnsObjectsAsFaults = editor.number(2) == 0
        var keys = ["team.rank", "team.league.rank", "team.league.name", "team.name", "age"]
        keys.shuffle(using: &editor.random)
        keys = [section].compactMap(\.self) + keys.prefix(editor.number(3)) + ["name"]
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: editor.number(2) == 0) }
        return request
    }

    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 1, count: 1))
    func whatIsToldLeadsToWhatAFetchFinds(_ kind: StoreKind, _ seed: UInt64) throws {
        for (index, section) in Self.sectionPaths.enumerated() {
            try PathRun(kind, section, seed &* 16 &+ UInt64(index)).run()
        }
    }

    /// One controller in each form, and what has been told of them.
    private final class PathRun {
        let store: TestStore
        let context: NSManagedObjectContext
        let writer: NSManagedObjectContext
        let manager = UndoManager()
        let section: String?
        let note: Comment
        let request: NSFetchRequest<NSManagedObject>
        var editor: SportsEditor
        let mirror = ResultsMirror()
        let snapshots = SnapshotTaker()
        let differences = DifferenceTaker()
        var controllers: [NSFetchedResultsController<NSManagedObject>] = []

        init(_ kind: StoreKind, _ section: String?, _ seed: UInt64) throws {
            editor = SportsEditor(seed: seed)
            self.section = section
            store = try TestStore(kind, Sports.model(&editor.random))
            context = store.context()
            writer = store.context()
            request = FetchedResultsPathTests.request(section, &editor)
            note = "seed \(seed), sections by \(section ?? "-"), sorted by \(request.sortDescriptors ?? [])"
            manager.groupsByEvent = false
        }

        func run() throws {
            try context.performAndWait {
                try editor.edit(context, 40)
                try context.save()
                // What is not in memory when it changes elsewhere is not all noticed.
                context.retainsRegisteredObjects = editor.number(2) == 0
                context.undoManager = manager
                try follow()
                try check(-1)
            }
            for step in 0..<RandomRuns.operations(40) {
                if editor.number(4) == 0 { try mergeOthers() } else { try context.performAndWait { try change() } }
                try context.performAndWait { try check(step) }
                try checkFirstFetchOfChild(step)
            }
        }

        private func follow() throws {
            for (delegate, path) in [
                (mirror as any NSFetchedResultsControllerDelegate, section), (snapshots, section), (differences, nil),
            ] {
                let results = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: path, cacheName: nil)
                results.delegate = delegate
                try results.performFetch()
                controllers.append(results)
            }
            mirror.take(controllers[0])
            differences.objects = controllers[2].fetchedObjects ?? []
        }

        private func change() throws {
            manager.beginUndoGrouping()
            try editor.edit(context, editor.number(5) + 1)
            context.processPendingChanges()
            manager.endUndoGrouping()
            switch editor.number(8) {
            case 0: context.rollback()
            case 1, 2: try context.save()
            case 3: for _ in 0..<2 where manager.canUndo { manager.undo() }
            case 4: if manager.canRedo { manager.redo() }
            case 5: context.refreshAllObjects()
            case 6:
                let entity = ["Club", "League", "Player"][editor.number(3)]
                let object = try fetchAll(NSManagedObject.self, entity, context).randomElement(using: &editor.random)
                if let object, !object.isInserted { context.refresh(object, mergeChanges: true) }
            default: break
            }
            context.processPendingChanges()
        }

        private func mergeOthers() throws {
            try context.performAndWait {
                try context.save()
                manager.removeAllActions()
            }
            let saved = LockedBox<Notification?>(nil)
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: writer, queue: nil
            ) { note in saved.change { $0 = note } }
            defer { NotificationCenter.default.removeObserver(observer) }
            try writer.performAndWait {
                writer.reset()
                try editor.edit(writer, editor.number(5) + 1)
                try writer.save()
            }
            guard let note = saved.value else { return }
            context.performAndWait { context.mergeChanges(fromContextDidSave: note) }
        }

        private func check(_ step: Int) throws {
            let note: Comment = "step \(step), \(self.note)"
            // A fetch sorts unchanged objects by what is stored behind their relationships.
            let found = NSArray(array: try context.fetch(request))
            let expected = found.sortedArray(using: request.sortDescriptors ?? []).compactMap { $0 as? NSManagedObject }
            for results in controllers { #expect(results.fetchedObjects == expected, note) }
            let names = Self.names(of: expected, section)
            let sections = controllers[0].sections ?? []
            if section != nil { #expect(sections.map(\.name) == names, note) }
            #expect(mirror.sections.map(\.name) == sections.map(\.name), note)
            #expect(mirror.sections.flatMap(\.items) == expected, note)
            #expect(mirror.sections.map(\.items.count) == sections.map(\.numberOfObjects), note)
            #expect(snapshots.sections.map(\.name) == sections.map(\.name), note)
            #expect(snapshots.sections.flatMap(\.items) == expected.map(\.objectID), note)
            #expect(differences.objects == expected, note)
            try checkFirstFetch(context, expected, names, note)
        }

        /// A controller that comes when names have been changed that it sorts and divides by.
        private func checkFirstFetch(
            _ context: NSManagedObjectContext, _ expected: [NSManagedObject], _ names: [String], _ note: Comment
        ) throws {
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section, cacheName: nil)
            try results.performFetch()
            #expect(results.fetchedObjects == expected, note)
            if section != nil { #expect(results.sections?.map(\.name) == names, note) }
        }

        /// The same in a child, whose parent's changes are not saved.
        private func checkFirstFetchOfChild(_ step: Int) throws {
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            try child.performAndWait {
                if editor.number(2) == 0 { try editor.edit(child, 2) }
                let found = NSArray(array: try child.fetch(request)).sortedArray(using: request.sortDescriptors ?? [])
                let expected = found.compactMap { $0 as? NSManagedObject }
                let note: Comment = "child, step \(step), \(note)"
                try checkFirstFetch(child, expected, Self.names(of: expected, section), note)
            }
        }

        private static func names(of objects: [NSManagedObject], _ section: String?) -> [String] {
            var names: [String] = []
            for object in objects {
                let name = section.map { path in object.value(forKeyPath: path).map { "\($0)" } ?? "" } ?? ""
                if names.last != name { names.append(name) }
            }
            return names
        }
    }

    /// A related object's name had changed, of which the controller was not told. With the next change a second section
    /// of one name came, and what a table view had been told did not lead to the sections it found.
    @Test(arguments: StoreKind.allCases) func aRelatedNameThatChangesMovesWhatItNames(_ kind: StoreKind) throws {
        var random = SeededGenerator(seed: 1)
        let store = try TestStore(kind, Sports.model(&random))
        let context = store.context()
        try context.performAndWait {
            let teams = ["x", "x", "y"].map { name in
                let team = insert("Team", context)
                team.setValue(name, forKey: "name")
                return team
            }
            func add(_ name: String, _ team: NSManagedObject) {
                let player = insert("Player", context)
                player.setValue(name, forKey: "name")
                player.setValue(team, forKey: "team")
            }
            add("1", teams[0])
            add("2", teams[1])
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Player")
            request.sortDescriptors = ["team.name", "name"].map { NSSortDescriptor(key: $0, ascending: true) }
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "team.name", cacheName: nil)
            let recorder = ResultsRecorder()
            results.delegate = recorder
            try results.performFetch()
            teams[1].setValue("z", forKey: "name")
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "section insert z 1", "move 2 0.1 1.0", "did"])
            add("3", teams[2])
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "section insert y 1", "insert 3 - 1.0", "did"])
            #expect(results.sections?.map(\.name) == ["x", "y", "z"])
            // A change that no key leads to, and one that changes no place, are not told.
            teams[0].setValue(7, forKey: "rank")
            context.processPendingChanges()
            teams[1].setValue("zz", forKey: "name")
            context.processPendingChanges()
            #expect(
                recorder.takeCalls() == [
                    "will", "section insert zz 2", "move 2 2.0 2.0", "section delete z 2", "did",
                ])
        }
    }

    /// Nobody tells of a value that an object computes. What is told must lead to the contents all the same.
    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 1, count: 3))
    func whatChangesInSilenceDividesNoSection(_ kind: StoreKind, _ seed: UInt64) throws {
        var editor = SportsEditor(seed: seed)
        let store = try TestStore(kind, Sports.model(&editor.random))
        let context = store.context()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Player")
            request.sortDescriptors = [
                NSSortDescriptor(key: "team.rank", ascending: true), NSSortDescriptor(key: "name", ascending: true),
            ]
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "team.title", cacheName: nil)
            let mirror = ResultsMirror()
            results.delegate = mirror
            try results.performFetch()
            for step in 0..<RandomRuns.operations(60) {
                try editor.edit(context, 3)
                for club in try fetchAll(NSManagedObject.self, "Club", context) where editor.number(2) == 0 {
                    club.setPrimitiveValue("\(editor.number(4))", forKey: "title")
                }
                context.processPendingChanges()
                let sections = results.sections ?? []
                let note: Comment = "step \(step), seed \(seed)"
                #expect(Set(sections.map(\.name)).count == sections.count, note)
                #expect(mirror.sections.map(\.name) == sections.map(\.name), note)
                #expect(mirror.sections.flatMap(\.items) == results.fetchedObjects, note)
                let all = try fetchAll(NSManagedObject.self, "Player", context)
                #expect(Set(results.fetchedObjects ?? []) == Set(all), note)
            }
        }
    }
}
