import CoreData
import Dispatch
import Foundation
import Observation
import Testing

/// Many contexts on many queues at a time. Meant to be run under the thread sanitizer, too.
@Suite struct ManyContextsTests {
    private static let contexts = 6
    private static let rounds = 12

    /// Runs the body on threads of their own and waits for all of them.
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
        let group = DispatchGroup()
        for index in 0..<count {
            group.enter()
            let thread = Thread {
                defer { group.leave() }
                #expect(throws: Never.self) { try body(index) }
            }
            thread.start()
        }
        group.wait()
    }

    /// Contexts that all save, and all merge what the others save.
    @Test(arguments: StoreKind.allCases) func everybodySavesAndMerges(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let contexts = Shared(
            (0..<Self.contexts).map { number in
                let context = store.context()
                context.automaticallyMergesChangesFromParent = true
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                context.isObservationEnabled = number % 2 == 0
                if number % 3 == 0 { context.undoManager = UndoManager() }
                return context
            })
        let departmentID = try contexts.value[0].performAndWait {
            let department = Department(context: contexts.value[0])
            try contexts.value[0].save()
            return department.objectID
        }
        onThreads(Self.contexts) { number in
            let context = contexts.value[number]
            for round in 0..<Self.rounds {
                try context.performAndWait {
                    guard let department = context.object(with: departmentID) as? Department else { return }
                    let changes = Shared(context.changes())
                    withObservationTracking {
                        _ = department.title
                        _ = department.employees.map(\.name)
                    } onChange: {
                    }
                    for index in 0..<8 {
                        let employee = Employee(context: context)
                        employee.name = "\(number) \(round) \(index)"
                        employee.department = department
                    }
                    department.title = "\(number)"
                    let mine = department.employees.filter { $0.name.hasPrefix("\(number) ") }
                    if let last = mine.first(where: { !$0.isInserted }) { context.delete(last) }
                    try context.save()
                    withExtendedLifetime(changes) {}
                }
            }
        }
        let expected = Self.contexts * (8 * Self.rounds - (Self.rounds - 1))
        let fresh = store.context()
        let count = try fresh.performAndWait { try fetchAll(Employee.self, "Employee", fresh).count }
        #expect(count == expected)
        // Once all merges have run, everybody sees the same.
        for context in contexts.value {
            context.performAndWait {
                let department = context.object(with: departmentID) as? Department
                #expect(department?.employees.count == expected)
            }
        }
    }

    /// Children on queues of their own, under one parent.
    @Test(arguments: StoreKind.allCases) func childrenOfOneParent(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let parent = Shared(store.context())
        let children = Shared(
            (0..<Self.contexts).map { _ in
                let child = ContextLine.child(of: parent.value)
                child.automaticallyMergesChangesFromParent = true
                return child
            })
        onThreads(Self.contexts) { number in
            let child = children.value[number]
            for round in 0..<Self.rounds {
                try child.performAndWait {
                    let employee = Employee(context: child)
                    employee.name = "\(number) \(round)"
                    employee.badge = insert("Badge", child).set(["number": round])
                    try child.save()
                    _ = try child.employeeNames()
                }
                if round % 3 == number % 3 { try parent.value.performAndWait { try parent.value.save() } }
            }
        }
        try parent.value.performAndWait { try parent.value.save() }
        let fresh = store.context()
        let count = try fresh.performAndWait { try fetchAll(Employee.self, "Employee", fresh).count }
        #expect(count == Self.contexts * Self.rounds)
    }

    /// Objects are released on other threads than their context's while they are looked up and observed there.
    @Test func objectsReleasedElsewhere() throws {
        let store = try TestStore(.memory)
        let context = Shared(store.context())
        let ids = try context.value.performAndWait {
            context.value.isObservationEnabled = true
            let employees = (0..<200).map { _ in Employee(context: context.value) }
            try context.value.save()
            return employees.map(\.objectID)
        }
        let sent = Shared(Sent())
        onThreads(4) { number in
            for round in 0..<40 {
                // The last references go on this thread.
                var objects = context.value.performAndWait {
                    ids.filter { ($0.hash &+ round) % 3 == 0 }.map { id in
                        let employee = context.value.object(with: id) as? Employee
                        withObservationTracking {
                            _ = employee?.age
                        } onChange: {
                            sent.value.add()
                        }
                        return Shared(employee)
                    }
                }
                if number == 0 {
                    context.value.performAndWait {
                        for object in objects { object.value?.age += 1 }
                        context.value.refreshAllObjects()
                    }
                }
                objects.removeAll()
            }
        }
        #expect(sent.value.count > 0)
    }

    private final class Sent: @unchecked Sendable {
        private let lock = NSLock()
        private var sent = 0

        func add() { lock.withLock { sent += 1 } }

        var count: Int { lock.withLock { sent } }
    }

    /// What is handed from queue to queue. Unchecked: contexts and their objects are only used on their queues.
    private struct Shared<Value>: @unchecked Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }
}
