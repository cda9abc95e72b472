import CoreData
import Foundation
import Testing

/// Predicates that know the class that they are for, as libraries have them.
private final class TypedComparison<Root>: NSComparisonPredicate {}

private func comparison<Root, Value>(_ keyPath: KeyPath<Root, Value>, _ value: Any?) -> TypedComparison<Root> {
    TypedComparison<Root>(
        leftExpression: NSExpression(forKeyPath: keyPath), rightExpression: NSExpression(forConstantValue: value),
        modifier: .direct, type: .equalTo)
}

private func sorted<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> NSSortDescriptor {
    NSSortDescriptor(keyPath: keyPath, ascending: false)
}

/// Refuses what it is told to refuse, and notes what it was asked.
private final class FailingCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
    // Unchecked: tests use it from one context's queue.
    var refuses = false
    var asked: [NSPersistentStoreRequestType] = []

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        asked.append(request.requestType)
        if refuses { throw CocoaError(.persistentStoreSave) }
        return try super.execute(request, with: context)
    }
}

private final class RetryingCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
    // Unchecked: the tests' contexts wait for each other.
    var beforeTryingAgain: (() -> Void)?

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        do {
            return try super.execute(request, with: context)
        } catch {
            guard let prepare = beforeTryingAgain else { throw error }
            beforeTryingAgain = nil
            prepare()
            return try super.execute(request, with: context)
        }
    }
}

private final class FailingContext: NSManagedObjectContext, @unchecked Sendable {
    // Unchecked: used on its queue.
    struct Refusal: Error {}
    var refuses = false

    override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        if refuses { throw Refusal() }
        return try super.fetch(request)
    }
}

private final class DeletionStandIn: NSBatchDeleteResult {
    override var result: Any? { [NSManagedObjectID]() }
}

private final class FetchStandIn<T>: NSAsynchronousFetchResult<T>, @unchecked Sendable {
    // Unchecked: nothing changes.
    private let values: [T]

    init(_ values: [T]) {
        self.values = values
        super.init()
    }

    override var finalResult: [T]? { values }
}

private final class LaterController: NSFetchedResultsController<NSManagedObject> {
    override init() { super.init() }
}

/// What libraries around Core Data, and the tests of programs, make and override.
@Suite struct LibraryIdiomsTests {
    @Test func predicatesAndOrdersByKeyPathsOfAnyRoot() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            for (name, age) in [("a", 3), ("b", 1), ("c", 3)] {
                let employee = Employee(context: context)
                (employee.name, employee.age) = (name, Int16(age))
            }
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.predicate = comparison(\Employee.age, 3)
            request.sortDescriptors = [sorted(\Employee.name)]
            #expect(try context.fetch(request).map(\.name) == ["c", "a"])
            try context.save()
            #expect(try context.fetch(request).map(\.name) == ["c", "a"])
        }
    }

    @Test(arguments: StoreKind.allCases) func aCoordinatorsExecuteIsAsked(_ kind: StoreKind) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-test-\(UUID().uuidString)")
        let coordinator = FailingCoordinator(managedObjectModel: GraphModel.company())
        let store = try coordinator.addPersistentStore(
            ofType: kind == .memory ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil,
            at: kind == .memory ? nil : url, options: [StrataDurabilityOption: "os"])
        defer {
            try? coordinator.remove(store)
            removeStore(at: url)
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            let employee = Employee(context: context)
            employee.name = "a"
            coordinator.refuses = true
            #expect(saveError(context)?.code == .persistentStoreSave)
            #expect(employee.isInserted && employee.objectID.isTemporaryID)
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(throws: CocoaError.self) { try context.count(for: request) }
            let deletion = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Employee"))
            #expect(throws: CocoaError.self) { try context.execute(deletion) }
            coordinator.refuses = false
            coordinator.asked = []
            try context.save()
            #expect(!employee.hasChanges && !employee.objectID.isTemporaryID)
            #expect(try context.fetch(request) == [employee])
            #expect(try context.count(for: request) == 1 && request.resultType == .managedObjectResultType)
            employee.name = "b"
            try context.save()
            deletion.resultType = .resultTypeCount
            #expect((try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 1)
            #expect(
                coordinator.asked == [
                    .saveRequestType, .fetchRequestType, .fetchRequestType, .saveRequestType, .batchDeleteRequestType,
                ])
        }
    }

    /// A count of dictionaries counts the groups, whichever way it takes.
    @Test func anOverriddenCoordinatorCountsAsOthersDo() throws {
        let coordinator = FailingCoordinator(managedObjectModel: GraphModel.company())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            for age in [1, 1, 2] { Employee(context: context).age = Int16(age) }
            try context.save()
            Employee(context: context).age = 3
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            #expect(try context.count(for: request) == 4)
            request.fetchOffset = 1
            request.fetchLimit = 2
            request.fetchBatchSize = 1
            #expect(try context.count(for: request) == 2)
            let ages = NSFetchRequest<NSDictionary>(entityName: "Employee")
            ages.resultType = .dictionaryResultType
            ages.propertiesToFetch = ["age"]
            ages.returnsDistinctResults = true
            ages.includesPendingChanges = false
            #expect(try context.count(for: ages) == 2)
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
            ids.resultType = .managedObjectIDResultType
            #expect(try context.count(for: ids) == 4)
        }
        #expect(coordinator.asked.suffix(4) == Array(repeating: .fetchRequestType, count: 4))
    }

    /// What has failed before it reached a store may be tried again, once for each call of `super`.
    @Test func aCoordinatorMayTryAgain() throws {
        let coordinator = RetryingCoordinator(managedObjectModel: GraphModel.company())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        func make() -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return context
        }
        let (context, other) = (make(), make())
        try context.performAndWait { () throws in
            let employee = Employee(context: context)
            employee.name = "a"
            try context.save()
            let id = employee.objectID
            try other.performAndWait {
                other.object(with: id).setValue("theirs", forKey: "name")
                try other.save()
            }
            employee.name = "mine"
            coordinator.beforeTryingAgain = { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
            try context.save()
            #expect(!employee.hasChanges && coordinator.beforeTryingAgain == nil)
            context.refresh(employee, mergeChanges: false)
            #expect(employee.name == "mine")
        }
    }

    @Test func aContextsFetchIsAskedByWhoFetchesThroughIt() throws {
        let store = try TestStore(.memory)
        let context = FailingContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = store.coordinator
        try context.performAndWait { () throws in
            Employee(context: context).name = "a"
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            try controller.performFetch()
            #expect(controller.fetchedObjects?.count == 1)
            #expect(try request.execute().count == 1)
            context.refuses = true
            #expect(throws: FailingContext.Refusal.self) { try controller.performFetch() }
            #expect(throws: FailingContext.Refusal.self) { try request.execute() }
        }
    }

    @Test func whatStandsInForResultsAndControllers() {
        #expect(DeletionStandIn().result as? [NSManagedObjectID] == [])
        #expect(NSBatchInsertResult().result == nil && NSBatchUpdateResult().result == nil)
        #expect(NSPersistentHistoryResult().result == nil)
        #expect(FetchStandIn(["a"]).finalResult == ["a"])
        #expect(NSFetchedResultsController<Employee>().fetchedObjects == nil)
        #expect(LaterController().sections?.isEmpty != false)
    }

    /// A token of nothing comes before all that a store has.
    @Test func aTokenOfNothing() throws {
        let store = try TestStore(.log)
        let context = store.context()
        try context.performAndWait { () throws in
            Employee(context: context).name = "a"
            try context.save()
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: NSPersistentHistoryToken())
            let result = try context.execute(request) as? NSPersistentHistoryResult
            #expect((result?.result as? [NSPersistentHistoryTransaction])?.count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases) func metadataHasTheModelsChecksum(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let checksum = store.model.versionChecksum
        #expect(store.store.metadata[NSPersistentStoreModelVersionChecksumKey] as? String == checksum)
        if kind == .memory { return }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: store.url)
        #expect(metadata[NSPersistentStoreModelVersionChecksumKey] as? String == checksum)
    }

    /// Core Data fires the object first.
    @Test func membersOfAFaultLeaveItAFault() throws {
        let store = try TestStore(.log)
        let context = store.context()
        try context.performAndWait { () throws in
            let department = Department(context: context)
            let employee = Employee(context: context)
            employee.department = department
            try context.save()
            context.refresh(department, mergeChanges: false)
            #expect((department.value(forKey: "employees") as? Set<NSManagedObject>) == [employee])
            #expect(department.isFault)
        }
    }

    /// On Apple's platforms the default is the localised order of the Finder.
    @Test func swiftDescriptorsOfStringsCompareScalars() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait { () throws in
            for name in ["b", "A", "a10", "a9"] { Employee(context: context).name = name }
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.sortDescriptors = [NSSortDescriptor(SortDescriptor(\Employee.name))]
            #expect(try context.fetch(request).map(\.name) == ["A", "a10", "a9", "b"])
            request.sortDescriptors = [
                NSSortDescriptor(
                    key: "name", ascending: true, selector: Selector("localizedStandardCompare:"))
            ]
            #expect(try context.fetch(request).map(\.name) == ["A", "a9", "a10", "b"])
        }
    }
}
