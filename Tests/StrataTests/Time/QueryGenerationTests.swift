import CoreData
import Foundation
import Testing

@Suite struct QueryGenerationTests {
    private func addEmployee(_ name: String, to store: TestStore) throws -> NSManagedObjectID {
        let context = store.shortLivedContext()
        return try context.performAndWait {
            let employee = Employee(context: context)
            employee.name = name
            let department = try fetchAll(Department.self, "Department", context).first ?? Department(context: context)
            employee.department = department
            try context.save()
            return employee.objectID
        }
    }

    private func rename(_ id: NSManagedObjectID, _ name: String, in store: TestStore) throws {
        let context = store.shortLivedContext()
        try context.performAndWait {
            (try context.existingObject(with: id) as? Employee)?.name = name
            try context.save()
        }
    }

    @Test(arguments: StoreKind.allCases) func aPinnedContextReadsOneState(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let first = try addEmployee("first", to: store)
        let context = store.context()
        try context.performAndWait {
            #expect(context.queryGenerationToken == nil)
            try context.setQueryGenerationFrom(.current)
            #expect(context.queryGenerationToken == .current)
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            #expect(try context.count(for: request) == 1)
            let token = try #require(context.queryGenerationToken)
            #expect(token != .current)
            let second = try addEmployee("second", to: store)
            try rename(first, "renamed", in: store)
            #expect(context.queryGenerationToken == token)
            #expect(try context.count(for: request) == 1)
            request.predicate = NSPredicate(format: "name == 'first'")
            let found = try #require(try context.fetch(request).first)
            #expect(found.isFault && found.name == "first")
            #expect(found.department?.employees == [found])
            #expect(found.department?.count(of: Department.employeesSlot) == 1)
            #expect(throws: CocoaError.self) { try context.existingObject(with: second) }
            context.refreshAllObjects()
            #expect(found.name == "first")
            try context.setQueryGenerationFrom(nil)
            #expect(context.queryGenerationToken == nil)
            #expect(found.name == "first", "what was read stays until it is refreshed")
            context.refreshAllObjects()
            #expect(found.name == "renamed" && found.department?.employees.count == 2)
        }
    }

    @Test(arguments: StoreKind.allCases) func tokensGoFromContextToContext(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        _ = try addEmployee("a", to: store)
        let (one, two) = (store.context(), store.context())
        try one.performAndWait {
            try one.setQueryGenerationFrom(.current)
            #expect(try one.employeeNames() == ["a"])
            _ = try addEmployee("b", to: store)
            let token = try #require(one.queryGenerationToken)
            #expect(token.copy() as? NSQueryGenerationToken == token)
            let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
            let restored = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: data))
            #expect(restored == token && restored.hash == token.hash)
            try two.performAndWait {
                for token in [token, restored] {
                    try two.setQueryGenerationFrom(token)
                    #expect(try two.employeeNames() == ["a"])
                    #expect(two.queryGenerationToken == token)
                }
                try two.setQueryGenerationFrom(.current)
                #expect(try two.employeeNames() == ["a", "b"])
                #expect(two.queryGenerationToken != token)
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func savesMergesAndResetsMoveTheContext(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let id = try addEmployee("a", to: store)
        let context = store.context()
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.employeeNames() == ["a"])
            _ = try addEmployee("b", to: store)
            Employee(context: context).name = "own"
            #expect(try context.employeeNames() == ["a", "own"])
            let recorder = SaveRecorder(.NSManagedObjectContextDidSave, context)
            try context.save()
            #expect(try context.employeeNames() == ["a", "b", "own"])
            #expect(
                recorder.infos[0][NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken
                    == context.queryGenerationToken)
            _ = try addEmployee("c", to: store)
            #expect(try context.employeeNames() == ["a", "b", "own"])
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: [id]], into: [context])
            #expect(try context.employeeNames() == ["a", "b", "c", "own"])
            _ = try addEmployee("d", to: store)
            context.reset()
            #expect(context.queryGenerationToken == .current)
            #expect(try context.employeeNames() == ["a", "b", "c", "d", "own"])
            _ = try addEmployee("e", to: store)
            #expect(try context.employeeNames() == ["a", "b", "c", "d", "own"])
        }
    }

    @Test(arguments: StoreKind.allCases) func savesOfOldValuesAreConflicts(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let id = try addEmployee("a", to: store)
        let context = store.context()
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.employeeNames() == ["a"])
            try rename(id, "theirs", in: store)
            let employee = try #require(try context.existingObject(with: id) as? Employee)
            #expect(employee.name == "a")
            employee.age = 60
            #expect(throws: CocoaError.self) { try context.save() }
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(employee.name == "theirs" && employee.age == 60)
        }
    }

    @Test(arguments: StoreKind.allCases) func errorsOfTokens(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        _ = try addEmployee("a", to: store)
        let context = store.context()
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.employeeNames() == ["a"])
            let data = try NSKeyedArchiver.archivedData(
                withRootObject: try #require(context.queryGenerationToken), requiringSecureCoding: true)
            try context.setQueryGenerationFrom(nil)
            _ = try addEmployee("b", to: store)
            let expired = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: data))
            // Nobody holds that state any more: it is read from the log as long as that has its history.
            try context.setQueryGenerationFrom(expired)
            #expect(try context.employeeNames() == ["a"])
            try context.setQueryGenerationFrom(nil)
            _ = try context.execute(
                NSPersistentHistoryChangeRequest.deleteHistory(before: nil as NSPersistentHistoryToken?))
            let error = #expect(throws: CocoaError.self) { try context.setQueryGenerationFrom(expired) }
            #expect(error?.code == .persistentStoreOperation)
            #expect(context.queryGenerationToken == nil)
            #expect(try context.employeeNames() == ["a", "b"])
            let other = try TestStore(.memory)
            let foreign = other.context()
            try foreign.performAndWait {
                try foreign.setQueryGenerationFrom(.current)
                #expect(try foreign.employeeNames() == [])
            }
            #expect(throws: CocoaError.self) { try context.setQueryGenerationFrom(foreign.queryGenerationToken) }
        }
        let child = ContextLine.child(of: context)
        #expect(throws: CocoaError.self) { try child.setQueryGenerationFrom(.current) }
        #expect(child.queryGenerationToken == nil)
    }

    @Test(arguments: StoreKind.allCases) func childrenReadTheirParentsGeneration(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let id = try addEmployee("a", to: store)
        let root = store.context()
        try root.performAndWait {
            try root.setQueryGenerationFrom(.current)
            #expect(try root.count(for: NSFetchRequest<Employee>(entityName: "Employee")) == 1)
        }
        try rename(id, "newer", in: store)
        _ = try addEmployee("b", to: store)
        let child = ContextLine.child(of: root)
        try child.check { () throws in #expect(try child.employeeNames() == ["a"]) }
    }
}
