import CoreData
import Foundation
import Testing

/// `observe(_:options:changeHandler:)` of objects and contexts.
@Suite struct KeyValueObservingTests {
    @Test(arguments: StoreKind.allCases) func settersOfEveryKindAreTold(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let person = Employee(context: context)
            let department = Department(context: context)
            try context.save()
            var seen: [String] = []
            let observations = [
                person.observe(\.name, options: [.old, .new]) { object, change in
                    // The new value can be read by now.
                    seen.append("\(change.oldValue ?? "nil")>\(change.newValue ?? "nil") \(object.name)")
                },
                person.observe(\.department) { object, change in
                    seen.append("department \(object.department != nil) \(change.newValue == nil)")
                },
                department.observe(\.employees, options: .new) { _, change in
                    seen.append("employees \(change.newValue?.count ?? -1)")
                },
            ]
            person.name = "a"
            person.name = "b"
            person.setValue("c", forKey: "name")
            person.age = 3
            #expect(seen == [">a a", "a>b b", "b>c c"])
            seen = []
            person.department = department
            #expect(Set(seen) == ["department true true", "employees 1"] && seen.count == 2)
            seen = []
            department.employees = []
            #expect(Set(seen) == ["department false true", "employees 0"] && seen.count == 2)
            seen = []
            person.willChangeValue(forKey: "name")
            person.setPrimitiveValue("d", forKey: "name")
            person.didChangeValue(forKey: "name")
            #expect(seen == ["c>d d"])
            seen = []
            person.willChangeValue(forKey: "name")
            person.name = "e"
            person.didChangeValue(forKey: "name")
            #expect(seen == ["d>e e"])
            seen = []
            for observation in observations { observation.invalidate() }
            person.name = "f"
            #expect(seen.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases) func refreshesAndMergesAreTold(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let other = store.context()
        try context.performAndWait {
            let person = Employee(context: context)
            person.name = "a"
            try context.save()
            var seen: [String] = []
            let observation = person.observe(\.name, options: [.old, .new]) { _, change in
                seen.append("\(change.oldValue ?? "nil")>\(change.newValue ?? "nil")")
            }
            let saves = SaveNotifications(other)
            (other.object(with: person.objectID) as? Employee)?.name = "b"
            try other.save()
            for notification in saves.all { context.mergeChanges(fromContextDidSave: notification) }
            #expect(seen == ["a>b"])
            context.refresh(person, mergeChanges: true)
            #expect(seen == ["a>b"], "nothing has changed")
            person.name = "c"
            context.rollback()
            #expect(seen == ["a>b", "b>c", "c>b"])
            withExtendedLifetime(observation) {}
        }
    }

    @Test(arguments: StoreKind.allCases) func undoIsTold(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        context.performAndWait {
            context.undoManager = UndoManager()
            let person = Employee(context: context)
            context.processPendingChanges()
            var names: [String] = []
            let observation = person.observe(\.name, options: .new) { _, change in names.append(change.newValue ?? "") }
            person.name = "a"
            context.processPendingChanges()
            context.undo()
            #expect(names == ["a", ""])
            withExtendedLifetime(observation) {}
        }
    }

    @Test(arguments: StoreKind.allCases) func optionsSayWhatIsTold(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        context.performAndWait {
            let person = Employee(context: context)
            person.name = "a"
            var seen: [String] = []
            func note(_ change: NSKeyValueObservedChange<String>) {
                seen.append("\(change.oldValue ?? "-") \(change.newValue ?? "-") \(change.isPrior)")
                #expect(change.kind == .setting && change.indexes == nil)
            }
            var observation: NSKeyValueObservation? = person.observe(\.name, options: [.initial, .new]) { note($1) }
            #expect(seen == ["- a false"])
            observation = person.observe(\.name, options: [.prior, .old]) { note($1) }
            person.name = "b"
            #expect(seen == ["- a false", "a - true", "a - false"])
            // What is released has ended.
            observation = nil
            person.name = "c"
            #expect(seen.count == 3 && observation == nil)
        }
    }

    @Test(arguments: StoreKind.allCases) func observationsKeepNothing(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let entity = try #require(store.model.entitiesByName["Employee"])
        let context = store.context()
        context.performAndWait {
            weak var weakly: Employee?
            var observation: NSKeyValueObservation?
            do {
                let person = Employee(entity: entity, insertInto: nil)
                weakly = person
                observation = person.observe(\.name) { _, _ in }
            }
            #expect(weakly == nil)
            observation?.invalidate()
        }
    }

    @Test(arguments: StoreKind.allCases) func aContextsChangesAreTold(_ kind: StoreKind) throws {
        let store = try TestStore(kind, CompilingModel.model)
        let context = store.context()
        try context.performAndWait {
            var seen: [Bool?] = []
            let observation = CompilingStrata.changes(of: context) { seen.append($0) }
            var counts: [Int] = []
            let inserted = context.observe(\.insertedObjects, options: [.new, .initial]) { _, change in
                counts.append(change.newValue?.count ?? -1)
            }
            let place = CompilingPlace(context: context)
            #expect(seen == [true])
            place.title = "a"
            #expect(seen == [true])
            try context.save()
            #expect(seen == [true, false])
            place.title = "b"
            #expect(seen == [true, false, true])
            context.rollback()
            #expect(seen == [true, false, true, false])
            context.delete(place)
            context.reset()
            #expect(seen == [true, false, true, false, true, false])
            #expect(counts == [0, 1, 0])
            observation.invalidate()
            _ = CompilingPlace(context: context)
            #expect(seen.count == 6 && counts.last == 1)
            inserted.invalidate()
        }
    }

    @Test(arguments: StoreKind.allCases) func typedAccessorsByHandAreTold(_ kind: StoreKind) throws {
        let store = try TestStore(kind, CompilingModel.model)
        let context = store.context()
        context.performAndWait {
            let place = CompilingPlace(context: context)
            var seen: [String] = []
            let observation = CompilingStrata.observe(place) { seen.append("\($0 ?? "nil")>\($1 ?? "nil")") }
            place.title = "a"
            place.title = nil
            #expect(seen == ["nil>a", "a>nil"])
            observation.invalidate()
        }
    }

    @Test func whatIsNoPropertyIsRefused() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try TestStore(.memory)
            let context = store.context()
            context.performAndWait { _ = Employee(context: context).observe(\.calls) { _, _ in } }
        }
    }
}
