public import BenchSupport
import DataSet
import Foundation
import Strata

/// The people as managed objects, through one context with a queue of its own.
///
/// Object IDs stand for the rows' numbers, as they do in an application; ``prepareKeys(_:)`` collects them.
public final class PeopleGraph: BenchStore, ShrinkingStore {
    private(set) var container: NSPersistentContainer
    private(set) var context: NSManagedObjectContext
    private let store: NSPersistentStoreDescription
    private var isIndexed: Bool
    private(set) var personIDs: [NSManagedObjectID] = []
    private var departmentIDs: [NSManagedObjectID] = []

    /// Where below a contestant's folder the store lies.
    public static func storeFolder(in folder: Folder) -> Folder {
        folder.appending("people.strata")
    }

    /// Opens the store below `folder`, creating it with its departments when it is not there.
    public init(in folder: Folder, flushing: Flushing = .full, isIndexed: Bool = false) throws {
        let isNew = folder.isEmpty
        let store = NSPersistentStoreDescription(url: URL(fileURLWithPath: Self.storeFolder(in: folder).path))
        switch flushing {
        case .full: break
        case .interval: store.setOption(NSNumber(value: 100), forKey: StrataDurabilityOption)
        case .system: store.setOption(NSString("os"), forKey: StrataDurabilityOption)
        }
        container = try PeopleContainer.load(store, PeopleModel.model(isIndexed: isIndexed))
        self.store = store
        self.isIndexed = isIndexed
        context = container.newBackgroundContext()
        if isNew { departmentIDs = try context.performAndWait { try PeopleContainer.insertDepartments(context) } }
    }

    /// Opens the store again with a model that has the index.
    public func buildIndex() throws {
        guard !isIndexed else { return }
        isIndexed = true
        try close()
        container = try PeopleContainer.load(store, PeopleModel.model(isIndexed: true))
        context = container.newBackgroundContext()
        (personIDs, departmentIDs) = ([], [])
        let deadline = Date(timeIntervalSinceNow: 120)
        try context.performAndWait {
            // It is built in the background; fetches use it as soon as it is there.
            while try context.explain(Self.page() as NSFetchRequest<Person>).index == nil {
                guard Date() < deadline else { throw BenchFailure("the index is not used") }
                Thread.sleep(forTimeInterval: 0.002)
            }
        }
    }

    public var statisticsText: String { "" }

    /// The coordinator folds its log by itself: there is nothing to ask for.
    public func settle() throws {}

    public func shrink() throws {
        context.performAndWait { context.reset() }
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.compact(store) }
    }

    public func close() throws {
        context.performAndWait { context.reset() }
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
    }

    // MARK: Keys

    public func prepareKeys(_ count: Int) throws {
        guard personIDs.isEmpty else { return }
        personIDs = try context.performAndWait { try allIDs("Person") }
        guard personIDs.count >= count else { throw BenchFailure("\(personIDs.count) persons of \(count)") }
    }

    /// IDs of all objects of an entity, in the order in which they were inserted.
    private func allIDs(_ entity: String) throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
        request.resultType = .managedObjectIDResultType
        return try context.fetch(request)
    }

    func department(_ number: Int) throws -> Department {
        if departmentIDs.isEmpty { departmentIDs = try allIDs("Department") }
        guard let department = context.object(with: departmentIDs[number - 1]) as? Department else {
            throw BenchFailure("department \(number) is of another class")
        }
        return department
    }

    /// The object of a row, a fault unless it is in use.
    @inline(__always)
    func person(_ id: UInt64) -> Person {
        unsafeDowncast(context.object(with: personIDs[Int(id) - 1]), to: Person.self)
    }

    /// The first person; no list of IDs is made for it.
    func firstPerson() throws -> Person {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.fetchLimit = 1
        guard let person = try context.fetch(request).first else { throw BenchFailure("there are no persons") }
        return person
    }

    var knowsKeys: Bool { !personIDs.isEmpty }
}
