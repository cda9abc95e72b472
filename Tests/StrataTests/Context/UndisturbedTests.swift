import CoreData
import Foundation
import StrataTestKit
import Testing

/// Fetches while it awakes, as objects that number themselves do.
private final class Numbered: NSManagedObject {
    /// Whether `awakeFromFetch` changes another object and fetches.
    nonisolated(unsafe) static var isBusyWhenFetched = false

    override func awakeFromInsert() {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Numbered")
        let count = (try? managedObjectContext?.count(for: request)) ?? -1
        _ = try? managedObjectContext?.fetch(request)
        setPrimitiveValue("number \(count)", forKey: "name")
    }

    override func awakeFromFetch() {
        guard Self.isBusyWhenFetched, let context = managedObjectContext else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Counter")
        request.fetchLimit = 1
        let counter = try? context.fetch(request).first
        counter?.setValue((counter?.value(forKey: "count") as? Int ?? 0) + 1, forKey: "count")
        _ = try? context.count(for: request)
        request.predicate = NSPredicate(format: "count > 0")
        _ = try? context.fetch(request)
    }
}

/// What a context has told, by the names of the objects as they were then.
private final class Listener: @unchecked Sendable {
    // Unchecked: posted and read on one queue.
    private(set) var told: [[String]] = []
    private var token: (any NSObjectProtocol)?

    init(_ context: NSManagedObjectContext, _ then: @escaping @Sendable () -> Void = {}) {
        token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { [weak self] note in
            let keys = [NSInsertedObjectsKey, NSUpdatedObjectsKey]
            let objects = keys.flatMap { note.userInfo?[$0] as? Set<NSManagedObject> ?? [] }
            let names = objects.filter { $0.entity.name == "Numbered" }.map { $0.value(forKey: "name") as? String }
            self?.told.append(names.map { $0 ?? "half made" }.sorted())
            then()
        }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }
}

/// Changes are told before a request begins, or when the event ends: whoever hears of them never finds an object half
/// made, or a request half done.
@Suite(.serialized) struct UndisturbedTests {
    private static func model() -> NSManagedObjectModel {
        ManagedObjectClasses.register(Numbered.self)
        let numbered = GraphModel.entity("Numbered", Numbered.self)
        let counter = GraphModel.entity("Counter")
        let all = NSFetchedPropertyDescription()
        all.name = "all"
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = numbered
        all.fetchRequest = request
        numbered.properties = [GraphModel.attribute("name", .stringAttributeType)]
        counter.properties = [GraphModel.attribute("count", .integer32AttributeType, default: 0), all]
        let model = NSManagedObjectModel()
        model.entities = [numbered, counter]
        return model
    }

    private static func request() -> NSFetchRequest<NSManagedObject> { .init(entityName: "Numbered") }

    private func make(_ context: NSManagedObjectContext) -> NSManagedObject {
        NSEntityDescription.insertNewObject(forEntityName: "Numbered", into: context)
    }

    /// A controller's delegate was called by the fetch of an object that awoke, and found it without its name.
    @Test(arguments: StoreKind.allCases) func anObjectThatFetchesWhileItAwakesIsToldOfWhole(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        let listener = Listener(context)
        try context.performAndWait {
            let request = Self.request()
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let recorder = ResultsRecorder()
            results.delegate = recorder
            try results.performFetch()
            _ = make(context)
            #expect(recorder.takeCalls() == [] && listener.told == [])
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "insert number 1 - 0.0", "did"])
            _ = make(context)
            #expect(listener.told == [["number 1"]])
            // A request of the program's, outside of everything, tells first.
            _ = try context.count(for: Self.request())
            #expect(listener.told == [["number 1"], ["number 2"]])
            #expect(recorder.takeCalls() == ["will", "insert number 2 - 0.1", "did"])
        }
    }

    @Test(arguments: StoreKind.allCases) func aParentIsToldOfWhatAChildHasSavedWhole(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let parent = store.context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        let listener = Listener(parent)
        try child.performAndWait {
            for name in ["a", "b"] { make(child).setValue(name, forKey: "name") }
            try child.save()
        }
        #expect(listener.told == [["a", "b"]])
    }

    /// The rows of a fetch awoke, changed something and fetched: the next row's fetch told of it in the middle of the
    /// first one.
    @Test(arguments: StoreKind.allCases) func nothingIsToldBetweenTheRowsOfAFetch(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let writer = store.context()
        try writer.performAndWait {
            for _ in 0..<5 { _ = make(writer) }
            _ = NSEntityDescription.insertNewObject(forEntityName: "Counter", into: writer)
            try writer.save()
        }
        let context = store.context()
        let listener = Listener(context)
        Numbered.isBusyWhenFetched = true
        defer { Numbered.isBusyWhenFetched = false }
        try context.performAndWait {
            let request = Self.request()
            request.returnsObjectsAsFaults = false
            #expect(try context.fetch(request).count == 5)
            #expect(listener.told.isEmpty)
            let counters = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Counter"))
            #expect(listener.told.count == 1)
            #expect(counters.first?.value(forKey: "count") as? Int == 5)
            context.refreshAllObjects()
            let told = listener.told.count
            for object in try context.fetch(Self.request()) { _ = object.value(forKey: "name") }
            #expect(listener.told.count == told, "a fault is no end of an event")
        }
    }

    @Test(arguments: StoreKind.allCases) func readingAPropertyTellsNothing(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        context.performAndWait {
            let counter = NSEntityDescription.insertNewObject(forEntityName: "Counter", into: context)
            context.processPendingChanges()
            let listener = Listener(context)
            _ = make(context)
            #expect((counter.value(forKey: "all") as? [NSManagedObject])?.count == 1)
            let fetch = NSFetchRequestExpression.expression(
                forFetch: NSExpression(forConstantValue: Self.request()),
                context: NSExpression(forConstantValue: context), countOnly: true)
            #expect(fetch.expressionValue(with: counter, context: nil) as? Int == 1)
            #expect(listener.told.isEmpty)
            context.processPendingChanges()
            #expect(listener.told == [["number 1"]])
        }
    }

    /// An observer that changed something and fetched had others hear of its change before they heard of the first.
    @Test(arguments: StoreKind.allCases) func changesAreToldInTheirOrder(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            let (first, second) = (make(context), make(context))
            try context.save()
            let isDone = LockedBox(false)
            let objects = UncheckedPair(first: second, context: context)
            let eager = Listener(context) {
                if isDone.value { return }
                isDone.change { $0 = true }
                objects.first.setValue("then", forKey: "name")
                _ = try? objects.context.fetch(Self.request())
            }
            let listener = Listener(context)
            first.setValue("first", forKey: "name")
            context.processPendingChanges()
            context.processPendingChanges()
            #expect(listener.told == [["first"], ["then"]])
            withExtendedLifetime(eager) {}
        }
    }
}

/// Only used on the context's queue.
private struct UncheckedPair: @unchecked Sendable {
    let first: NSManagedObject
    let context: NSManagedObjectContext
}
