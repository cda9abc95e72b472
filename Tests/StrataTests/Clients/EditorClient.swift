import CoreData
import Foundation
import Testing

// An editor: a scratch context for each sheet, undo in the document, a list kept by a results controller, and ordered
// children that are moved about.

private final class EditorList: NSObject, NSFetchedResultsControllerDelegate {
    let controller: NSFetchedResultsController<NSManagedObject>
    private(set) var log: [String] = []

    init(_ context: NSManagedObjectContext) {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Chapter")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        super.init()
        controller.delegate = self
    }

    var titles: [String] { controller.fetchedObjects?.compactMap { $0.value(forKey: "title") as? String } ?? [] }

    func takeLog() -> [String] {
        defer { log = [] }
        return log
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        log.append("begin")
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let title = (anObject as? NSManagedObject)?.value(forKey: "title") as? String ?? "?"
        switch type {
        case .insert: log.append("+\(title)@\(newIndexPath?.row ?? -1)")
        case .delete: log.append("-@\(indexPath?.row ?? -1)")
        case .update: log.append("~\(title)")
        case .move: log.append("\(indexPath?.row ?? -1)>\(newIndexPath?.row ?? -1)")
        @unknown default: break
        }
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        log.append("end")
    }
}

@Suite struct EditorClientTests {
    private static var model: NSManagedObjectModel {
        let book = GraphModel.entity("Volume")
        let chapter = GraphModel.entity("Chapter")
        let chapters = GraphModel.relationship(
            "chapters", to: chapter, toMany: true, rule: .cascadeDeleteRule, ordered: true)
        let bookOf = GraphModel.relationship("volume", to: book)
        GraphModel.link(chapters, bookOf)
        book.properties = [GraphModel.attribute("title", .stringAttributeType), chapters]
        chapter.properties = [
            GraphModel.attribute("title", .stringAttributeType, optional: false),
            GraphModel.attribute("words", .integer32AttributeType, default: 0), bookOf,
        ]
        let model = NSManagedObjectModel()
        model.entities = [book, chapter]
        return model
    }

    private static func chapter(_ title: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let chapter = NSEntityDescription.insertNewObject(forEntityName: "Chapter", into: context)
        chapter.setValue(title, forKey: "title")
        return chapter
    }

    private static func sheet(over parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let sheet = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        sheet.parent = parent
        return sheet
    }

    @Test(arguments: StoreKind.allCases)
    func sheetsAreCancelledOrTaken(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let main = store.context()
        try main.performAndWait {
            let list = EditorList(main)
            try list.controller.performFetch()
            let first = Self.chapter("Start", main)
            try main.save()
            #expect(list.takeLog() == ["begin", "+Start@0", "end"])
            // Cancelled: nothing has happened.
            var sheet = Self.sheet(over: main)
            sheet.performAndWait {
                sheet.object(with: first.objectID).setValue("Lost", forKey: "title")
                _ = Self.chapter("Gone", sheet)
            }
            sheet = Self.sheet(over: main)
            main.processPendingChanges()
            #expect(!main.hasChanges && list.takeLog() == [] && list.titles == ["Start"])
            // Taken: the list hears of it at once, the store after the next save.
            try sheet.performAndWait {
                sheet.object(with: first.objectID).setValue("Zero", forKey: "title")
                _ = Self.chapter("One", sheet)
                try sheet.save()
            }
            main.processPendingChanges()
            #expect(list.titles == ["One", "Zero"] && main.hasChanges)
            #expect(first.value(forKey: "title") as? String == "Zero")
            try main.save()
            #expect(first.committedValues(forKeys: ["title"])["title"] as? String == "Zero")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func undoGoesStepByStep(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        try context.performAndWait {
            let manager = UndoManager()
            manager.groupsByEvent = false
            context.undoManager = manager
            func step(_ name: String, _ body: () -> Void) {
                manager.beginUndoGrouping()
                body()
                context.processPendingChanges()
                manager.setActionName(name)
                manager.endUndoGrouping()
            }
            let list = EditorList(context)
            try list.controller.performFetch()
            var chapter: NSManagedObject?
            step("Add") { chapter = Self.chapter("A", context) }
            let added = try #require(chapter)
            step("Rename") { added.setValue("B", forKey: "title") }
            step("Delete") { context.delete(added) }
            #expect(list.titles == [] && manager.undoActionName == "Delete")
            manager.undo()
            #expect(list.titles == ["B"] && manager.redoActionName == "Delete")
            manager.undo()
            #expect(list.titles == ["A"])
            manager.undo()
            #expect(list.titles == [] && !manager.canUndo)
            manager.redo()
            manager.redo()
            #expect(list.titles == ["B"])
            try context.save()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Chapter")) == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func chaptersAreMovedAbout(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        try context.performAndWait {
            let volume = NSEntityDescription.insertNewObject(forEntityName: "Volume", into: context)
            let chapters = volume.mutableOrderedSetValue(forKey: "chapters")
            for title in ["a", "b", "c", "d"] { chapters.add(Self.chapter(title, context)) }
            func titles() -> String {
                (volume.value(forKey: "chapters") as? NSOrderedSet)?.array
                    .compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }.joined() ?? "?"
            }
            #expect(titles() == "abcd")
            chapters.moveObjects(at: IndexSet(integer: 3), to: 0)
            #expect(titles() == "dabc")
            chapters.exchangeObject(at: 0, withObjectAt: 3)
            #expect(titles() == "cabd")
            let extra = Self.chapter("x", context)
            chapters.insert(extra, at: 1)
            #expect(titles() == "cxabd" && extra.value(forKey: "volume") as? NSManagedObject === volume)
            try context.save()
            context.refreshAllObjects()
            #expect(titles() == "cxabd")
            chapters.removeObject(at: 1)
            #expect(extra.value(forKey: "volume") == nil)
            let sorted = NSMutableOrderedSet(orderedSet: volume.value(forKey: "chapters") as? NSOrderedSet ?? [])
            sorted.sort(using: [NSSortDescriptor(key: "title", ascending: true)])
            volume.setValue(sorted, forKey: "chapters")
            try context.save()
            context.reset()
            let again = try #require(
                context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Volume")).first)
            let order = (again.value(forKeyPath: "chapters.title") as? NSOrderedSet)?.array as? [String]
            #expect(order == ["a", "b", "c", "d"])
        }
    }
}
