import CoreData
import Foundation
import StrataTestKit
import Testing

@Suite struct FetchedResultsRandomTests {
    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 1, count: 2))
    func theDelegatesCopyIsWhatAFetchFinds(_ kind: StoreKind, _ seed: UInt64) throws {
        for sections in [nil, "age"] { try run(kind, sections, seed) }
    }

    private func run(_ kind: StoreKind, _ sections: String?, _ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind)
        let context = store.context()
        let editor = store.context()
        let manager = UndoManager()
        manager.groupsByEvent = false
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.predicate = NSPredicate(format: "age < 8")
        request.sortDescriptors = [
            NSSortDescriptor(key: "age", ascending: true), NSSortDescriptor(key: "name", ascending: false),
        ]
        let mirror = ResultsMirror()
        let results = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
        var serial = 0
        func name() -> String {
            serial += 1
            return "\(Int.random(in: 0..<1_000, using: &random))-\(serial)"
        }
        func edit(_ context: NSManagedObjectContext, _ changes: Int) throws {
            let all = try fetchAll(Employee.self, "Employee", context)
            for _ in 0..<changes {
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    let kind = Bool.random(using: &random) ? "Employee" : "Manager"
                    guard let employee = insert(kind, context) as? Employee else { continue }
                    employee.name = name()
                    employee.age = Int16.random(in: 0..<10, using: &random)
                case 2: all.randomElement(using: &random)?.name = name()
                case 3: all.randomElement(using: &random)?.age = Int16.random(in: 0..<10, using: &random)
                case 4: all.randomElement(using: &random)?.badge = nil
                default: if let doomed = all.randomElement(using: &random) { context.delete(doomed) }
                }
            }
        }
        func check(_ step: Int) throws {
            let expected = try context.fetch(request)
            let found = (results.fetchedObjects ?? []).map(ObjectIdentifier.init)
            #expect(found == expected.map(ObjectIdentifier.init), "step \(step), seed \(seed)")
            let copied = mirror.sections.flatMap(\.items).map(ObjectIdentifier.init)
            #expect(copied == found, "step \(step), seed \(seed)")
            let infos = results.sections ?? []
            #expect(mirror.sections.map(\.name) == infos.map(\.name), "step \(step), seed \(seed)")
            if sections != nil {
                #expect(
                    mirror.sections.allSatisfy { section in
                        section.items.allSatisfy { "\($0.value(forKey: "age") ?? "")" == section.name }
                    })
            }
        }
        try context.performAndWait { () throws in
            try edit(context, 30)
            try context.save()
            // What is not in memory when it changes elsewhere goes unnoticed.
            context.retainsRegisteredObjects = true
            context.undoManager = manager
            results.delegate = mirror
            try results.performFetch()
            mirror.take(results)
        }
        for step in 0..<RandomRuns.operations(150) {
            let changes = Int.random(in: 1...6, using: &random)
            if step % 5 == 4 {
                try context.performAndWait { () throws in
                    try context.save()
                    manager.removeAllActions()
                }
                let note = try editor.performAndWait { () throws in
                    editor.reset()
                    try edit(editor, changes)
                    var saved: Notification?
                    let box = NotificationBox()
                    let observer = NotificationCenter.default.addObserver(
                        forName: .NSManagedObjectContextDidSave, object: editor, queue: nil
                    ) { box.notification = $0 }
                    defer { NotificationCenter.default.removeObserver(observer) }
                    try editor.save()
                    saved = box.notification
                    return saved
                }
                if let note { context.performAndWait { context.mergeChanges(fromContextDidSave: note) } }
            } else {
                try context.performAndWait { () throws in
                    manager.beginUndoGrouping()
                    try edit(context, changes)
                    context.processPendingChanges()
                    manager.endUndoGrouping()
                    switch step % 7 {
                    case 0: context.rollback()
                    case 1, 2: try context.save()
                    case 3: for _ in 0..<2 where manager.canUndo { manager.undo() }
                    case 4: if manager.canRedo { manager.redo() }
                    default: break
                    }
                    context.processPendingChanges()
                }
            }
            try context.performAndWait { try check(step) }
        }
    }
}

/// Only used while the context that posts waits.
private final class NotificationBox: @unchecked Sendable {
    var notification: Notification?
}
