import CoreData
import Foundation
import Testing

/// Values that are set to what they were: the object counts as updated, and a save has nothing to write.
@Suite struct UnchangedValueTests {
    private static func saved(_ store: TestStore, _ context: NSManagedObjectContext) throws -> Employee {
        let employee = Employee(context: context)
        employee.name = "Zoë"
        employee.age = 30
        employee.department = Department(context: context)
        try context.save()
        context.refreshAllObjects()
        return employee
    }

    private static func changeCount(_ context: NSManagedObjectContext) throws -> Int {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        request.resultType = .changesOnly
        let result = try context.execute(request) as? NSPersistentHistoryResult
        return (result?.result as? [NSPersistentHistoryChange])?.count ?? -1
    }

    @Test(arguments: StoreKind.allCases)
    func nothingIsWritten(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let other = store.context()
        try context.performAndWait {
            let employee = try Self.saved(store, context)
            let stale = try other.performAndWait {
                let stale = try #require(other.existingObject(with: employee.objectID) as? Employee)
                stale.age = 31
                return stale
            }
            let before = try Self.changeCount(context)
            employee.calls = []
            employee.name = "Zoë"
            employee.age = 30
            employee.department = employee.department
            #expect(employee.isUpdated && employee.hasChanges && context.hasChanges)
            #expect(!employee.hasPersistentChangedValues && employee.changedValues().isEmpty)
            #expect(context.updatedObjects == [employee])
            try context.save()
            #expect(!employee.hasChanges && !context.hasChanges)
            #expect(employee.calls.contains("willSave") && employee.calls.contains("didSave"))
            #expect(try Self.changeCount(context) == before)
            // The row is as old as it was: who has based changes on it may save them.
            try other.performAndWait {
                try other.save()
                #expect(stale.age == 31)
            }
        }
    }

    @Test func oneRealChangeIsWritten() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let employee = try Self.saved(store, context)
            let before = try Self.changeCount(context)
            employee.name = "Zoë"
            employee.age = 31
            try context.save()
            #expect(try Self.changeCount(context) == before + 1)
            employee.age = 30
            employee.age = 31
            try context.save()
            context.reset()
            let again = try #require(try context.fetch(NSFetchRequest<Employee>(entityName: "Employee")).first)
            #expect(again.age == 31 && again.name == "Zoë")
        }
    }

    /// Rows of objects that were inserted in the context have to be looked up.
    @Test(arguments: StoreKind.allCases)
    func objectsJustSavedCountToo(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let employees = (0..<100).map { index in
                let employee = Employee(context: context)
                employee.name = "\(index)"
                return employee
            }
            try context.save()
            let before = try Self.changeCount(context)
            for (index, employee) in employees.enumerated() {
                employee.name = "\(index)"
                if index == 50 { employee.age = 5 }
            }
            try context.save()
            #expect(try Self.changeCount(context) == before + 1)
            #expect(!context.hasChanges)
            context.reset()
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.predicate = NSPredicate(format: "age == 5")
            #expect(try context.fetch(request).map(\.name) == ["50"])
        }
    }

    /// Swift holds both spellings for equal; the store keeps what was set.
    @Test func anotherSpellingIsAChange() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let employee = try Self.saved(store, context)
            #expect(employee.name.unicodeScalars.count == 3)
            employee.name = "Zoe\u{308}"
            #expect(employee.hasPersistentChangedValues)
            try context.save()
            context.refresh(employee, mergeChanges: false)
            #expect(employee.name.unicodeScalars.count == 4)
        }
    }

    @Test func aRequestWithoutEncodingIsReadAsNil() throws {
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.predicate = NSPredicate { _, _ in true }
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        request.encode(with: archiver)
        archiver.finishEncoding()
        let reader = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect(NSFetchRequest<Employee>(coder: reader) == nil)
        let reason = reader.decodeObject(of: NSString.self, forKey: "fetchRequestProblem") as String?
        #expect(reason?.isEmpty == false)
    }
}
