import CoreData
import Foundation
import Testing

@testable import Strata

/// What a program hears of rows and values that cannot be read: they were read as empty without a word.
@Suite struct DamageTests {
    /// A store whose middle departments, 300 of 900, lie in a block that is damaged, and that has been opened anew.
    final class DamagedStore {
        let url: URL
        let coordinator: NSPersistentStoreCoordinator
        private(set) var ids: [NSManagedObjectID] = []
        private var contexts: [NSManagedObjectContext] = []

        static let needle = "a needle to be found"

        /// - Parameter isLarge: whether the title of one department, of 100 KB, is damaged instead.
        init(isLarge: Bool = false, _ options: [AnyHashable: Any]? = nil) throws {
            url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-damage-\(UUID().uuidString)")
            let model = GraphModel.company()
            let maker = NSPersistentStoreCoordinator(managedObjectModel: model)
            try maker.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = maker
            ids = try context.performAndWait {
                var made: [NSManagedObject] = []
                for part in 0..<3 {
                    for index in 0..<300 {
                        let department = Department(context: context)
                        let isFound = part == 1 && index == 0 && !isLarge
                        department.title = "part \(part) " + (isFound ? Self.needle : "\(index)")
                        department.budget = Int64(part + 1)
                        made.append(department)
                    }
                    if isLarge, part == 1 {
                        let text = (0..<100_000).map { Character(UnicodeScalar(UInt8(97 + $0 * $0 % 23))) }
                        (made[300] as? Department)?.title = Self.needle + String(text)
                    }
                    try context.save()
                }
                let employee = Employee(context: context)
                employee.name = "Ann"
                employee.department = made[300] as? Department
                try context.save()
                return made.map(\.objectID)
            }
            try maker.remove(maker.persistentStores[0])
            try Self.damage(url, Data(Self.needle.utf8))
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        }

        deinit {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
            removeStore(at: url)
        }

        /// Flips the bytes where they stand in a segment.
        static func damage(_ url: URL, _ needle: Data) throws {
            var found = 0
            for name in try FileManager.default.contentsOfDirectory(atPath: url.path) where name.hasSuffix(".seg") {
                let file = url.appendingPathComponent(name)
                var bytes = try Data(contentsOf: file)
                while let range = bytes.range(of: needle) {
                    for index in range { bytes[index] ^= 0xFF }
                    found += 1
                }
                try bytes.write(to: file)
            }
            #expect(found > 0)
        }

        var store: NSPersistentStore { coordinator.persistentStores[0] }

        func context(parent: NSManagedObjectContext? = nil) -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueue)
            if let parent { context.parent = parent } else { context.persistentStoreCoordinator = coordinator }
            contexts.append(context)
            return context
        }

        /// The department whose row, or title, cannot be read.
        func lost(_ context: NSManagedObjectContext) -> Department? { context.object(with: ids[300]) as? Department }

        /// Meets the damage where nothing can be thrown.
        func meet() {
            let context = context()
            context.performAndWait { #expect(lost(context)?.title == nil) }
        }
    }

    /// Set by a notification, on the thread that reads.
    private final class Heard: @unchecked Sendable {
        var infos: [[AnyHashable: Any]] = []
    }

    private static var whole: NSFetchRequest<Department> { NSFetchRequest(entityName: "Department") }

    // MARK: Being told

    @Test(arguments: [false, true]) func damageIsToldOnceCountedAndRemembered(_ isLarge: Bool) throws {
        let damaged = try DamagedStore(isLarge: isLarge)
        let heard = Heard()
        let token = NotificationCenter.default.addObserver(
            forName: .StrataStoreDamage, object: damaged.coordinator, queue: nil
        ) { heard.infos.append($0.userInfo ?? [:]) }
        defer { NotificationCenter.default.removeObserver(token) }
        #expect(try damaged.coordinator.damage(of: damaged.store).locations.isEmpty)
        damaged.meet()
        damaged.meet()
        #expect(heard.infos.count == 1)
        let info = try #require(heard.infos.first)
        #expect(info[StrataDamagedStoreKey] as? NSPersistentStore === damaged.store)
        #expect((info[StrataDamagedFileKey] as? String)?.hasSuffix(".seg") == true)
        #expect((info[StrataDamageOffsetKey] as? Int ?? 0) > 0)
        #expect(info[StrataDamagedObjectIDsKey] as? [NSManagedObjectID] == [damaged.ids[300]])
        #expect(info[StrataDamageErrorKey] is NSError)
        let known = try damaged.coordinator.damage(of: damaged.store)
        #expect(known.count == 2 && known.locations.count == 1)
        #expect(known.locations.first?.count == 2 && known.locations.first?.objectIDs == [damaged.ids[300]])
        #expect(known.locations.first?.file == info[StrataDamagedFileKey] as? String)
    }

    /// An observer may wait for a thread that has to search first. It was called while its thread had a place among
    /// those that search.
    @Test(arguments: ["sorted", "plain", "count", "dictionaries"])
    func observersAreToldWhenTheSearchIsOver(_ what: String) throws {
        let damaged = try DamagedStore()
        let heard = Heard()
        let token = NotificationCenter.default.addObserver(
            forName: .StrataStoreDamage, object: damaged.coordinator, queue: nil
        ) { _ in
            let canSearch = (try? SearchGate.shared.enter(nil)) == true
            if canSearch { SearchGate.shared.leave() }
            heard.infos.append(["canSearch": canSearch])
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let context = damaged.context()
        // Not on a thread of the pool, which needs no place.
        context.performAndWait {
            let request = Self.whole
            request.predicate = NSPredicate(format: "title CONTAINS 'x'")
            if what == "sorted" {
                request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
                request.fetchLimit = 5
            }
            switch what {
            case "count": #expect(throws: (any Error).self) { try context.count(for: request) }
            case "dictionaries":
                let groups = NSFetchRequest<NSDictionary>(entityName: "Department")
                groups.resultType = .dictionaryResultType
                groups.propertiesToFetch = ["title"]
                #expect(throws: (any Error).self) { try context.fetch(groups) }
            default: #expect(throws: (any Error).self) { try context.fetch(request) }
            }
        }
        #expect(heard.infos.map { $0["canSearch"] as? Bool } == [true])
    }

    @Test func theProgramStopsIfItWantsTo() async {
        await #expect(processExitsWith: .failure) {
            let damaged = try DamagedStore([StrataStopOnDamageOption: true])
            damaged.meet()
        }
    }

    // MARK: What comes next

    @Test(arguments: [false, true], [false, true])
    func whatTouchesTheDamageIsRefused(_ isLarge: Bool, _ isReadOnly: Bool) throws {
        let damaged = try DamagedStore(isLarge: isLarge, [NSReadOnlyPersistentStoreOption: isReadOnly])
        damaged.meet()
        for isChild in [false, true] {
            let context = isChild ? damaged.context(parent: damaged.context()) : damaged.context()
            try context.performAndWait {
                #expect(throws: CocoaError.self) { try context.fetch(Self.whole) }
                #expect(throws: CocoaError.self) { try context.count(for: Self.whole) }
                let request = NSFetchRequest<Department>(entityName: "Department")
                request.predicate = NSPredicate(format: "budget == 2")
                #expect(throws: CocoaError.self) { try context.fetch(request) }
                #expect(throws: CocoaError.self) { try context.count(for: request) }
                request.sortDescriptors = [NSSortDescriptor(key: "budget", ascending: true)]
                #expect(throws: CocoaError.self) { try context.fetch(request) }
                #expect(throws: CocoaError.self) { try context.fetchLazily(request) }
                let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Department")
                ids.resultType = .managedObjectIDResultType
                #expect(throws: CocoaError.self) { try context.fetch(ids) }
                let rows = NSFetchRequest<NSDictionary>(entityName: "Department")
                rows.resultType = .dictionaryResultType
                rows.propertiesToFetch = ["budget"]
                #expect(throws: CocoaError.self) { try context.fetch(rows) }
                #expect(throws: CocoaError.self) { try context.existingObject(with: damaged.ids[300]) }
                // What lies elsewhere is there.
                request.predicate = NSPredicate(format: "budget != 2")
                #expect(try context.count(for: request) == 600)
                let found = try context.fetch(request)
                #expect(found.count == 600 && found.allSatisfy { $0.title != nil })
            }
        }
    }

    @Test func batchRequestsThrow() throws {
        let damaged = try DamagedStore()
        let context = damaged.context()
        try context.performAndWait { () throws in
            let update = NSBatchUpdateRequest(entityName: "Department")
            update.propertiesToUpdate = ["budget": 9]
            #expect(throws: CocoaError.self) { try context.execute(update) }
            update.predicate = NSPredicate(format: "title BEGINSWITH 'part'")
            #expect(throws: CocoaError.self) { try context.execute(update) }
            #expect(try !damaged.coordinator.damage(of: damaged.store).locations.isEmpty)
        }
    }

    /// Coordinators that share the open store know of each other's damage.
    @Test func anotherCoordinatorIsRefused() throws {
        let damaged = try DamagedStore()
        let other = NSPersistentStoreCoordinator(managedObjectModel: damaged.coordinator.managedObjectModel)
        let store = try other.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: damaged.url)
        damaged.meet()
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = other
        context.performAndWait {
            _ = #expect(throws: CocoaError.self) { try context.fetch(Self.whole) }
        }
        #expect(try other.damage(of: store).locations.count == 1)
        try other.remove(store)
    }

    // MARK: Not copied, not saved over

    @Test(arguments: [false, true]) func whatWasReadAsEmptyIsNotCopied(_ isLarge: Bool) throws {
        let damaged = try DamagedStore(isLarge: isLarge)
        let context = damaged.context()
        try context.performAndWait {
            let copy = Department(context: context)
            copy.title = damaged.lost(context)?.title
            #expect(throws: CocoaError.self) { try context.save() }
            // Reading the object anew does not take back what was copied.
            if let lost = damaged.lost(context) { context.refresh(lost, mergeChanges: false) }
            #expect(throws: CocoaError.self) { try context.save() }
            context.rollback()
            Department(context: context).title = "sound"
            try context.save()
        }
    }

    @Test func childrenDoNotCopyItEither() throws {
        let damaged = try DamagedStore()
        let parent = damaged.context()
        let child = damaged.context(parent: parent)
        try child.performAndWait {
            Department(context: child).title = damaged.lost(child)?.title
            #expect(throws: CocoaError.self) { try child.save() }
            child.rollback()
            Department(context: child).title = "sound"
            try child.save()
        }
        try parent.performAndWait { try parent.save() }
    }

    @Test(arguments: [false, true]) func aMigrationIsRefused(_ isLarge: Bool) throws {
        let damaged = try DamagedStore(isLarge: isLarge)
        let target = damaged.url.appendingPathExtension("moved")
        defer { removeStore(at: target) }
        #expect(throws: (any Error).self) {
            try damaged.coordinator.migratePersistentStore(
                damaged.store, to: target, options: nil, withType: NSBinaryStoreType)
        }
        #expect(damaged.coordinator.persistentStores.count == 1)
    }

    @Test func whatObjectsAreAskedForInAFetchThrows() throws {
        let damaged = try DamagedStore()
        let context = damaged.context()
        context.performAndWait {
            let request = NSFetchRequest<Department>(entityName: "Department")
            request.predicate = NSPredicate { object, _ in (object as? Department)?.budget ?? 0 > 0 }
            #expect(throws: CocoaError.self) { try context.fetch(request) }
        }
    }

    /// A call that throws leaves nothing behind that would keep the context from being saved: nothing was read as
    /// empty.
    @Test func whatWasThrownIsHeard() throws {
        let damaged = try DamagedStore()
        let context = damaged.context()
        try context.performAndWait {
            let request = NSFetchRequest<Department>(entityName: "Department")
            request.returnsObjectsAsFaults = false
            #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(throws: CocoaError.self) { try context.existingObject(with: damaged.ids[300]) }
            Department(context: context).title = "sound"
            try context.save()
            #expect(damaged.lost(context)?.title == nil)
            Department(context: context).title = "sound"
            #expect(throws: CocoaError.self) { try context.save() }
        }
    }

    // MARK: On other ways to it

    /// What a fetch fetches beside its results throws, too.
    @Test(arguments: [false, true]) func damageMetByPrefetchingThrows(_ isLarge: Bool) throws {
        let damaged = try DamagedStore(isLarge: isLarge)
        let context = damaged.context()
        try context.performAndWait { () throws in
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            let found = try context.fetch(request)
            #expect(found.map(\.name) == ["Ann"])
            request.relationshipKeyPathsForPrefetching = ["department"]
            if isLarge {
                // The row is sound; the value is read when it is asked for.
                #expect(try context.fetch(request).first?.department?.budget == 2)
                #expect(damaged.lost(context)?.title == nil)
            } else {
                #expect(throws: CocoaError.self) { try context.fetch(request) }
            }
            #expect(try !damaged.coordinator.damage(of: damaged.store).locations.isEmpty)
        }
    }

    /// Predicates cannot throw: a condition that cannot be asked was false, and a batch delete took it so.
    @Test func damageMetByAFetchInAPredicateThrows() throws {
        let damaged = try DamagedStore()
        let context = damaged.context()
        let other = damaged.context()
        try context.performAndWait { () throws in
            for asked in [context, other] {
                let inner = NSFetchRequest<Department>(entityName: "Department")
                inner.predicate = NSPredicate(format: "title BEGINSWITH 'nothing'")
                let request = NSFetchRequest<Employee>(entityName: "Employee")
                request.predicate = NSPredicate(format: "NOT (FETCH(%@, %@, YES) == 0)", inner, asked)
                #expect(throws: CocoaError.self) { try context.fetch(request) }
                #expect(throws: CocoaError.self) { try context.count(for: request) }
                let named = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
                named.predicate = request.predicate
                #expect(throws: CocoaError.self) { try context.execute(NSBatchDeleteRequest(fetchRequest: named)) }
            }
            #expect(try context.count(for: NSFetchRequest<Employee>(entityName: "Employee")) == 1)
        }
    }

    /// Another context's save is merged into one that has read a row as empty: the save stays refused.
    @Test func mergingDoesNotMakeUpForDamage() throws {
        let damaged = try DamagedStore()
        let context = damaged.context()
        let updates = [NSUpdatedObjectIDsKey: [damaged.ids[300], damaged.ids[0]]]
        try context.performAndWait { () throws in
            // Neither a fault nor an object that could not be read stops it.
            let (lost, sound) = (damaged.lost(context), context.object(with: damaged.ids[0]) as? Department)
            #expect(sound?.title == "part 0 0")
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: updates, into: [context])
            try context.save()
            #expect(lost?.title == nil)
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: updates, into: [context])
            #expect(lost?.title == nil && sound?.title == "part 0 0")
            Department(context: context).title = "sound"
            #expect(throws: CocoaError.self) { try context.save() }
            context.rollback()
            Department(context: context).title = "sound"
            try context.save()
        }
    }

    /// The reader has a log of its own, as in another process, while a writer has the store.
    @Test func whoFollowsAStoreIsToldByItsOwnLog() throws {
        let damaged = try DamagedStore([NSReadOnlyPersistentStoreOption: true])
        let writers = NSPersistentStoreCoordinator(managedObjectModel: damaged.coordinator.managedObjectModel)
        let store = try writers.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: damaged.url)
        defer { try? writers.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = writers
        try context.performAndWait { () throws in
            Department(context: context).title = "written beside"
            try context.save()
        }
        damaged.meet()
        #expect(try damaged.coordinator.damage(of: damaged.store).locations.count == 1)
        #expect(try writers.damage(of: store).locations.isEmpty)
        let reader = damaged.context()
        try reader.performAndWait { () throws in
            #expect(throws: CocoaError.self) { try reader.fetch(Self.whole) }
            let request = NSFetchRequest<Department>(entityName: "Department")
            request.predicate = NSPredicate(format: "title == 'written beside'")
            // It looks at all titles, those that cannot be read too.
            #expect(throws: CocoaError.self) { try reader.fetch(request) }
            request.predicate = NSPredicate(format: "budget == 7")
            #expect(try reader.fetch(request).map(\.title) == ["written beside"])
        }
    }

    /// What the history keeps of deleted objects is checked as rows are.
    @Test func damagedTombstonesThrow() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-damage-\(UUID().uuidString)")
        defer { removeStore(at: url) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.everything())
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            thing.setValue(DamagedStore.needle, forKey: "string")
            try context.save()
            context.delete(thing)
            try context.save()
        }
        try coordinator.remove(store)
        try DamagedStore.damage(url, Data(DamagedStore.needle.utf8))
        let again = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let reader = NSManagedObjectContext(.privateQueue)
        reader.persistentStoreCoordinator = coordinator
        reader.performAndWait {
            _ = #expect(throws: CocoaError.self) {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
                let result = try reader.execute(request) as? NSPersistentHistoryResult
                return (result?.result as? [NSPersistentHistoryTransaction])?.flatMap { $0.changes ?? [] }
                    .compactMap(\.tombstone)
            }
        }
        try coordinator.remove(again)
    }
}
