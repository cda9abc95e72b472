import CoreData
import Foundation
import StrataTestKit
import Synchronization
import Testing

/// Saves so large that their objects are let go of on another core.
@Suite struct LargeSaveTests {
    private static let count = 3_000

    /// An object that nobody holds leaves the context with the save; what somebody holds, or only knows weakly, is
    /// where it was.
    @Test(arguments: StoreKind.allCases) func onlyWhatNobodyHoldsLeaves(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let department = Department(context: context)
            try context.save()
            // As a fault it holds none of its employees.
            context.refresh(department, mergeChanges: false)
            var held: [Employee] = []
            weak var known: Employee?
            var (ids, knownID): ([NSManagedObjectID], NSManagedObjectID?) = ([], nil)
            for index in 0..<Self.count {
                let employee = Employee(context: context)
                employee.name = "employee number \(index) with a long name"
                employee.department = department
                if index % 100 == 0 { held.append(employee) }
                if index == 150 { known = employee }
            }
            try context.save()
            ids = held.map(\.objectID)
            knownID = known?.objectID
            #expect(context.registeredObjects.isSuperset(of: held + [department]))
            Self.wait { context.registeredObjects.count <= held.count + 2 }
            for (object, id) in zip(held, ids) {
                #expect(context.registeredObject(for: id) === object && object.managedObjectContext === context)
            }
            // A weak reference either leads to the object that the context has, or to none.
            if let knownID { #expect(context.registeredObject(for: knownID) === known) }
            let all = try fetchAll(Employee.self, "Employee", context)
            #expect(all.count == Self.count && department.employees == Set(all))
            #expect(Set(all).isSuperset(of: held))
            for (index, object) in held.enumerated() {
                #expect(object.name == "employee number \(index * 100) with a long name")
                object.age = 50
            }
            try context.save()
            context.reset()
            #expect(try fetchAll(Employee.self, "Employee", context).count { $0.age == 50 } == held.count)
        }
    }

    /// Waits for what another core does; a test that waits for ever has failed.
    private static func wait(_ isDone: () -> Bool) {
        while !isDone() { usleep(1_000) }
    }

    /// While another core lets go of the objects, each is found by its ID, whoever held it and whoever did not, and
    /// there is one of it: a second one would have other values after a change.
    @Test(arguments: StoreKind.allCases) func whatIsLeavingIsFound(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            for round in 0..<5 {
                var held: [Employee] = []
                for index in 0..<Self.count {
                    let employee = Employee(context: context)
                    employee.age = Int16(index % 100)
                    if index % 10 == 0 { held.append(employee) }
                }
                try context.obtainPermanentIDs(for: Array(context.insertedObjects))
                let ids = context.insertedObjects.map(\.objectID)
                try context.save()
                for object in held { #expect(context.registeredObject(for: object.objectID) === object) }
                // Some are alive, some dying, some gone.
                let found = ids.map { context.object(with: $0) }
                for (id, object) in zip(ids, found) {
                    #expect(context.registeredObject(for: id) === object && object.managedObjectContext === context)
                }
                for object in held { object.age = 200 }
                let again = try fetchAll(Employee.self, "Employee", context)
                #expect(again.count == Self.count * (round + 1))
                #expect(again.count { $0.age == 200 } == held.count * (round + 1))
                try context.save()
            }
        }
    }

    /// Objects outlive their context, whichever of both goes first, and whichever thread lets go of the last one.
    @Test func objectsThatLeaveKeepTheirRegistry() throws {
        let store = try TestStore(.memory)
        var kept: [Employee] = []
        for _ in 0..<20 {
            let context = store.shortLivedContext()
            try context.performAndWait {
                for index in 0..<Self.count {
                    let employee = Employee(context: context)
                    if index % 500 == 0 { kept.append(employee) }
                }
                try context.save()
            }
        }
        #expect(kept.count == 20 * 6 && kept.allSatisfy { $0.managedObjectContext == nil && $0.age == 18 })
        kept = []
    }

    /// What the program holds is where it was, and is taken out of the context with `reset()` and deletion.
    @Test func whatIsHeldGoesOn() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            var held = (0..<Self.count).map { _ in Employee(context: context) }
            try context.save()
            for object in held.prefix(100) { context.delete(object) }
            try context.save()
            #expect(held.prefix(100).allSatisfy { $0.managedObjectContext == nil })
            #expect(held.dropFirst(100).allSatisfy { context.registeredObject(for: $0.objectID) === $0 })
            held.removeFirst(100)
            context.reset()
            #expect(held.allSatisfy { $0.managedObjectContext == nil } && context.registeredObjects.isEmpty)
        }
    }

    /// A context that is reset while its objects are let go of has none any more, and the program's are nobody's.
    @Test(arguments: StoreKind.allCases) func aResetDoesNotWaitForWhatLeaves(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        for round in 1...6 {
            let known = try context.performAndWait { () throws -> [WeakEmployee] in
                var (held, known): ([Employee], [WeakEmployee]) = ([], [])
                for index in 0..<Self.count {
                    let employee = Employee(context: context)
                    employee.name = "\(index)"
                    if index % 100 == 0 { held.append(employee) }
                    known.append(WeakEmployee(employee: employee))
                }
                try context.save()
                if round % 2 == 0 {
                    for object in context.registeredObjects.compactMap({ $0 as? Employee }) { object.age = 77 }
                    try context.save()
                }
                let changes = Mutex<Set<NSManagedObjectID>>([])
                let token = NotificationCenter.default.addObserver(
                    forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
                ) { note in
                    let ids = note.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID] ?? []
                    changes.withLock { $0.formUnion(ids) }
                }
                context.reset()
                NotificationCenter.default.removeObserver(token)
                #expect(context.registeredObjects.isEmpty && !context.hasChanges)
                #expect(changes.withLock { $0.isSuperset(of: held.map(\.objectID)) })
                for object in held {
                    #expect(object.managedObjectContext == nil && !object.isFault && object.name == "")
                    #expect(context.registeredObject(for: object.objectID) == nil)
                }
                let all = try fetchAll(Employee.self, "Employee", context)
                #expect(all.count == Self.count * round && Set(all).isDisjoint(with: held))
                context.reset()
                return known
            }
            Self.wait { known.allSatisfy { $0.employee == nil } }
        }
    }

    /// A weak reference may lead to an object that only the save still holds: it is as any other after a reset.
    @Test(arguments: [false, true], [false, true]) func whatIsKnownWeaklyIsAsAfterAnyReset(
        isFault: Bool, changes: Bool
    ) throws {
        let store = try TestStore(.memory)
        let context = store.context()
        var found = 0
        try context.performAndWait {
            for _ in 0..<(BuildMode.isDebug ? 6 : 20) {
                weak var first: Employee?
                for index in 0..<20_000 {
                    let employee = Employee(context: context)
                    if index == 0 { first = employee }
                }
                try context.save()
                let id = first?.objectID
                if isFault, let first { context.refresh(first, mergeChanges: false) }
                if changes { first?.age = 3 }
                context.reset()
                // Gone, or nobody's.
                guard let first, let id else { continue }
                found += 1
                #expect(first.managedObjectContext == nil && first.objectID == id && !first.objectID.isTemporaryID)
                #expect(!first.hasChanges && !first.isFault)
                _ = first.name
            }
        }
        print("weak references that led to an object after a reset: \(found)")
    }

    private struct WeakEmployee {
        weak var employee: Employee?
    }

    /// An observer that keeps the notification keeps its objects.
    @Test func observersKeepTheirObjects() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let kept = Mutex<[Notification.Name: Set<NSManagedObjectID>]>([:])
        nonisolated(unsafe) var notifications: [Notification] = []
        let tokens = [NSManagedObjectContext.didChangeObjectsNotification, .NSManagedObjectContextDidSave].map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { notification in
                notifications.append(notification)
                let objects = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
                kept.withLock { $0[name] = Set(objects.map(\.objectID)) }
            }
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        try context.performAndWait {
            for _ in 0..<Self.count { _ = Employee(context: context) }
            try context.save()
            #expect(kept.withLock { $0[.NSManagedObjectContextDidSave]?.count } == Self.count)
            for notification in notifications {
                let objects = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
                #expect(objects.count == Self.count)
                #expect(context.registeredObjects.isSuperset(of: objects))
                #expect(objects.allSatisfy { $0.managedObjectContext === context && ($0 as? Employee)?.age == 18 })
            }
            notifications = []
        }
    }

    /// Saves follow each other while the objects of those before them are still being freed.
    @Test(arguments: StoreKind.allCases) func importsGoOnMeanwhile(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            for round in 0..<5 {
                let department = Department(context: context)
                department.budget = Int64(round)
                for index in 0..<Self.count {
                    let employee = Employee(context: context)
                    employee.name = "\(round)/\(index)"
                    employee.department = department
                }
                try context.save()
                if round % 2 == 1 { context.reset() }
            }
            let departments = try fetchAll(Department.self, "Department", context)
            #expect(departments.count == 5)
            #expect(departments.allSatisfy { $0.employees.count == Self.count })
            let names = Set(departments.flatMap { $0.employees.map(\.name) })
            #expect(names.count == 5 * Self.count)
        }
    }

    /// A cascade over thousands of faults tells each, and nothing of them is left.
    @Test(arguments: StoreKind.allCases) func cascades(_ kind: StoreKind) throws {
        let store = try TestStore(kind, GraphModel.company(employeesRule: .cascadeDeleteRule))
        let context = store.context()
        try context.performAndWait {
            let department = Department(context: context)
            for index in 0..<Self.count {
                let employee = Employee(context: context)
                employee.name = "\(index)"
                employee.department = department
            }
            let other = Employee(context: context)
            other.name = "other"
            try context.save()
            context.reset()
            let doomed = try #require(try fetchAll(Department.self, "Department", context).first)
            context.delete(doomed)
            context.processPendingChanges()
            let deleted = context.deletedObjects.compactMap { $0 as? Employee }
            #expect(deleted.count == Self.count && deleted.allSatisfy { $0.isDeleted && !$0.isFault })
            #expect(deleted.allSatisfy { $0.calls == ["awakeFromFetch", "prepareForDeletion"] })
            let ids = deleted.map(\.objectID)
            try context.save()
            #expect(
                deleted.allSatisfy {
                    $0.calls == ["awakeFromFetch", "prepareForDeletion", "willSave", "didSave"]
                        && $0.managedObjectContext == nil && !$0.isDeleted
                })
            #expect(deleted.map(\.objectID) == ids)
            #expect(ids.allSatisfy { context.registeredObject(for: $0) == nil })
            #expect(try fetchAll(Employee.self, "Employee", context).map(\.name) == ["other"])
        }
    }
}
