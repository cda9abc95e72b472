import CoreData
import Foundation
import Testing

/// Differences of docs/deviations.md that no other suite holds.
@Suite struct DeviationTests {
    private final class Noted: NSManagedObject {
        var isNoted = false

        override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
            super.init(entity: entity, insertInto: context)
            isNoted = true
        }
    }

    /// An error of a program's own.
    private struct Refusal: LocalizedError, Equatable {
        var errorDescription: String? { "refused" }
    }

    private final class Refused: NSManagedObject {
        override func validateForInsert() throws { throw Refusal() }
    }

    // MARK: Stores and containers

    /// What another process sees: coordinators of this one would share the writer's log.
    @Test func remoteChangesOfOwnSavesArePosted() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
            options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let posted = Flag()
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { posted.isSet = $0.userInfo?[NSPersistentHistoryTokenKey] is NSPersistentHistoryToken }
        defer { NotificationCenter.default.removeObserver(token) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            _ = insert("Department", context)
            try context.save()
        }
        #expect(posted.isSet)
    }

    /// Set in a notification, on the thread that saves.
    private final class Flag: @unchecked Sendable {
        var isSet = false
    }

    @Test func optionsOfSQLiteAreIgnored() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
            options: [
                NSSQLitePragmasOption: ["journal_mode": "DELETE"], NSSQLiteManualVacuumOption: true,
                NSSQLiteAnalyzeOption: true, NSPersistentStoreConnectionPoolMaxSizeKey: 1,
                NSPersistentStoreFileProtectionKey: "NSFileProtectionComplete",
            ])
        #expect(coordinator.persistentStores.count == 1)
        #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil,
                at: FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString),
                options: [StrataDurabilityOption: "sometimes"])
        }
    }

    @Test func theUUIDStays() async {
        await #expect(processExitsWith: .failure) {
            let store = try TestStore(.memory)
            store.store.identifier = UUID().uuidString
        }
    }

    @Test(arguments: [NSBinaryStoreType, NSXMLStoreType, NSInMemoryStoreType])
    func fileStoresKnowNoConstraints(_ type: String) throws {
        let thing = GraphModel.entity("Thing")
        thing.properties = [GraphModel.attribute("code", .stringAttributeType)]
        thing.uniquenessConstraints = [["code"]]
        let model = NSManagedObjectModel()
        model.entities = [thing]
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-test-\(UUID().uuidString)")
        defer { removeStore(at: url) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait {
            for _ in 1...2 {
                NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context).setValue("A", forKey: "code")
            }
            if type == NSInMemoryStoreType {
                #expect(throws: CocoaError.self) { try context.save() }
            } else {
                #expect(throws: Never.self) { try context.save() }
            }
        }
    }

    @Test func theDefaultDirectoryIsThePrograms() {
        let url = NSPersistentContainer.defaultDirectoryURL()
        #expect(url.lastPathComponent == ProcessInfo.processInfo.processName)
        let container = NSPersistentContainer(name: "Company", managedObjectModel: GraphModel.company())
        #expect(container.persistentStoreDescriptions.first?.url == url.appendingPathComponent("Company.sqlite"))
    }

    // MARK: Models

    @Test func modelsInUseStay() throws {
        weak var used: NSManagedObjectModel?
        weak var unused: NSManagedObjectModel?
        try {
            let model = GraphModel.everything()
            _ = try TestStore(.memory, model)
            used = model
            let other = GraphModel.everything()
            unused = other
            #expect(other.entities.count == 1)
        }()
        #expect(used != nil && unused == nil)
    }

    @Test func otherModelFilesAreRefused() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mom")
        defer { removeStore(at: url) }
        try Data("bplist00, as Apple's compiler writes".utf8).write(to: url)
        #expect(NSManagedObjectModel(contentsOf: url) == nil)
    }

    @Test(arguments: StoreKind.allCases) func transientRelationshipsAreStored(_ kind: StoreKind) throws {
        let one = GraphModel.entity("One")
        let other = GraphModel.entity("Other")
        let link = GraphModel.relationship("other", to: other)
        link.isTransient = true
        let inverse = GraphModel.relationship("one", to: one)
        inverse.isTransient = true
        GraphModel.link(link, inverse)
        one.properties = [link]
        other.properties = [inverse]
        let model = NSManagedObjectModel()
        model.entities = [one, other]
        let store = try TestStore(kind, model)
        let context = store.context()
        let id = try context.performAndWait {
            let first = insert("One", context)
            first.setValue(insert("Other", context), forKey: "other")
            try context.save()
            return first.objectID
        }
        let reader = store.context()
        reader.performAndWait {
            #expect(reader.object(with: id).value(forKey: "other") is NSManagedObject)
        }
    }

    // MARK: Objects

    @Test func aRequiredInitialiserIsCalled() throws {
        ManagedObjectClasses.register(Noted.self, name: "DeviationTests.Noted")
        let entity = GraphModel.entity("Noted")
        entity.managedObjectClassName = "DeviationTests.Noted"
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let store = try TestStore(.memory, model)
        let context = store.context()
        let id = try context.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Noted", into: context)
            #expect((object as? Noted)?.isNoted == true)
            try context.save()
            return object.objectID
        }
        let reader = store.context()
        reader.performAndWait {
            #expect((reader.object(with: id) as? Noted)?.isNoted == true)
        }
    }

    @Test func classesAreFoundByTheirNames() throws {
        let full = GraphModel.entity("Full")
        full.managedObjectClassName = NSStringFromClass(Department.self)
        let unknown = GraphModel.entity("Unknown")
        unknown.managedObjectClassName = "NoClassHasThisName"
        let model = NSManagedObjectModel()
        model.entities = [full, unknown]
        let store = try TestStore(.memory, model)
        let context = store.context()
        context.performAndWait {
            #expect(NSEntityDescription.insertNewObject(forEntityName: "Full", into: context) is Department)
            let object = NSEntityDescription.insertNewObject(forEntityName: "Unknown", into: context)
            #expect(type(of: object) == NSManagedObject.self)
        }
    }

    @Test func mutableSetsDoNotBridge() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        context.performAndWait {
            let department = Department(context: context)
            Employee(context: context).department = department
            let members = department.mutableSetValue(forKey: "employees")
            #expect(members.count == 1 && members.allObjects.count == 1)
            #expect((members as? Set<NSManagedObject>)?.count ?? 0 == 0)
            #expect((department.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 1)
        }
    }

    @Test func mutableOrderedSetsDoNotSortByDescriptors() throws {
        let store = try TestStore(.memory, Probe.model())
        let context = store.context()
        context.performAndWait {
            let holder = Probe(context: context)
            let items = ["a", "b"].map { name in
                let item = Probe(context: context)
                item.name = name
                return item
            }
            holder.items = items
            let members = holder.mutableOrderedSetValue(forKey: "items")
            members.sort(using: [NSSortDescriptor(key: "name", ascending: false)])
            #expect(holder.items == items)
            members.sort { first, second in
                let names = [first, second].map { ($0 as? Probe)?.name ?? "" }
                return names[0] < names[1] ? .orderedDescending : .orderedAscending
            }
            #expect(holder.items == items.reversed())
        }
    }

    // MARK: Faults and history

    @Test func damagedRowsReadAsEmpty() throws {
        let store = try TestStore(.log)
        let context = store.context()
        let id = try context.performAndWait {
            let department = Department(context: context)
            department.title = "a needle to be found"
            try context.save()
            return department.objectID
        }
        try store.coordinator.remove(store.store)
        try damage(store.url, Data("a needle to be found".utf8))

        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: store.model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: store.url)
        let reader = NSManagedObjectContext(.privateQueue)
        reader.persistentStoreCoordinator = coordinator
        try reader.performAndWait {
            #expect(throws: CocoaError.self) { try reader.existingObject(with: id) }
            let request = NSFetchRequest<Department>(entityName: "Department")
            request.returnsObjectsAsFaults = false
            #expect(throws: CocoaError.self) { try reader.fetch(request) }
            let department = try #require(reader.object(with: id) as? Department)
            #expect(department.title == nil && !department.isDeleted)
            department.budget = 1
            #expect(throws: CocoaError.self) { try reader.save() }
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Rows of sound blocks are read although those of a damaged one come in the same batch; and what could not be read
    /// can be asked for again. It stopped the program, since blocks behind the damaged one were handed out unverified.
    @Test func rowsBesideDamagedOnesAreRead() throws {
        let store = try TestStore(.log)
        let context = store.context()
        try context.performAndWait {
            for part in 0..<3 {
                for index in 0..<300 {
                    let department = Department(context: context)
                    department.title = "part \(part) " + (part == 1 && index == 0 ? "a needle to be found" : "\(index)")
                    department.budget = Int64(part + 1)
                }
                try context.save()
            }
        }
        try store.coordinator.remove(store.store)
        try damage(store.url, Data("a needle to be found".utf8))

        for sorts in [nil, [NSSortDescriptor(key: "budget", ascending: false)]] {
            // What was met before would refuse the second fetch.
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: store.model)
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: store.url)
            let reader = NSManagedObjectContext(.privateQueue)
            reader.persistentStoreCoordinator = coordinator
            try reader.performAndWait {
                let request = NSFetchRequest<Department>(entityName: "Department")
                // Reads one column of all blocks, which the cache has from then on.
                request.predicate = NSPredicate(format: "budget > 0")
                request.sortDescriptors = sorts
                let departments = try reader.fetch(request)
                #expect(departments.count == 900)
                let titles = departments.compactMap(\.title)
                #expect(titles.count { $0.hasPrefix("part 0") } == 300)
                #expect(titles.count { $0.hasPrefix("part 1") } < 300)
                #expect(titles.count { $0.hasPrefix("part 2") } == 300)
                let lost = try #require(departments.first { $0.title == nil })
                for _ in 0..<3 {
                    reader.refresh(lost, mergeChanges: false)
                    #expect(lost.title == nil)
                }
                #expect(throws: CocoaError.self) { try reader.fetch(request) }
            }
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
    }

    /// Foundation makes a Swift Boolean of a Boolean number that is taken out of an `NSDictionary`.
    @Test func booleansOfDictionariesAreNoIntegers() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.everything())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            insert("Thing", context).setValue(true, forKey: "bool")
            try context.save()
            let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["bool"]
            let value = try #require(try context.fetch(request).first?["bool"])
            #expect(value as? Bool == true)
            #expect(value as? NSNumber == 1)
            #expect(value as? Int == nil)
        }
    }

    @Test func theDictionaryOfABatchInsertsHandlerCastsToAnEmptyOne() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        var index = 0
        let request = NSBatchInsertRequest(entityName: "Employee") { (dictionary: NSMutableDictionary) -> Bool in
            dictionary["name"] = "Ann"
            #expect(dictionary as? [String: String] == [:])
            #expect(dictionary.map { "\($0.key) = \($0.value)" } == ["name = Ann"])
            index += 1
            return index > 1
        }
        _ = try context.performAndWait { try context.execute(request) }
    }

    @Test(arguments: StoreKind.allCases) func aggregatesOfNothingAreZero(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let (empty, full) = (Department(context: context), Department(context: context))
            let ann = Employee(context: context)
            (ann.name, ann.age) = ("Ann", 30)
            ann.setValue(full, forKey: "department")
            try context.save()
            func found(_ format: String) throws -> Set<Department> {
                let request = NSFetchRequest<Department>(entityName: "Department")
                request.predicate = NSPredicate(format: format)
                return Set(try context.fetch(request))
            }
            #expect(try found("employees.@avg.age < 1") == [empty])
            #expect(try found("employees == nil") == [])
        }
    }

    @Test(arguments: StoreKind.allCases) func aChildsStoreIsItsParent(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let parent = store.context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        parent.performAndWait { Employee(context: parent).name = "parent's" }
        try child.performAndWait {
            Employee(context: child).name = "child's"
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            let count = try child.count(for: request)
            #expect(count == 2)
            request.includesPendingChanges = false
            let found = try child.fetch(request).map(\.name)
            #expect(found == ["parent's"])
        }
        try parent.performAndWait {
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.includesPendingChanges = false
            let count = try parent.count(for: request)
            #expect(count == 0)
        }
    }

    @Test func aSwiftErrorAmongSeveralIsTheUnderlyingError() throws {
        let entity = GraphModel.entity("Refused", Refused.self)
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let store = try TestStore(.memory, model)
        let context = store.context()
        context.performAndWait {
            _ = Refused(context: context)
            #expect(throws: Refusal()) { try context.save() }
            _ = Refused(context: context)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .validationMultipleErrors)
            let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
            let refusal = Refusal() as NSError
            #expect(details.map(\.domain) == [refusal.domain, refusal.domain])
            #expect(details.allSatisfy { $0.code == refusal.code && $0.localizedDescription == "refused" })
            #expect(details.allSatisfy { $0.userInfo[NSUnderlyingErrorKey] is Refusal })
        }
    }

    /// Flips a bit wherever the bytes are in a store's log.
    private func damage(_ url: URL, _ bytes: Data) throws {
        var count = 0
        for file in try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil) {
            guard file.pathExtension == "seg" else { continue }
            var data = try Data(contentsOf: file)
            while let range = data.range(of: bytes) {
                data[range.lowerBound] ^= 1
                count += 1
            }
            try data.write(to: file)
        }
        try #require(count > 0)
    }
}
