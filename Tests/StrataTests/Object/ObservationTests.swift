import CoreData
import Foundation
import Observation
import Synchronization
import Testing

/// How often something happened; counted on any thread.
private final class Counter: Sendable {
    private let value = Atomic<Int>(0)
    var count: Int { value.load(ordering: .relaxed) }
    func increment() { value.wrappingAdd(1, ordering: .relaxed) }
}

@Suite struct ObservationTests {
    private func context(_ store: TestStore) -> NSManagedObjectContext {
        let context = store.context()
        context.isObservationEnabled = true
        return context
    }

    private func changes<T>(reading read: () -> T, during change: () -> Void) -> Int {
        let counter = Counter()
        withObservationTracking {
            _ = read()
        } onChange: {
            counter.increment()
        }
        change()
        return counter.count
    }

    @Test func mainQueueContextsAreObservable() throws {
        #expect(NSManagedObjectContext(.mainQueue).isObservationEnabled)
        #expect(!NSManagedObjectContext(.privateQueue).isObservationEnabled)
    }

    @Test(arguments: StoreKind.allCases) func typedAccessorsAreTracked(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = context(store)
        try context.performAndWait {
            let person = Employee(context: context)
            let department = Department(context: context)
            #expect(
                changes {
                    person.name
                } during: {
                    person.name = "x"
                } == 1)
            #expect(
                changes {
                    person.name
                } during: {
                    person.age = 3
                } == 0)
            #expect(
                changes {
                    person.name
                } during: {
                    person.name = "y"
                    person.name = "z"
                } == 1)
            #expect(
                changes {
                    person.department
                } during: {
                    person.department = department
                } == 1)
            #expect(
                changes {
                    department.employees
                } during: {
                    person.department = nil
                } == 1)
            #expect(
                changes {
                    department.count(of: Department.employeesSlot)
                } during: {
                    department.employees = [person]
                } == 1)
            #expect(
                changes {
                    department.title
                } during: {
                    department.employees = []
                } == 0)
            #expect(
                changes {
                    person.department
                } during: {
                    department.add(person, to: Department.employeesSlot)
                } == 1)
            try context.save()
            #expect(
                changes {
                    person.name
                } during: {
                    #expect(throws: Never.self) { try context.save() }
                } == 0)
            #expect(
                changes {
                    person.name
                } during: {
                    context.refresh(person, mergeChanges: false)
                } == 1)
            #expect(
                changes {
                    person.name
                } during: {
                    person.name = "after the fault"
                } == 1)
            let other = Employee(context: context)
            #expect(
                changes {
                    other.name
                } during: {
                    person.name = "not the other"
                } == 0)
        }
    }

    @Test(arguments: StoreKind.allCases) func keyValueCodingIsTracked(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Ledger.model())
        let context = context(store)
        context.performAndWait {
            let ledger = Ledger(context: context)
            #expect(
                changes {
                    ledger.value(forKey: "title")
                } during: {
                    ledger.setValue("x", forKey: "title")
                } == 1)
            #expect(
                changes {
                    ledger.total
                } during: {
                    ledger.total = 1
                } == 1)
            #expect(
                changes {
                    ledger.total
                } during: {
                    ledger.setValue(1.5, forKey: "rate")
                } == 0)
            #expect(
                changes {
                    ledger.value(forKeyPath: "total")
                } during: {
                    ledger["total"] = 9
                } == 1)
            #expect(
                changes {
                    ledger.total
                } during: {
                    context.delete(ledger)
                } == 0)
        }
    }

    @Test(arguments: StoreKind.allCases) func mergesAndRollbacksAreSeen(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = context(store)
        let other = store.context()
        try context.performAndWait {
            let person = Employee(context: context)
            try context.save()
            let seen = SaveNotifications(other)
            (other.object(with: person.objectID) as? Employee)?.name = "elsewhere"
            try other.save()
            let merged = changes {
                person.name
            } during: {
                for notification in seen.all { context.mergeChanges(fromContextDidSave: notification) }
            }
            #expect(merged == 1 && person.name == "elsewhere")
            person.age = 99
            #expect(
                changes {
                    person.age
                } during: {
                    context.rollback()
                } == 1 && person.age == 18)
        }
    }

    @Test func othersAreSparedTheQuestion() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        context.performAndWait {
            let person = Employee(context: context)
            #expect(
                changes {
                    person.name
                } during: {
                    person.name = "unseen"
                } == 0)
            context.isObservationEnabled = true
            #expect(
                changes {
                    person.name
                } during: {
                    person.name = "seen"
                } == 1)
            context.isObservationEnabled = false
            #expect(
                changes {
                    person.age
                } during: {
                    person.age = 1
                } == 0)
        }
    }

    @Test func objectWillChangeSendsBefore() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        context.performAndWait {
            let person = Employee(context: context)
            let department = Department(context: context)
            let counter = Counter()
            var kept: Set<AnyCancellable> = []
            person.objectWillChange.sink { counter.increment() }.store(in: &kept)
            #expect(person.objectWillChange === person.objectWillChange)
            person.name = "a"
            person.setValue(3, forKey: "age")
            #expect(counter.count == 2)
            person.department = department
            #expect(counter.count == 3)
            department.title = "not the person's"
            #expect(counter.count == 3)
            kept = []
            person.name = "b"
            #expect(counter.count == 3)
            var info = 7
            withUnsafeMutablePointer(to: &info) { pointer in
                person.setObservationInfo(UnsafeMutableRawPointer(pointer))
                #expect(person.observationInfo() == UnsafeMutableRawPointer(pointer))
            }
            #expect(department.observationInfo() == nil)
            #expect(!Employee.automaticallyNotifiesObservers(forKey: "name"))
            #expect(Employee.automaticallyNotifiesObservers(forKey: "colour"))
        }
    }

    @Test(arguments: StoreKind.allCases) func contextChangesAreAStream(_ kind: StoreKind) async throws {
        let store = try TestStore(kind)
        var context: NSManagedObjectContext? = store.shortLivedContext()
        let stream = try #require(context?.changes())
        let ids = try await #require(context).perform { [context] in
            let context = try #require(context)
            let person = Employee(context: context)
            let second = Employee(context: context)
            try context.save()
            person.name = "x"
            context.delete(second)
            context.processPendingChanges()
            context.refreshAllObjects()
            context.reset()
            return [person.objectID, second.objectID]
        }
        context = nil
        var changes: [ContextChange] = []
        for await change in stream { changes.append(change) }
        #expect(changes.map(\.kind) == [.changed, .saved, .changed, .changed, .invalidated])
        #expect(changes[0].inserted.count == 2 && changes[0].inserted.allSatisfy(\.isTemporaryID))
        #expect(changes[1].inserted == Set(ids))
        #expect(changes[2].updated == [ids[0]] && changes[2].deleted == [ids[1]])
        #expect(changes[3].refreshed.contains(ids[0]))
    }

    @Test(arguments: StoreKind.allCases) func objectChangesAreAStream(_ kind: StoreKind) async throws {
        let store = try TestStore(kind)
        let context = store.context()
        let stream = try await context.perform {
            let person = Employee(context: context)
            let department = Department(context: context)
            try context.save()
            let stream = person.changes()
            person.age = 5
            person.department = department
            context.processPendingChanges()
            department.title = "not the person's"
            context.processPendingChanges()
            context.refresh(person, mergeChanges: true)
            context.processPendingChanges()
            context.delete(person)
            try context.save()
            return stream
        }
        var changes: [ManagedObjectChange] = []
        for await change in stream { changes.append(change) }
        #expect(changes.map(\.kind) == [.updated, .refreshed, .deleted])
        #expect(changes[0].keys == ["age", "department"])
    }

    @Test func observedObjectsAreLetGo() throws {
        let store = try TestStore(.memory)
        let context = context(store)
        context.performAndWait {
            weak var weakPerson: Employee?
            let counter = Counter()
            func observe() {
                let person = Employee(entity: Employee.entity(), insertInto: nil)
                weakPerson = person
                _ = person.objectWillChange
                withObservationTracking {
                    _ = person.name
                } onChange: {
                    counter.increment()
                }
            }
            observe()
            #expect(weakPerson == nil)
        }
    }

    @Test func manyTrackings() throws {
        let store = try TestStore(.memory)
        let context = context(store)
        context.performAndWait {
            let people = (0..<3_000).map { _ in Employee(context: context) }
            let counter = Counter()
            for person in people {
                withObservationTracking {
                    _ = person.name
                } onChange: {
                    counter.increment()
                }
            }
            for person in people { person.name = "x" }
            #expect(counter.count == 3_000)
        }
    }

    @MainActor @Test func observationsFollowAnObject() async throws {
        let store = try TestStore(.memory)
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = store.coordinator
        let person = Employee(context: context)
        person.name = "a"
        var seen: [String] = []
        let names = Observations { person.name }
        let task = Task { @MainActor in
            for await name in names {
                seen.append(name)
                if name == "c" { break }
            }
        }
        for (name, next) in [("a", "b"), ("b", "c"), ("c", nil)] {
            for _ in 0..<5_000 where seen.last != name { try await Task.sleep(for: .milliseconds(1)) }
            if let next { person.name = next }
        }
        #expect(seen == ["a", "b", "c"])
        task.cancel()
        withExtendedLifetime(store) {}
    }
}
