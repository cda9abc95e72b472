import CoreData
import Foundation
import Testing

// Lists: a data source over a fetched results controller, generic over its cells' objects, and a table that mirrors it.

protocol ListMirror: AnyObject {
    func begin()
    func insertRow(at path: IndexPath)
    func deleteRow(at path: IndexPath)
    func reloadRow(at path: IndexPath)
    func insertSection(_ index: Int)
    func deleteSection(_ index: Int)
    func end()
}

/// What a table view does with the calls: applied in one batch, deletions by old paths, insertions by new ones.
final class MirrorTable: ListMirror {
    var rows: [[String]] = []
    var read: (() -> [[String]])?
    private(set) var log: [String] = []
    private var deletions: [IndexPath] = []
    private var insertions: [IndexPath] = []
    private var deletedSections: [Int] = []
    private var insertedSections: [Int] = []
    func begin() {
        deletions = []
        insertions = []
        deletedSections = []
        insertedSections = []
    }
    func insertRow(at path: IndexPath) {
        log.append("+\(path[0]).\(path[1])")
        insertions.append(path)
    }
    func deleteRow(at path: IndexPath) {
        log.append("-\(path[0]).\(path[1])")
        deletions.append(path)
    }
    func reloadRow(at path: IndexPath) { log.append("!\(path[0]).\(path[1])") }
    func insertSection(_ index: Int) {
        log.append("+\(index)")
        insertedSections.append(index)
    }
    func deleteSection(_ index: Int) {
        log.append("-\(index)")
        deletedSections.append(index)
    }
    func end() {
        for path in deletions.sorted(by: >) { rows[path[0]].remove(at: path[1]) }
        for index in deletedSections.sorted(by: >) { rows.remove(at: index) }
        for index in insertedSections.sorted() { rows.insert([], at: index) }
        for path in insertions.sorted() { rows[path[0]].insert("?", at: path[1]) }
        guard let read else { return }
        #expect(rows.map(\.count) == read().map(\.count))
        rows = read()
    }
    func takeLog() -> [String] {
        defer { log = [] }
        return log
    }
}

final class ResultsDataSource<Object: NSManagedObject>: NSObject, NSFetchedResultsControllerDelegate {
    let controller: NSFetchedResultsController<Object>
    weak var mirror: (any ListMirror)?

    init(controller: NSFetchedResultsController<Object>) throws {
        self.controller = controller
        super.init()
        controller.delegate = self
        try controller.performFetch()
    }

    var numberOfSections: Int { controller.sections?.count ?? 0 }
    func numberOfItems(in section: Int) -> Int { controller.sections?[section].numberOfObjects ?? 0 }
    func title(of section: Int) -> String? { controller.sections?[section].name }
    subscript(_ section: Int, _ row: Int) -> Object { controller.object(at: IndexPath(item: row, section: section)) }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        mirror?.begin()
    }
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        mirror?.end()
    }
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        switch type {
        case .insert:
            if let newIndexPath { mirror?.insertRow(at: newIndexPath) }
        case .delete:
            if let indexPath { mirror?.deleteRow(at: indexPath) }
        case .move:
            mirror?.deleteRow(at: indexPath!)
            mirror?.insertRow(at: newIndexPath!)
        case .update:
            mirror?.reloadRow(at: indexPath!)
        @unknown default:
            fatalError()
        }
    }
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        switch type {
        case .insert: mirror?.insertSection(sectionIndex)
        case .delete: mirror?.deleteSection(sectionIndex)
        default: break
        }
    }
}

/// A delegate that only takes snapshots.
final class SnapshotKeeper: NSObject, NSFetchedResultsControllerDelegate {
    var identifiers: [[NSManagedObjectID]] = []
    var sections: [String] = []
    var rounds = 0
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        rounds += 1
        sections = snapshot.sectionIdentifiers as? [String] ?? []
        identifiers = sections.map {
            snapshot.itemIdentifiersInSection(withIdentifier: $0) as? [NSManagedObjectID] ?? []
        }
    }
}

/// A controller of its own that forgets its delegate.
final class CountingController: NSFetchedResultsController<NSManagedObject> {
    private(set) var fetches = 0
    override func performFetch() throws {
        fetches += 1
        try super.performFetch()
    }
    override func sectionIndexTitle(forSectionName sectionName: String) -> String? { "<\(sectionName)>" }
}

final class NoteContext: NSManagedObjectContext, @unchecked Sendable {
    private(set) var saveCount = 0
    override func save() throws {
        saveCount += 1
        try super.save()
    }
}

@MainActor
@Suite struct ResultsClientTests {
    private func request() -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Customer")
        request.sortDescriptors = [
            NSSortDescriptor(key: "city", ascending: true), NSSortDescriptor(key: "name", ascending: true),
        ]
        request.predicate = NSPredicate(format: "vip == NO")
        request.fetchBatchSize = 20
        return request
    }

    private func add(_ name: String, _ city: String, to context: NSManagedObjectContext) -> NSManagedObject {
        let customer = NSEntityDescription.insertNewObject(forEntityName: "Customer", into: context)
        customer.setValue(name, forKey: "name")
        customer.setValue(city, forKey: "city")
        customer.setValue("\(name)@\(city)", forKey: "email")
        return customer
    }

    @Test(arguments: StoreKind.allCases)
    func aTableFollowsTheObjects(_ kind: StoreKind) throws {
        let container = try ShopModel.container(kind)
        let context = container.viewContext
        context.automaticallyMergesChangesFromParent = true
        let ada = add("Ada", "Oslo", to: context)
        _ = add("Bob", "Oslo", to: context)
        _ = add("Cid", "Rome", to: context)
        try context.save()
        let controller = NSFetchedResultsController(
            fetchRequest: request(), managedObjectContext: context, sectionNameKeyPath: "city", cacheName: nil)
        let source = try ResultsDataSource(controller: controller)
        let table = MirrorTable()
        source.mirror = table
        func names() -> [[String]] {
            (0..<source.numberOfSections).map { section in
                (0..<source.numberOfItems(in: section)).map {
                    source[section, $0].value(forKey: "name") as? String ?? ""
                }
            }
        }
        table.read = names
        table.rows = names()
        #expect(names() == [["Ada", "Bob"], ["Cid"]])
        #expect(source.title(of: 1) == "Rome")
        #expect(controller.sectionIndexTitles == ["O", "R"])

        let dag = add("Dag", "Lima", to: context)
        context.processPendingChanges()
        #expect(table.takeLog() == ["+0", "+0.0"])
        ada.setValue("Aha", forKey: "name")
        context.processPendingChanges()
        #expect(table.takeLog() == ["!1.0"])
        ada.setValue("Zoe", forKey: "name")
        context.processPendingChanges()
        #expect(table.takeLog() == ["-1.0", "+1.1"])
        ada.setValue("Rome", forKey: "city")
        context.processPendingChanges()
        #expect(names() == [["Dag"], ["Bob"], ["Cid", "Zoe"]])
        dag.setValue(true, forKey: "vip")
        try context.save()
        #expect(names() == [["Bob"], ["Cid", "Zoe"]])
        #expect(controller.indexPath(forObject: ada) == IndexPath(row: 1, section: 1))
        #expect(controller.indexPath(forObject: dag) == nil)
        #expect(controller.fetchedObjects?.count == 3)
        let bob = source[0, 0]
        context.delete(bob)
        context.processPendingChanges()
        #expect(names() == [["Cid", "Zoe"]])
        context.rollback()
        #expect(names() == [["Bob"], ["Cid", "Zoe"]])
        context.undoManager = UndoManager()
        bob.setValue("Bea", forKey: "name")
        context.processPendingChanges()
        context.undoManager?.undo()
        #expect(names().first == ["Bob"])
        context.undoManager?.redo()
        #expect(names().first == ["Bea"])
    }

    @Test func savesOfOthersArrive() throws {
        let container = try ShopModel.container()
        let context = container.viewContext
        let keeper = SnapshotKeeper()
        let controller = NSFetchedResultsController(
            fetchRequest: request(), managedObjectContext: context, sectionNameKeyPath: "city", cacheName: "cities")
        controller.delegate = keeper
        try controller.performFetch()
        let background = container.newBackgroundContext()
        nonisolated(unsafe) var note: Notification?
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: background, queue: nil
        ) { note = $0 }
        defer { NotificationCenter.default.removeObserver(observer) }
        try background.performAndWait {
            _ = add("Eve", "Kiev", to: background)
            try background.save()
        }
        context.mergeChanges(fromContextDidSave: try #require(note))
        #expect(keeper.sections == ["Kiev"])
        #expect(keeper.identifiers.first?.count == 1)
        let id = try #require(keeper.identifiers.first?.first)
        #expect(!id.isTemporaryID)
        #expect(context.object(with: id).value(forKey: "name") as? String == "Eve")
        NSFetchedResultsController<any NSFetchRequestResult>.deleteCache(withName: "cities")
        NSFetchedResultsController<NSManagedObject>.deleteCache(withName: nil)
    }

    @Test func subclassesAreCalled() throws {
        let container = try ShopModel.container()
        let context = NoteContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = container.persistentStoreCoordinator
        _ = add("Ada", "Oslo", to: context)
        try context.save()
        #expect(context.saveCount == 1)
        let controller = CountingController(
            fetchRequest: request(), managedObjectContext: context, sectionNameKeyPath: "city", cacheName: nil)
        try controller.performFetch()
        #expect(controller.fetches == 1)
        #expect(controller.sectionIndexTitles == ["<Oslo>"])
        #expect(controller.sections?.first?.indexTitle == "<Oslo>")
        #expect(controller.section(forSectionIndexTitle: "<Oslo>", at: 0) == 0)
        #expect(controller.sections?.first?.objects?.count == 1)
    }
}
