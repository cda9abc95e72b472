import CoreData
import Dispatch
import Foundation
import Synchronization
import Testing

/// A service's load: 64 contexts at a time that read by ID, list, insert, update and add up. Meant to be run under the
/// thread sanitizer, too.
@Suite struct ManyContextsServiceTests {
    private static let clients = 64
    private static let requests = 10
    private static let employees = 300
    private static let departments = 5
    private static let firstAge = 18

    /// What clients did, and the IDs that they know.
    private final class Tally: Sendable {
        let inserted = Atomic<Int>(0)
        let updated = Atomic<Int>(0)
        let conflicts = Atomic<Int>(0)
    }

    /// What is handed from queue to queue. Unchecked: contexts are only used on their queues.
    private struct Shared<Value>: @unchecked Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    /// No update is lost, no insert is, and nobody sees an object in part.
    @Test(arguments: StoreKind.allCases) func sixtyFourContextsOfMixedLoad(_ kind: StoreKind) async throws {
        let store = Shared(try TestStore(kind, Self.model()))
        let ids = try Self.fill(store.value.context())
        let tally = Tally()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await Self.onThreads(Self.clients / 2) { Self.serve($0, store, ids, tally) } }
            for number in Self.clients / 2..<Self.clients {
                group.addTask {
                    for request in 0..<Self.requests {
                        let context = store.value.shortLivedContext()
                        await context.perform { Self.answer(number, request, ids, context, tally) }
                    }
                }
            }
        }
        let context = store.value.context()
        try context.performAndWait {
            let all = try fetchAll(Employee.self, "Employee", context)
            #expect(all.count == Self.employees + tally.inserted.load(ordering: .relaxed))
            let added = all.reduce(0) { $0 + Int($1.age) - Self.firstAge }
            #expect(added == tally.updated.load(ordering: .relaxed))
            #expect(try Self.countByDepartment(context) == all.count)
        }
        #expect(tally.inserted.load(ordering: .relaxed) > 0)
        #expect(tally.updated.load(ordering: .relaxed) > 0)
    }

    private static func model() -> NSManagedObjectModel {
        let model = GraphModel.company()
        if let employee = model.entitiesByName["Employee"], let name = employee.propertiesByName["name"] {
            let element = NSFetchIndexElementDescription(property: name, collationType: .binary)
            employee.indexes = [NSFetchIndexDescription(name: "byName", elements: [element])]
        }
        return model
    }

    private struct IDs: Sendable {
        var employees: [NSManagedObjectID] = []
        var departments: [NSManagedObjectID] = []
    }

    /// Each employee in a save of its own, as a service writes them.
    private static func fill(_ context: NSManagedObjectContext) throws -> IDs {
        try context.performAndWait {
            var ids = IDs()
            let departments = (0..<departments).map { number in
                let department = Department(context: context)
                department.title = "department \(number)"
                return department
            }
            let projects = (0..<10).map { number in
                let project = insert("Project", context)
                project.setValue("project \(number)", forKey: "code")
                return project
            }
            try context.save()
            ids.departments = departments.map(\.objectID)
            for number in 0..<employees {
                let employee = Employee(context: context)
                employee.name = "employee \(number)"
                employee.department = departments[number % departments.count]
                employee.setValue(Set([projects[number % projects.count]]), forKey: "projects")
                try context.save()
                ids.employees.append(employee.objectID)
            }
            return ids
        }
    }

    private static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
        await withCheckedContinuation { continuation in
            let group = DispatchGroup()
            for index in 0..<count {
                group.enter()
                let thread = Thread {
                    body(index)
                    group.leave()
                }
                thread.start()
            }
            group.notify(queue: .global()) { continuation.resume() }
        }
    }

    /// Every other thread keeps its context, as a session does.
    private static func serve(_ number: Int, _ store: Shared<TestStore>, _ ids: IDs, _ tally: Tally) {
        let kept = store.value.shortLivedContext()
        kept.automaticallyMergesChangesFromParent = number % 4 == 0
        for request in 0..<requests {
            let context = number % 2 == 0 ? kept : store.value.shortLivedContext()
            context.performAndWait { answer(number, request, ids, context, tally) }
        }
    }

    private static func answer(
        _ number: Int, _ request: Int, _ ids: IDs, _ context: NSManagedObjectContext, _ tally: Tally
    ) {
        let draw = number &* 31 &+ request &* 7
        do {
            switch draw % 10 {
            case 0..<4: try read(ids.employees[draw % ids.employees.count], context)
            case 4, 5: try list("department \(draw % departments)", context)
            case 6: try insertOne(draw, ids, context, tally)
            case 7: try update(ids.employees[draw % 20], context, tally)
            case 8: #expect(try countByDepartment(context) >= employees)
            default: try listByProject("project \(draw % 10)", context)
            }
        } catch {
            Issue.record(error)
        }
    }

    private static func read(_ id: NSManagedObjectID, _ context: NSManagedObjectContext) throws {
        let employee = try #require(try context.existingObject(with: id) as? Employee)
        #expect(employee.name.hasPrefix("employee"))
        #expect(employee.department?.title?.hasPrefix("department") == true)
    }

    private static func list(_ title: String, _ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.predicate = NSPredicate(format: "department.title == %@ AND name >= %@", title, "employee 1")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.fetchLimit = 20
        let page = try context.fetch(request)
        #expect(page.count == 20)
        #expect(page.allSatisfy { $0.department?.title == title })
    }

    private static func listByProject(_ code: String, _ context: NSManagedObjectContext) throws {
        let predicate = NSPredicate(format: "ANY projects.code == %@", code)
        #expect(try fetchAll(Employee.self, "Employee", context, predicate).count == employees / 10)
    }

    private static func insertOne(
        _ number: Int, _ ids: IDs, _ context: NSManagedObjectContext, _ tally: Tally
    ) throws {
        let employee = Employee(context: context)
        employee.name = "employee new \(number)"
        employee.department = context.object(with: ids.departments[number % ids.departments.count]) as? Department
        try context.save()
        tally.inserted.add(1, ordering: .relaxed)
    }

    /// One of few objects, so that clients meet; whoever comes second is told.
    private static func update(
        _ id: NSManagedObjectID, _ context: NSManagedObjectContext, _ tally: Tally
    ) throws {
        let employee = try #require(try context.existingObject(with: id) as? Employee)
        context.refresh(employee, mergeChanges: false)
        employee.age += 1
        do {
            try context.save()
            tally.updated.add(1, ordering: .relaxed)
        } catch let error as NSError where error.code == NSManagedObjectMergeError {
            tally.conflicts.add(1, ordering: .relaxed)
            context.rollback()
        }
    }

    private static func countByDepartment(_ context: NSManagedObjectContext) throws -> Int {
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.resultType = .dictionaryResultType
        let count = NSExpressionDescription()
        count.name = "count"
        count.expression = NSExpression(format: "count:(name)")
        count.expressionResultType = .integer64AttributeType
        request.propertiesToFetch = ["department", count]
        request.propertiesToGroupBy = ["department"]
        return try context.fetch(request).reduce(0) { $0 + (($1["count"] as? NSNumber)?.intValue ?? 0) }
    }
}
