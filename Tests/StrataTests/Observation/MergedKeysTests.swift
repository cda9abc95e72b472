import CoreData
import Foundation
import Observation
import Synchronization
import Testing

/// How one context hears of what another one has saved.
enum MergedBy: CaseIterable {
    case notification, identifiers, itself
}

/// A merge tells of the properties that have changed, and of no others.
@Suite struct MergedKeysTests {
    /// Who hears what of an object.
    private final class Watch: @unchecked Sendable {
        // Unchecked: used on one queue.
        private(set) var tracked: Set<String> = []
        private(set) var observed: Set<String> = []
        private(set) var willChange = 0
        private var observations: [NSKeyValueObservation] = []
        let object: NSManagedObject

        init(_ person: Employee) {
            object = person
            track("name", person)
            track("age", person)
            track("department", person)
            track("projects", person)
            observations = [
                person.observe(\.name) { _, _ in self.observed.insert("name") },
                person.observe(\.age) { _, _ in self.observed.insert("age") },
                person.observe(\.department) { _, _ in self.observed.insert("department") },
            ]
        }

        init(_ department: Department) {
            object = department
            track("title", department)
            track("employees", department)
            observations = [department.observe(\.title) { _, _ in self.observed.insert("title") }]
        }

        private func track(_ key: String, _ object: NSManagedObject) {
            withObservationTracking {
                _ = (object.value(forKey: key) as? Set<NSManagedObject>)?.count
            } onChange: {
                self.tracked.insert(key)
            }
        }
    }

    private struct Held: @unchecked Sendable {
        // Unchecked: used on one queue.
        let object: NSManagedObject
    }

    /// What notifications say of objects, by their IDs.
    private final class Told: @unchecked Sendable {
        // Unchecked: used on one queue.
        private(set) var old: [NSManagedObjectID: [String: Any]] = [:]
        private var token: (any NSObjectProtocol)?

        init(_ context: NSManagedObjectContext) {
            token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
            ) { [weak self] note in
                for object in note.userInfo?[NSRefreshedObjectsKey] as? Set<NSManagedObject> ?? [] {
                    self?.old[object.objectID] = object.changedValuesForCurrentEvent()
                }
            }
        }

        func keys(_ object: NSManagedObject) -> Set<String>? { old[object.objectID].map { Set($0.keys) } }

        deinit { if let token { NotificationCenter.default.removeObserver(token) } }
    }

    private func merge(
        into context: NSManagedObjectContext, from other: NSManagedObjectContext, _ way: MergedBy,
        _ edit: @escaping @Sendable () throws -> Void
    ) throws {
        let saves = SaveNotifications(other)
        context.automaticallyMergesChangesFromParent = way == .itself
        try other.performAndWait {
            try edit()
            try other.save()
        }
        let info = saves.all.last?.userInfo ?? [:]
        switch way {
        case .notification: for note in saves.all { context.mergeChanges(fromContextDidSave: note) }
        case .identifiers:
            var changes: [AnyHashable: Any] = [:]
            for (key, idsKey) in [
                (NSInsertedObjectsKey, NSInsertedObjectIDsKey), (NSUpdatedObjectsKey, NSUpdatedObjectIDsKey),
            ] {
                changes[idsKey] = (info[key] as? Set<NSManagedObject>)?.map(\.objectID)
            }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
        case .itself: break
        }
    }

    /// A transformer may write equal values as different bytes, as Foundation's archiver does.
    @Test(arguments: StoreKind.allCases, MergedBy.allCases)
    func anEqualTransformedValueIsNoChange(_ kind: StoreKind, _ way: MergedBy) async throws {
        let store = try TestStore(kind, Self.transformedModel())
        let (context, other) = (store.context(), store.context())
        let held = try context.performAndWait {
            let object = context.insert("Thing", ["tags": ["a", "b"], "n": 1])
            try context.save()
            _ = object.value(forKey: "tags")
            return Held(object: object)
        }
        let id = held.object.objectID
        for (tags, keys) in [(["a", "b"], ["n"]), (["b", "a"], ["n", "tags"])] as [([String], Set<String>)] {
            let told = context.performAndWait { Told(context) }
            try merge(into: context, from: other, way) {
                let there = try other.existingObject(with: id)
                there.setValue(tags, forKey: "tags")
                there.setValue((there.value(forKey: "n") as? Int ?? 0) + 1, forKey: "n")
            }
            context.performAndWait {
                #expect(told.keys(held.object) == keys)
                #expect(held.object.value(forKey: "tags") as? [String] == tags)
            }
        }
    }

    /// Who sets a value to an equal one has not changed it, so that the other one's change stands.
    @Test(arguments: StoreKind.allCases) func anEqualTransformedValueIsNoConflict(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.transformedModel())
        let (context, other) = (store.context(), store.context())
        context.mergePolicy = ThreeWayMergePolicy()
        let held = try context.performAndWait {
            let object = context.insert("Thing", ["tags": ["a"], "n": 1])
            try context.save()
            return Held(object: object)
        }
        let id = held.object.objectID
        try other.performAndWait {
            let there = try other.existingObject(with: id)
            there.setValue(["a"], forKey: "tags")
            there.setValue(2, forKey: "n")
            try other.save()
        }
        try context.performAndWait {
            held.object.setValue(["b"], forKey: "tags")
            try context.save()
            #expect(held.object.value(forKey: "tags") as? [String] == ["b"])
            #expect(held.object.value(forKey: "n") as? Int == 2)
        }
    }

    private static func transformedModel() -> NSManagedObjectModel {
        ValueTransformer.setValueTransformer(SaltedTransformer(), forName: SaltedTransformer.name)
        let thing = GraphModel.entity("Thing")
        let tags = GraphModel.attribute("tags", .transformableAttributeType)
        tags.valueTransformerName = SaltedTransformer.name.rawValue
        thing.properties = [tags, GraphModel.attribute("n", .integer64AttributeType)]
        return makeModel([thing])
    }

    @Test(arguments: StoreKind.allCases, MergedBy.allCases)
    func onlyWhatHasChangedIsTold(_ kind: StoreKind, _ way: MergedBy) async throws {
        let store = try TestStore(kind)
        let (context, other) = (store.context(), store.context())
        context.isObservationEnabled = true
        let start = try context.performAndWait {
            let person = Employee(context: context)
            person.name = "a"
            let department = Department(context: context)
            try context.save()
            person.age = 50
            context.processPendingChanges()
            let start = Start(
                person: person, department: department, told: Told(context), watch: Watch(person),
                departmentWatch: Watch(department), changes: person.changes())
            return start
        }
        let id = start.person.objectID
        let edit: @Sendable () throws -> Void = {
            let person = try #require(other.object(with: id) as? Employee)
            person.name = "b"
            // The context has changed this, too, and keeps what it has.
            person.age = 60
        }
        if way == .itself {
            try merge(into: context, from: other, way, edit)
        } else {
            try context.performAndWait { try merge(into: context, from: other, way, edit) }
        }
        await context.perform {
            #expect(start.person.name == "b" && start.person.age == 50)
            #expect(start.watch.tracked == ["name"] && start.watch.observed == ["name"])
            #expect(start.told.keys(start.person) == ["name"])
            #expect(start.told.old[id]?["name"] as? String == "a")
            #expect(start.departmentWatch.tracked == [])
            context.reset()
        }
        var keys: [Set<String>] = []
        for await change in start.changes where change.kind == .refreshed { keys.append(change.keys) }
        #expect(keys == [["name"]])
    }

    private struct Start: @unchecked Sendable {
        // Unchecked: used on the context's queue.
        let person: Employee
        let department: Department
        let told: Told
        let watch: Watch
        let departmentWatch: Watch
        let changes: AsyncStream<ManagedObjectChange>
    }

    @Test(arguments: StoreKind.allCases, [MergedBy.notification, .identifiers])
    func bothEndsOfARelationshipAreTold(_ kind: StoreKind, _ way: MergedBy) throws {
        let store = try TestStore(kind)
        let (context, other) = (store.context(), store.context())
        context.isObservationEnabled = true
        try context.performAndWait {
            let person = Employee(context: context)
            let departments = (0..<3).map { _ in Department(context: context) }
            person.department = departments[0]
            try context.save()
            let told = Told(context)
            let watch = Watch(person)
            let watches = departments.map { Watch($0) }
            let ids = (person.objectID, departments[1].objectID)
            try merge(into: context, from: other, way) {
                let person = try #require(other.object(with: ids.0) as? Employee)
                person.department = other.object(with: ids.1) as? Department
            }
            #expect(watch.tracked == ["department"] && watch.observed == ["department"])
            #expect(told.keys(person) == ["department"])
            #expect(told.old[person.objectID]?["department"] as? NSManagedObject === departments[0])
            for (department, watch) in zip(departments, watches) {
                let keys: Set<String> = department === departments[2] ? [] : ["employees"]
                #expect(watch.tracked == keys && watch.observed == [])
                #expect(told.keys(department) ?? [] == keys)
            }
            #expect(departments[1].employees == [person] && departments[0].employees.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases) func aBatchByIDTellsWhatItHasChanged(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        context.isObservationEnabled = true
        try context.performAndWait {
            let person = Employee(context: context)
            let departments = (0..<2).map { _ in Department(context: context) }
            person.department = departments[0]
            try context.save()
            let told = Told(context)
            let watch = Watch(person)
            let watches = departments.map { Watch($0) }
            let request = NSBatchUpdateRequest(entityName: "Employee")
            request.propertiesToUpdate = ["age": 77]
            request.resultType = .updatedObjectIDsResultType
            let result = try context.execute(request) as? NSBatchUpdateResult
            let ids = try #require(result?.result as? [NSManagedObjectID])
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [context])
            #expect(person.age == 77 && watch.tracked == ["age"] && watch.observed == ["age"])
            #expect(told.keys(person) == ["age"])
            #expect(watches.allSatisfy { $0.tracked.isEmpty })
        }
    }

    /// History names the objects whose rows have changed: not the other end of a relationship.
    @Test(arguments: StoreKind.allCases) func theOtherEndFollowsAnIDAlone(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (context, other) = (store.context(), store.context())
        context.isObservationEnabled = true
        try context.performAndWait {
            let person = Employee(context: context)
            let departments = (0..<2).map { _ in Department(context: context) }
            person.department = departments[0]
            try context.save()
            let watches = departments.map { Watch($0) }
            let ids = (person.objectID, departments[1].objectID)
            try other.performAndWait {
                let person = try #require(other.object(with: ids.0) as? Employee)
                person.department = other.object(with: ids.1) as? Department
                try other.save()
            }
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectIDsKey: [ids.0]], into: [context])
            #expect(departments[0].employees.isEmpty && departments[1].employees == [person])
            #expect(watches.allSatisfy { $0.tracked == ["employees"] })
        }
    }
}

/// Writes lists of texts, each time as other bytes.
private final class SaltedTransformer: ValueTransformer, @unchecked Sendable {
    static let name = NSValueTransformerName("SaltedTransformer")
    private static let salt = Atomic<Int>(0)

    override class func allowsReverseTransformation() -> Bool { true }

    override func transformedValue(_ value: Any?) -> Any? {
        guard let texts = value as? [String] else { return nil }
        let salt = Self.salt.add(1, ordering: .relaxed).newValue
        return Data(([String(salt)] + texts).joined(separator: "\n").utf8)
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").dropFirst().map(String.init)
    }
}
