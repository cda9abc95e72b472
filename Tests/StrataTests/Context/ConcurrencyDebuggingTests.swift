import CoreData
import Dispatch
import Foundation
import Observation
import Synchronization
import Testing

/// Calls from the wrong queue. The setting is the program's, so that most tests run in processes of their own; the
/// others tell their context's reports by its name.
@Suite(.serialized)
struct ConcurrencyDebuggingTests {
    /// What has been reported of contexts with one name.
    private final class Reports: Sendable {
        let messages = Mutex<[String]>([])
        let name: String

        init(_ name: String) { self.name = name }

        func note(_ message: String) {
            if message.contains("\"\(name)\"") { messages.withLock { $0.append(message) } }
        }

        var taken: [String] {
            messages.withLock { messages in
                defer { messages = [] }
                return messages
            }
        }
    }

    private struct Fixture {
        let container: NSPersistentContainer
        let context: NSManagedObjectContext
        let reports: Reports

        /// Contexts made here check every access, and report what they find.
        init(_ name: String = UUID().uuidString) throws {
            let reports = Reports(name)
            container = try Self.container()
            let before = NSManagedObjectContext.concurrencyDebugging
            NSManagedObjectContext.concurrencyDebugging = .report { reports.note($0) }
            context = container.newBackgroundContext()
            context.name = name
            self.reports = reports
            previous = before
        }

        let previous: ConcurrencyDebugging

        func end() { NSManagedObjectContext.concurrencyDebugging = previous }

        static func container() throws -> NSPersistentContainer {
            let container = NSPersistentContainer(name: "Company", managedObjectModel: GraphModel.company())
            let description = NSPersistentStoreDescription()
            description.type = NSInMemoryStoreType
            container.persistentStoreDescriptions = [description]
            var problem: (any Error)?
            container.loadPersistentStores { problem = $1 }
            if let problem { throw problem }
            return container
        }
    }

    private static func employee(_ context: NSManagedObjectContext, _ name: String = "Ada") -> Employee {
        let employee = Employee(context: context)
        employee.name = name
        return employee
    }

    private static func edit(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let employee = employee(context)
            let department = Department(context: context)
            employee.department = department
            context.performAndWait { employee.age = 36 }
            #expect(employee.value(forKey: "name") as? String == "Ada")
            try context.save()
            context.refresh(employee, mergeChanges: false)
            #expect(employee.age == 36)
            #expect(department.employees == [employee])
        }
        context.perform { _ = try? context.count(for: NSFetchRequest<Employee>(entityName: "Employee")) }
    }

    @Test func callsInsideOfPerformPass() async throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        let context = fixture.context
        try Self.edit(context)
        let count = try await context.perform {
            try context.fetch(NSFetchRequest<Employee>(entityName: "Employee")).count
        }
        #expect(count == 1)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.name = fixture.reports.name
        child.parent = context
        try await child.perform {
            let employee = try #require(child.fetch(NSFetchRequest<Employee>(entityName: "Employee")).first)
            employee.age += 1
            #expect(employee.department != nil)
            try child.save()
            // Who waits for a context's block may go on in it.
            context.performAndWait { child.performAndWait { employee.age += 1 } }
        }
        #expect(fixture.reports.taken == [])
    }

    @Test func theSettingsOfAContextAreNobodysQueue() throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        fixture.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        fixture.context.undoManager = UndoManager()
        fixture.context.transactionAuthor = "test"
        fixture.context.automaticallyMergesChangesFromParent = true
        #expect(fixture.reports.taken == [])
    }

    @Test func callsOfAContextFromElsewhereAreReported() throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        let context = fixture.context
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        let employee = context.performAndWait { Self.employee(context) }
        let calls: [(String, (NSManagedObjectContext) throws -> Void)] = [
            ("fetch(_:)", { _ = try $0.fetch(request) }),
            ("count(for:)", { _ = try $0.count(for: request) }),
            ("object(with:)", { _ = $0.object(with: employee.objectID) }),
            ("existingObject(with:)", { _ = try $0.existingObject(with: employee.objectID) }),
            ("registeredObject(for:)", { _ = $0.registeredObject(for: employee.objectID) }),
            ("refresh(_:mergeChanges:)", { $0.refresh(employee, mergeChanges: true) }),
            ("hasChanges", { _ = $0.hasChanges }),
            ("insertedObjects", { _ = $0.insertedObjects }),
            ("processPendingChanges()", { $0.processPendingChanges() }),
            ("obtainPermanentIDs(for:)", { try $0.obtainPermanentIDs(for: [employee]) }),
            (
                "mergeChanges(fromContextDidSave:)",
                { $0.mergeChanges(fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave)) }
            ),
            ("save()", { try $0.save() }),
            ("delete(_:)", { $0.delete(employee) }),
            ("rollback()", { $0.rollback() }),
            ("reset()", { $0.reset() }),
        ]
        #expect(fixture.reports.taken == [])
        for (name, call) in calls {
            try call(context)
            let messages = fixture.reports.taken
            let message = try #require(messages.first, "\(name) was not reported")
            #expect(message.contains(" \(name) of the context") && message.contains("private queue"), "\(message)")
        }
    }

    @Test func accessesFromElsewhereSayWhichObject() throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        let context = fixture.context
        let (employee, department) = try context.performAndWait {
            let employee = Self.employee(context)
            let department = Department(context: context)
            employee.department = department
            try context.save()
            return (employee, department)
        }
        let id = employee.objectID.uriRepresentation().absoluteString
        let accesses: [(String, () -> Void)] = [
            ("a typed read", { _ = employee.name }),
            ("a typed change", { employee.age = 1 }),
            ("a second change in the same event", { employee.age = 2 }),
            ("a reference", { _ = employee.department }),
            ("a set reference", { employee.department = nil }),
            ("a value by key", { _ = employee.value(forKey: "age") }),
            ("setting a value by key", { employee.setValue("Grace", forKey: "name") }),
            ("a primitive value", { _ = employee.primitiveValue(forKey: "age") }),
            ("setting a primitive value", { employee.setPrimitiveValue(3, forKey: "age") }),
        ]
        for (name, access) in accesses {
            access()
            let messages = fixture.reports.taken
            #expect(messages.contains { $0.contains(id) && $0.contains("Employee") }, "\(name): \(messages)")
        }
        _ = department.employees
        #expect(fixture.reports.taken.contains { $0.contains("Department") })
    }

    @Test func aFaultThatFiresElsewhereIsReported() throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        let context = fixture.context
        let employee = try context.performAndWait {
            let employee = Self.employee(context)
            try context.save()
            context.refresh(employee, mergeChanges: false)
            return employee
        }
        // These are safe anywhere.
        _ = (employee.objectID, employee.isFault, employee.managedObjectContext, employee.entity)
        #expect(fixture.reports.taken == [])
        #expect(employee.name == "Ada")
        #expect(!fixture.reports.taken.isEmpty)
    }

    @Test func performOfAnotherContextIsElsewhere() throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        let context = fixture.context
        let employee = context.performAndWait { Self.employee(context) }
        fixture.container.newBackgroundContext().performAndWait { employee.age = 4 }
        #expect(!fixture.reports.taken.isEmpty)
    }

    @Test func objectsMayBeReleasedAnywhere() async throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        let context = fixture.context
        var employees: [Employee]? = try context.performAndWait {
            let employees = (0..<50).map { Self.employee(context, "\($0)") }
            try context.save()
            return employees
        }
        #expect(employees?.count == 50)
        employees = nil
        #expect(fixture.reports.taken == [])
    }

    @Test func mainQueueContextsPassOnTheMainThread() async throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        // SAFETY: the detached task is a violation on purpose; nothing else runs meanwhile.
        let view = try Fixture.container().viewContext
        view.name = fixture.reports.name
        try await MainActor.run {
            let employee = Self.employee(view)
            try view.save()
            employee.age = 5
            view.refreshAllObjects()
        }
        #expect(fixture.reports.taken == [])
        await Task.detached { _ = view.hasChanges }.value
        #expect(fixture.reports.taken.contains { $0.contains("main queue") })
    }

    @Test func observationGoesOnBesideTheChecks() throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        let context = fixture.context
        #expect(!context.isObservationEnabled)
        context.performAndWait {
            let employee = Self.employee(context)
            context.isObservationEnabled = true
            let changed = Mutex(false)
            withObservationTracking {
                _ = employee.age
            } onChange: {
                changed.withLock { $0 = true }
            }
            employee.age = 9
            #expect(changed.withLock { $0 })
            context.isObservationEnabled = false
        }
        #expect(!context.isObservationEnabled)
    }

    @Test func theSwitchStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            NSManagedObjectContext.concurrencyDebugging = .stop
            let container = try Fixture.container()
            let context = container.newBackgroundContext()
            let employee = context.performAndWait { Self.employee(context) }
            _ = employee.name
        }
        await #expect(processExitsWith: .success) {
            NSManagedObjectContext.concurrencyDebugging = .off
            let context = try Fixture.container().newBackgroundContext()
            _ = try context.fetch(NSFetchRequest<Employee>(entityName: "Employee"))
        }
    }

    @Test func aDebugBuildWarnsOnceForEachContext() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                NSManagedObjectContext.concurrencyDebugging = .warn
                let context = try Fixture.container().newBackgroundContext()
                context.name = "importer"
                let request = NSFetchRequest<Employee>(entityName: "Employee")
                for _ in 0..<3 { _ = try context.fetch(request) }
            })
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.components(separatedBy: "concurrency violation").count == 2, "\(text)")
        #expect(text.contains("\"importer\"") && text.contains("fetch(_:)"))
    }
}
