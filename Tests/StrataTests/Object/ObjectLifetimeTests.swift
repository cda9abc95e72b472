import CoreData
import Foundation
import Synchronization
import Testing

@testable import Strata

/// Which objects live how long, and what those say whose context has let go of them.
@Suite struct ObjectLifetimeTests {
    private func contexts(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext, NSManagedObjectContext) {
        let store = try TestStore(kind)
        return (store, store.context(), store.context())
    }

    private func makeEmployee(_ name: String, in context: NSManagedObjectContext) throws -> Employee {
        let employee = Employee(context: context)
        employee.name = name
        try context.save()
        return employee
    }

    /// A context's queue lets go of it last.
    private static func wait(until isDone: () -> Bool) {
        let deadline = ContinuousClock.now + .seconds(20)
        while !isDone(), .now < deadline { usleep(1000) }
        #expect(isDone())
    }

    /// An object held across `reset()` stopped the program when it was read.
    @Test(arguments: StoreKind.allCases) func objectsOfAContextThatWasResetAnswer(_ kind: StoreKind) throws {
        let (store, context, other) = try contexts(kind)
        try context.check {
            let employee = try makeEmployee("Ada", in: context)
            let unsaved = Employee(context: context)
            unsaved.name = "never saved"
            let fault = try other.performAndWait { try makeEmployee("Bea", in: other).objectID }
            let unread = try #require(context.object(with: fault) as? Employee)
            context.reset()
            for object in [employee, unread] {
                // A fault is an object that is read when it is asked. Nothing will be read for these: `reset()` has
                // invalidated them, so they answer as they do once a value has been asked for.
                #expect(!object.isFault && object.faultingState == 0 && object.managedObjectContext == nil)
                #expect(object.name == "" && object.age == 0 && object.department == nil && !object.isFault)
                #expect(!object.hasChanges && !object.isDeleted)
            }
            #expect(unsaved.name == "never saved" && !unsaved.isInserted)
            #expect((unread.value(forKey: "projects") as? NSSet)?.count == 0)
            #expect(context.registeredObjects.isEmpty)
        }
        withExtendedLifetime(store) {}
    }

    /// `try container.newBackgroundContext().fetch(request).map(\.name)`: the context has gone when the results are
    /// read. On Apple's platforms it lives until the autorelease pool ends.
    @Test(arguments: StoreKind.allCases) func resultsOfAContextThatNobodyHoldsAreRead(_ kind: StoreKind) throws {
        let (store, context, _) = try contexts(kind)
        try context.check {
            let department = Department(context: context)
            department.title = "Engines"
            for (name, age) in [("Ada", 36), ("Bea", 40)] as [(String, Int16)] {
                let employee = Employee(context: context)
                (employee.name, employee.age, employee.department) = (name, age, department)
                let project = NSEntityDescription.insertNewObject(forEntityName: "Project", into: context)
                employee.setValue(NSSet(array: [project]), forKey: "projects")
            }
            try context.save()
        }
        weak var gone: NSManagedObjectContext?
        func fetched<T: NSManagedObject>(_ type: T.Type, sortedBy key: String) throws -> [T] {
            let temporary = store.shortLivedContext()
            gone = temporary
            let request = NSFetchRequest<T>(entityName: "\(type)")
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
            return try temporary.performAndWait { try temporary.fetch(request) }
        }
        let employees = try fetched(Employee.self, sortedBy: "name")
        Self.wait { gone == nil }
        #expect(employees.allSatisfy { $0.managedObjectContext == nil })
        #expect(employees.map(\.name) == ["Ada", "Bea"] && employees.map(\.age) == [36, 40])
        #expect(employees.allSatisfy { !$0.isFault && $0.calls == ["awakeFromFetch"] })
        #expect(employees.map { $0.department?.title } == ["Engines", "Engines"])
        #expect(employees.map { ($0.value(forKey: "projects") as? NSSet)?.count } == [1, 1])
        #expect(employees[0].value(forKeyPath: "department.title") as? String == "Engines")
        let departments = try fetched(Department.self, sortedBy: "title")
        Self.wait { gone == nil }
        #expect(departments.map { Set($0.employees.map(\.name)) } == [["Ada", "Bea"]])
        #expect(departments[0].employees.count == 2)
        #expect(departments[0].objectIDs(forRelationshipNamed: "employees").count == 2)
        withExtendedLifetime(store) {}
    }

    /// Objects that refer to each other, with nothing else to free them, are not kept by what they read.
    @Test(arguments: StoreKind.allCases) func whatIsReadWithoutAContextFormsNoCircles(_ kind: StoreKind) throws {
        let (store, context, _) = try contexts(kind)
        try context.check {
            let employee = Employee(context: context)
            (employee.name, employee.department) = ("Ada", Department(context: context))
            try context.save()
        }
        weak var freed: Employee?
        try {
            var temporary: NSManagedObjectContext? = store.shortLivedContext()
            weak var gone: NSManagedObjectContext?
            gone = temporary
            let found = try temporary?.performAndWait {
                try temporary?.fetch(NSFetchRequest<Employee>(entityName: "Employee"))
            }
            temporary = nil
            Self.wait { gone == nil }
            let employee = try #require(found?.first)
            freed = employee
            let department = try #require(employee.department)
            #expect(department.employees.first === employee)
        }()
        #expect(freed == nil)
        withExtendedLifetime(store) {}
    }

    /// A fault whose row or whose store has gone as well has no values.
    @Test(arguments: StoreKind.allCases) func withoutAContextThereIsNothingToReadOfAMissingRow(_ kind: StoreKind) throws
    {
        let (store, context, _) = try contexts(kind)
        try context.check { _ = try makeEmployee("Ada", in: context) }
        func fault() throws -> Employee {
            let temporary = store.shortLivedContext()
            return try temporary.performAndWait {
                try #require(try temporary.fetch(NSFetchRequest<Employee>(entityName: "Employee")).first)
            }
        }
        let (deleted, closed) = (try fault(), try fault())
        try context.check {
            try context.fetch(NSFetchRequest<Employee>(entityName: "Employee")).forEach(context.delete)
            try context.save()
        }
        #expect(deleted.isFault && deleted.name == "" && deleted.department == nil && !deleted.isFault)
        for store in store.coordinator.persistentStores { try store.persistentStoreCoordinator?.remove(store) }
        #expect(closed.name == "" && closed.age == 0)
    }

    /// What was inserted and is held by its change alone went before it was named among what is forgotten.
    @Test(arguments: StoreKind.allCases) func aResetNamesTheInsertionsThatNobodyHolds(_ kind: StoreKind) throws {
        let (store, context, _) = try contexts(kind)
        nonisolated(unsafe) var named: [NSManagedObjectID] = []
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { note in
            named += note.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID] ?? []
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try context.check {
            let id = Employee(context: context).objectID
            context.processPendingChanges()
            context.reset()
            #expect(named == [id])
        }
        withExtendedLifetime(store) {}
    }

    /// A transient value and the changes of a stored object go with its row.
    @Test(arguments: StoreKind.allCases) func changesOfStoredObjectsGoWithAReset(_ kind: StoreKind) throws {
        let (store, context, _) = try contexts(kind)
        try context.check {
            let employee = try makeEmployee("Ada", in: context)
            employee.name = "changed"
            context.reset()
            #expect(!employee.isFault)
            employee.willAccessValue(forKey: nil)
            #expect(!employee.isFault && employee.name == "" && employee.changedValues().isEmpty)
        }
        withExtendedLifetime(store) {}
    }

    /// Programs keep weak and unowned references to results that nobody else holds, which are alive on Apple's
    /// platforms until the block ends.
    @Test(arguments: StoreKind.allCases) func resultsOfAFetchLiveUntilTheBlockEnds(_ kind: StoreKind) throws {
        let (store, context, other) = try contexts(kind)
        try other.check {
            for number in 0..<50 { _ = try makeEmployee("\(number)", in: other) }
        }
        weak var kept: Employee?
        try context.check {
            kept = try fetchAll(Employee.self, "Employee", context).first
            #expect(kept != nil && context.registeredObjects.count == 50)
        }
        #expect(kept == nil)
        context.performAndWait { #expect(context.registeredObjects.isEmpty) }
        try context.check {
            kept = try fetchAll(Employee.self, "Employee", context).first
            context.reset()
            #expect(kept == nil)
        }
        withExtendedLifetime(store) {}
    }

    /// The same for every way to fetch, in a child, too.
    @Test(arguments: StoreKind.allCases, ["fetch", "untyped", "execute", "request", "child"])
    func resultsOfEveryFetchLiveUntilTheBlockEnds(_ kind: StoreKind, _ way: String) throws {
        let (store, context, other) = try contexts(kind)
        try other.check { _ = try makeEmployee("Ada", in: other) }
        let asked = way == "child" ? ContextLine.child(of: context) : context
        weak var kept: Employee?
        try asked.check { () throws in
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            switch way {
            case "untyped":
                let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
                kept = try asked.fetch(request).first as? Employee
            case "execute":
                kept = (try asked.execute(request) as? NSAsynchronousFetchResult<Employee>)?.finalResult?.first
            case "request": kept = try request.execute().first
            default: kept = try asked.fetch(request).first
            }
            #expect(kept?.name == "Ada" && asked.registeredObjects.count == 1)
        }
        #expect(kept == nil)
        withExtendedLifetime(store) {}
    }

    /// A block of another context between two of the same one ended the outer block's results.
    @Test(arguments: StoreKind.allCases) func blocksOfOthersBetweenDoNotEndTheBlock(_ kind: StoreKind) throws {
        let (store, context, other) = try contexts(kind)
        try other.check { _ = try makeEmployee("Ann", in: other) }
        weak var kept: Employee?
        let processed = Atomic<Int>(0)
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { _ in processed.add(1, ordering: .relaxed) }
        defer { NotificationCenter.default.removeObserver(token) }
        try context.check {
            kept = try fetchAll(Employee.self, "Employee", context).first
            kept?.name = "Bea"
            other.performAndWait { context.performAndWait {} }
            #expect(kept != nil && processed.load(ordering: .relaxed) == 0)
        }
        #expect(processed.load(ordering: .relaxed) == 1)
        withExtendedLifetime(store) {}
    }

    @Test func howMuchABlockHoldsIsLimited() throws {
        let store = try TestStore(.memory)
        let badge = try #require(store.model.entitiesByName["Badge"])
        var held = DeferredRelease()
        func make(_ count: Int) -> [NSManagedObject] {
            (0..<count).map { _ in NSManagedObject(entity: badge, insertInto: nil) }
        }
        weak var first: NSManagedObject?
        weak var last: NSManagedObject?
        do {
            let results = make(1_000)
            first = results[0]
            held.hold(results)
        }
        #expect(first != nil)
        for _ in 0..<DeferredRelease.maximumCount / 1_000 {
            let results = make(1_000)
            last = results[0]
            held.hold(results)
        }
        #expect(first == nil && last != nil)
        held.release()
        #expect(last == nil && held.isEmpty)
    }
}
