import CoreData
import Foundation
import Testing

/// Both ends of relationships agree after a merge, whatever two contexts did to one object.
@Suite struct MergedReferenceTests {
    private struct Two {
        let store: TestStore
        let here: NSManagedObjectContext
        let departments: [Department]
        let employee: Employee

        /// One employee in the first of three departments, read here, and what another context then saves.
        init(_ kind: StoreKind, here change: (Two) -> Void, there other: (Employee, [Department]) -> Void) throws {
            store = try TestStore(kind)
            let here = store.context()
            self.here = here
            (departments, employee) = try here.performAndWait {
                let departments = ["A", "B", "C"].map { title in
                    let department = Department(context: here)
                    department.title = title
                    return department
                }
                let employee = Employee(context: here)
                employee.name = "E"
                employee.department = departments[0]
                try here.save()
                for department in departments { _ = department.employees }
                return (departments, employee)
            }
            let two = self
            here.performAndWait { change(two) }
            let there = store.context()
            let notifications = SaveNotifications(there)
            try there.performAndWait {
                let same = try #require(there.object(with: employee.objectID) as? Employee)
                let others = departments.compactMap { there.object(with: $0.objectID) as? Department }
                other(same, others)
                try there.save()
            }
            here.performAndWait { for note in notifications.all { here.mergeChanges(fromContextDidSave: note) } }
        }

        func members() -> [Int] { departments.map(\.employees.count) }
        func counts() -> [Int] { departments.map { $0.count(of: Department.employeesSlot) } }

        func stored() throws -> [Int] {
            let fresh = store.context()
            return try fresh.performAndWait {
                try fetchAll(Department.self, "Department", fresh, sort: "title").map(\.employees.count)
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func movedHereAndThere(_ kind: StoreKind) throws {
        let two = try Two(kind) {
            $0.employee.department = $0.departments[2]
        } there: {
            $0.department = $1[1]
        }
        try two.here.performAndWait {
            #expect(two.members() == [0, 0, 1] && two.counts() == [0, 0, 1])
            try two.here.save()
            #expect(two.members() == [0, 0, 1])
        }
        #expect(try two.stored() == [0, 0, 1])
    }

    @Test(arguments: StoreKind.allCases) func movedToTheSamePlace(_ kind: StoreKind) throws {
        let two = try Two(kind) {
            $0.employee.department = $0.departments[1]
        } there: {
            $0.department = $1[1]
        }
        try two.here.performAndWait {
            #expect(two.members() == [0, 1, 0] && two.counts() == [0, 1, 0])
            try two.here.save()
        }
        #expect(try two.stored() == [0, 1, 0])
    }

    /// Setting a reference back counted as a change: the merge moved the object back from where the other context had
    /// put it, and the next save wrote that.
    @Test(arguments: StoreKind.allCases) func movedBackHereMovedThere(_ kind: StoreKind) throws {
        let two = try Two(kind) {
            $0.employee.department = $0.departments[2]
            $0.employee.department = $0.departments[0]
        } there: {
            $0.department = $1[1]
        }
        try two.here.performAndWait {
            #expect(two.members() == [0, 1, 0] && two.counts() == [0, 1, 0])
            #expect(two.employee.changedValues().isEmpty)
            try two.here.save()
        }
        #expect(try two.stored() == [0, 1, 0])
    }

    @Test(arguments: StoreKind.allCases) func movedHereDeletedThere(_ kind: StoreKind) throws {
        let two = try Two(kind) {
            $0.employee.department = $0.departments[2]
        } there: { same, _ in
            same.managedObjectContext?.delete(same)
        }
        try two.here.performAndWait {
            #expect(two.members() == [0, 0, 0] && two.counts() == [0, 0, 0])
            try two.here.save()
        }
        #expect(try two.stored() == [0, 0, 0])
    }

    @Test(arguments: StoreKind.allCases) func deletedHereMovedThere(_ kind: StoreKind) throws {
        let two = try Two(kind) {
            $0.here.delete($0.employee)
        } there: {
            $0.department = $1[1]
        }
        try two.here.performAndWait {
            #expect(two.members() == [0, 0, 0] && two.counts() == [0, 0, 0])
            try two.here.save()
        }
        #expect(try two.stored() == [0, 0, 0])
    }

    @Test(arguments: StoreKind.allCases) func itsNewPlaceWasDeletedThere(_ kind: StoreKind) throws {
        let two = try Two(kind) {
            $0.employee.department = $0.departments[2]
        } there: { same, departments in
            same.managedObjectContext?.delete(departments[2])
        }
        try two.here.performAndWait {
            #expect(two.employee.department == nil)
            try two.here.save()
        }
        #expect(try two.stored() == [0, 0])
    }

    @Test(arguments: StoreKind.allCases) func derivedAttributesAreNoConflict(_ kind: StoreKind) throws {
        let store = try TestStore(kind, FetchDerivedTests.library())
        let (context, other) = (store.context(), store.context())
        try context.performAndWait {
            let author = insert("Author", context)
            author.setValue("X", forKey: "name")
            try context.save()
            author.setValue("Y", forKey: "name")
            try other.performAndWait {
                insert("Book", other).setValue(other.object(with: author.objectID), forKey: "author")
                try other.save()
            }
            // The other one has changed nothing but what is derived: nothing is lost.
            try context.save()
            #expect(author.value(forKey: "bookCount") as? Int == 1 && author.value(forKey: "name") as? String == "Y")
        }
    }

    @Test(arguments: StoreKind.allCases) func derivedAttributesAreNothingToUndo(_ kind: StoreKind) throws {
        let store = try TestStore(kind, FetchDerivedTests.library())
        let context = store.context()
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        try context.performAndWait {
            let author = insert("Author", context)
            context.processPendingChanges()
            insert("Book", context).setValue(author, forKey: "author")
            context.processPendingChanges()
            #expect(manager.undoCount == 2)
            try context.save()
            #expect(manager.undoCount == 2 && author.value(forKey: "bookCount") as? Int == 1)
            context.undo()
            try context.save()
            #expect(author.value(forKey: "bookCount") as? Int == 0)
        }
    }
}
