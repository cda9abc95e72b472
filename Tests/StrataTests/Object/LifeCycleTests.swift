import CoreData
import Foundation
import Testing

@Suite struct LifeCycleTests {
    @Test(arguments: StoreKind.allCases) func insertSaveFetch(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let employee = Employee(context: context)
            #expect(employee.calls == ["awakeFromInsert"])
            #expect(employee.age == 18 && employee.name == "")
            #expect(employee.isInserted && !employee.isUpdated && employee.hasChanges)
            #expect(employee.objectID.isTemporaryID)
            employee.name = "Ada"
            employee.age = 36
            #expect(context.insertedObjects == [employee])
            try context.save()
            #expect(employee.calls == ["awakeFromInsert", "willSave", "didSave"])
            #expect(!employee.hasChanges && !context.hasChanges)
            #expect(!employee.objectID.isTemporaryID)
            #expect(employee.name == "Ada" && employee.age == 36)
        }
        try store.reopen()
        let other = store.context()
        try other.performAndWait {
            let found = try fetchAll(Employee.self, "Employee", other)
            #expect(found.count == 1 && found[0].isFault)
            #expect(found[0].name == "Ada")
            #expect(!found[0].isFault && found[0].age == 36)
            #expect(found[0].calls == ["awakeFromFetch"])
            #expect(!found[0].hasChanges)
        }
    }

    @Test(arguments: StoreKind.allCases) func updateAndDelete(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let first = Employee(context: context)
            let second = Employee(context: context)
            first.name = "one"
            second.name = "two"
            try context.save()
            let firstID = first.objectID
            first.age = 40
            #expect(first.isUpdated && context.updatedObjects == [first])
            #expect(first.changedValues()["age"] as? Int16 == 40)
            #expect(first.committedValues(forKeys: ["age"])["age"] as? Int16 == 18)
            context.delete(second)
            #expect(second.isDeleted && second.calls.last == "prepareForDeletion")
            #expect(context.deletedObjects == [second])
            try context.save()
            #expect(second.managedObjectContext == nil && !second.isDeleted)
            #expect(context.registeredObjects.contains(first))
            let fresh = store.context()
            try fresh.performAndWait {
                let all = try fetchAll(Employee.self, "Employee", fresh)
                #expect(all.map(\.objectID) == [firstID])
                #expect(all[0].age == 40 && all[0].name == "one")
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func secondUpdateKeepsEarlierValues(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let employee = Employee(context: context)
            employee.name = "a name that is longer than fifteen bytes"
            try context.save()
            for age in 1...5 {
                employee.age = Int16(age)
                #expect(employee.committedValues(forKeys: ["age"])["age"] as? Int == (age == 1 ? 18 : age - 1))
                try context.save()
            }
            employee.name = "b"
            try context.save()
            let fresh = store.context()
            let copy = try #require(try fetchAll(Employee.self, "Employee", fresh).first)
            #expect(copy.age == 5 && copy.name == "b")
        }
    }

    @Test func changesInWillSaveAreSaved() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let employee = Employee(context: context)
            employee.ageInWillSave = 99
            try context.save()
            #expect(!employee.hasChanges)
            let fresh = store.context()
            #expect(try fetchAll(Employee.self, "Employee", fresh).first?.age == 99)
        }
    }

    @Test func insertedThenDeletedIsNeverSaved() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let employee = Employee(context: context)
            context.delete(employee)
            #expect(context.deletedObjects.isEmpty && context.insertedObjects.isEmpty && !context.hasChanges)
            let other = Employee(context: context)
            other.name = "kept"
            try context.save()
            #expect(try fetchAll(Employee.self, "Employee", context) == [other])
            #expect(employee.managedObjectContext == nil || !context.hasChanges)
        }
    }

    @Test func mandatoryPropertiesAreChecked() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let badge = insert("Badge", context)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == 1570)
            #expect(error?.validationKey == "number")
            #expect(error?.validationObject as? NSManagedObject === badge)
            #expect(badge.isInserted && badge.objectID.isTemporaryID)
            let second = insert("Badge", context)
            let several = #expect(throws: CocoaError.self) { try context.save() }
            #expect(several?.code.rawValue == 1560)
            #expect((several?.userInfo[NSDetailedErrorsKey] as? [any Error])?.count == 2)
            badge.setValue(1, forKey: "number")
            second.setValue(2, forKey: "number")
            try context.save()
            badge.setValue(nil, forKey: "number")
            let update = #expect(throws: CocoaError.self) { try context.save() }
            #expect(update?.code.rawValue == 1570)
            context.rollback()
            #expect(badge.value(forKey: "number") as? Int == 1 && !context.hasChanges)
        }
    }

    @Test func rollbackAndReset() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let employee = Employee(context: context)
            employee.name = "saved"
            try context.save()
            employee.name = "changed"
            let inserted = Employee(context: context)
            context.rollback()
            #expect(employee.name == "saved" && !context.hasChanges)
            #expect(inserted.managedObjectContext == nil)
            context.delete(employee)
            context.rollback()
            #expect(!employee.isDeleted && employee.name == "saved")
            context.reset()
            #expect(employee.managedObjectContext == nil && context.registeredObjects.isEmpty)
            #expect(try fetchAll(Employee.self, "Employee", context).first?.name == "saved")
        }
    }

    @Test func refreshBothWays() throws {
        let store = try TestStore(.memory)
        let first = store.context()
        let second = store.context()
        try first.performAndWait {
            let employee = Employee(context: first)
            employee.name = "v1"
            try first.save()
            let same = try #require(try fetchAll(Employee.self, "Employee", second).first)
            #expect(same.name == "v1")
            employee.name = "v2"
            try first.save()
            #expect(same.name == "v1")
            same.age = 77
            second.refresh(same, mergeChanges: true)
            #expect(same.name == "v2" && same.age == 77 && same.isUpdated)
            second.refresh(same, mergeChanges: false)
            #expect(same.isFault && !same.hasChanges)
            #expect(same.age == 18 && same.name == "v2")
        }
    }

    /// What was set to the value that it had counted as a change: it came back over the newest row, and the next save
    /// wrote it over what the other context had saved.
    @Test func equalAssignmentsAreNotKeptByRefreshing() throws {
        let store = try TestStore(.memory)
        let (first, second) = (store.context(), store.context())
        try first.performAndWait {
            let employee = Employee(context: first)
            employee.name = "v1"
            employee.age = 30
            try first.save()
            let same = try #require(second.object(with: employee.objectID) as? Employee)
            same.age = 30
            same.name = "mine"
            employee.age = 31
            employee.name = "v2"
            try first.save()
            second.refresh(same, mergeChanges: true)
            #expect(same.age == 31 && same.name == "mine" && Set(same.changedValues().keys) == ["name"])
            same.name = "v2"
            employee.name = "v3"
            try first.save()
            second.refresh(same, mergeChanges: true)
            #expect(same.name == "v3" && same.isUpdated && !same.hasPersistentChangedValues)
            try second.save()
            first.refresh(employee, mergeChanges: false)
            #expect(employee.name == "v3" && employee.age == 31)
        }
    }

    @Test func transientPropertiesAreNotSaved() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let manager = Manager(context: context)
            manager.setValue("Boss", forKey: "nickname")
            manager.bonus = 1.5
            try context.save()
            #expect(manager.value(forKey: "nickname") as? String == "Boss")
            let fresh = store.context()
            let copy = try #require(try fetchAll(Manager.self, "Manager", fresh).first)
            #expect(copy.value(forKey: "nickname") == nil && copy.bonus == 1.5)
        }
    }
}
