import CoreData
import Foundation
import StrataTestKit
import Testing

/// Delegates and observers that change, save, fetch and roll back in the middle of being told.
@Suite struct ReentrantDelegateTests {
    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 1, count: 4))
    func everyDelegateStillHearsWhatLeadsToTheResults(_ kind: StoreKind, _ seed: UInt64) throws {
        for sections in [nil, "age"] { try ReentrantRun(kind, sections, seed).run() }
    }

    @Test(arguments: StoreKind.allCases)
    func roundsFollowOneAnother(_ kind: StoreKind) throws {
        let run = try ReentrantRun(kind, nil, 1)
        try run.context.performAndWait {
            try run.open()
            var calls: [String] = []
            run.first.heard = { moment in
                calls.append(moment)
                if moment == "will", calls.count == 1 {
                    run.add("second")
                    run.context.processPendingChanges()
                }
            }
            run.add("first")
            run.context.processPendingChanges()
            #expect(calls == ["will", "object", "did", "will", "object", "did"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatIsSavedInTheMiddleIsStillTold(_ kind: StoreKind) throws {
        let run = try ReentrantRun(kind, nil, 1)
        try run.context.performAndWait {
            try run.open()
            var failure: (any Error)?
            run.first.heard = { moment in
                guard moment == "object", run.first.mirrored == 0 else { return }
                run.add("second")
                do { try run.context.save() } catch { failure = error }
            }
            run.add("first")
            run.context.processPendingChanges()
            #expect(failure == nil)
            #expect(!run.context.hasChanges)
            #expect(run.first.mirrored == 2 && run.second.mirrored == 2)
            try run.check("saved")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aDelegateThatIsTakenAwayHearsNoMore(_ kind: StoreKind) throws {
        let run = try ReentrantRun(kind, nil, 1)
        try run.context.performAndWait {
            try run.open()
            var calls: [String] = []
            run.first.heard = { moment in
                calls.append(moment)
                run.results.delegate = nil
            }
            run.add("first")
            run.context.processPendingChanges()
            #expect(calls == ["will"])
            #expect(run.second.mirrored == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func afterAResetNothingOfTheRoundIsTold(_ kind: StoreKind) throws {
        let run = try ReentrantRun(kind, nil, 1)
        try run.context.performAndWait {
            try run.open()
            run.add("first")
            run.add("second")
            try run.context.save()
            var calls: [String] = []
            run.first.heard = { moment in
                calls.append(moment)
                if calls.count == 2 { run.context.reset() }
            }
            for object in run.results.fetchedObjects ?? [] { object.name = "changed" }
            run.context.processPendingChanges()
            #expect(calls == ["will", "object", "did"])
            try run.fetchAnew()
            run.first.heard = { _ in }
            run.add("third")
            run.context.processPendingChanges()
            try run.check("reset")
        }
    }
}

/// Two controllers of one context, whose delegates do something while they are told.
private final class ReentrantRun {
    let context: NSManagedObjectContext
    let results: NSFetchedResultsController<Employee>
    let others: NSFetchedResultsController<Employee>
    let first = ActingMirror()
    let second = ActingMirror()
    private let store: TestStore
    private let editor: NSManagedObjectContext
    private let request = NSFetchRequest<Employee>(entityName: "Employee")
    private let sections: String?
    private let seed: UInt64
    private var random: SeededGenerator
    private var serial = 0
    /// How many things may still be done in the middle, so that a round comes to its end.
    private var budget = 0
    private var done: [String] = []
    private var isSaving = false

    init(_ kind: StoreKind, _ sections: String?, _ seed: UInt64) throws {
        self.sections = sections
        self.seed = seed
        random = SeededGenerator(seed: seed)
        store = try TestStore(kind)
        context = store.context()
        editor = store.context()
        request.predicate = NSPredicate(format: "age < 8")
        request.sortDescriptors = [
            NSSortDescriptor(key: "age", ascending: true), NSSortDescriptor(key: "name", ascending: false),
        ]
        results = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
        let copy = try #require(request.copy() as? NSFetchRequest<Employee>)
        others = NSFetchedResultsController(
            fetchRequest: copy, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
    }

    func open() throws {
        context.retainsRegisteredObjects = true
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        results.delegate = first
        others.delegate = second
        try fetchAnew()
    }

    func fetchAnew() throws {
        try results.performFetch()
        first.take(results)
        try others.performFetch()
        second.take(others)
    }

    @discardableResult
    func add(_ name: String, age: Int16 = 1) -> NSManagedObject {
        let employee = insert("Employee", context)
        employee.setValue(name, forKey: "name")
        employee.setValue(age, forKey: "age")
        return employee
    }

    func run() throws {
        let manager = UndoManager()
        manager.groupsByEvent = false
        try context.performAndWait { () throws in
            for _ in 0..<20 { add(name(), age: age()) }
            try context.save()
            context.undoManager = manager
            try open()
        }
        for mirror in [first, second] {
            mirror.heard = { [unowned self] _ in
                guard budget > 0, Int.random(in: 0..<3, using: &random) == 0 else { return }
                budget -= 1
                act(isOutside: false)
            }
        }
        for step in 0..<RandomRuns.operations(60) {
            budget = 4
            done = []
            let saved = try editor.performAndWait { try step % 6 == 5 ? edited() : nil }
            try context.performAndWait { () throws in
                manager.beginUndoGrouping()
                if let saved {
                    context.mergeChanges(fromContextDidSave: saved)
                } else {
                    for _ in 0..<Int.random(in: 1...4, using: &random) { act(isOutside: true) }
                }
                context.processPendingChanges()
                manager.endUndoGrouping()
                budget = 0
                context.processPendingChanges()
                try check("step \(step)")
            }
        }
    }

    private func save() throws {
        isSaving = true
        defer { isSaving = false }
        try context.save()
    }

    private func name() -> String {
        serial += 1
        return "\(Int.random(in: 0..<1_000, using: &random))-\(serial)"
    }

    private func age() -> Int16 { .random(in: 0..<10, using: &random) }

    /// Changes something in another context, and returns what its save says.
    private func edited() throws -> Notification? {
        editor.reset()
        let all = try fetchAll(Employee.self, "Employee", editor)
        for _ in 0..<3 {
            guard let employee = all.randomElement(using: &random), !employee.isDeleted else { continue }
            if Bool.random(using: &random) { employee.age = age() } else { editor.delete(employee) }
        }
        let saved = SavedNotification()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: editor, queue: nil
        ) { saved.notification = $0 }
        defer { NotificationCenter.default.removeObserver(observer) }
        try editor.save()
        return saved.notification
    }

    private func act(isOutside: Bool) {
        let all = context.registeredObjects.compactMap { $0 as? Employee }
            .filter { !$0.isDeleted && $0.managedObjectContext != nil }.sorted { $0.name < $1.name }
        let chosen = all.randomElement(using: &random)
        let action = Int.random(in: 0..<(isOutside ? 6 : 14), using: &random)
        done.append("\(action)")
        do {
            switch action {
            case 0, 1: add(name(), age: age())
            case 2: chosen?.age = age()
            case 3: chosen?.name = name()
            case 4, 5: if let chosen { context.delete(chosen) }
            case 6: context.processPendingChanges()
            // In the middle of a save there is no other one.
            case 7: if !isSaving { try save() }
            case 8: _ = try context.fetch(request)
            case 9: _ = try context.count(for: request)
            case 10:
                try results.performFetch()
                first.take(results)
            case 11:
                try others.performFetch()
                second.take(others)
            case 12: context.rollback()
            default: if let chosen { context.refresh(chosen, mergeChanges: true) }
            }
        } catch {
            Issue.record("\(error), actions \(done), seed \(seed)")
        }
    }

    private func text(_ object: NSManagedObject) -> String {
        "\(object.value(forKey: "age") ?? "") \(object.value(forKey: "name") ?? "") \(ObjectIdentifier(object))"
    }

    func check(_ place: String) throws {
        let expected = try context.fetch(request).map { text($0) }
        for (controller, mirror) in [(results, first), (others, second)] {
            let comment = Comment(rawValue: "\(place), actions \(done), \(sections ?? "no sections"), seed \(seed)")
            #expect((controller.fetchedObjects ?? []).map { text($0) } == expected, comment)
            #expect(mirror.sections.flatMap(\.items).map { text($0) } == expected, comment)
            #expect(mirror.sections.map(\.name) == (controller.sections ?? []).map(\.name), comment)
            #expect(mirror.isBetweenRounds, comment)
        }
    }
}

/// A mirror that lets others do something before it notes what it is told.
private final class ActingMirror: ResultsMirror {
    var heard: (String) -> Void = { _ in }
    /// False between being told of the beginning and of the end of a round.
    private(set) var isBetweenRounds = true

    var mirrored: Int { sections.reduce(0) { $0 + $1.items.count } }

    override func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        #expect(isBetweenRounds)
        isBetweenRounds = false
        super.controllerWillChangeContent(controller)
        heard("will")
    }

    override func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        #expect(!isBetweenRounds)
        super.controller(controller, didChange: anObject, at: indexPath, for: type, newIndexPath: newIndexPath)
        heard("object")
    }

    override func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        #expect(!isBetweenRounds)
        super.controller(controller, didChange: sectionInfo, atSectionIndex: sectionIndex, for: type)
        heard("section")
    }

    override func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        #expect(!isBetweenRounds)
        isBetweenRounds = true
        super.controllerDidChangeContent(controller)
        heard("did")
    }
}

/// Only used while the context that posts waits.
private final class SavedNotification: @unchecked Sendable {
    var notification: Notification?
}
