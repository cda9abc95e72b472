import CoreData
import Foundation
import Testing

/// What Core Data's reference says of `NSFetchedResultsController`, where no other suite says it.
@Suite struct ResultsControllerReferenceTests {
    private func filled(_ kind: StoreKind, _ names: [String]) throws -> (TestStore, NSManagedObjectContext) {
        let store = try TestStore(kind)
        let context = store.context()
        try context.check { () throws in
            for name in names { Employee(context: context).name = name }
            try context.save()
        }
        return (store, context)
    }

    private func controller(
        _ context: NSManagedObjectContext, sections: String? = nil
    ) -> NSFetchedResultsController<Employee> {
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
    }

    /// "No tracking: the delegate is set to nil"; it is followed as soon as there is one.
    @Test(arguments: StoreKind.allCases) func aDelegateBeginsAndEndsTracking(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, ["a"])
        try context.check { () throws in
            let results = controller(context)
            try results.performFetch()
            let recorder = ResultsRecorder()
            results.delegate = recorder
            Employee(context: context).name = "b"
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "insert b - 0.1", "did"])
            #expect(results.fetchedObjects?.map(\.name) == ["a", "b"])
            results.delegate = nil
            Employee(context: context).name = "c"
            context.processPendingChanges()
            #expect(recorder.takeCalls() == [] && results.fetchedObjects?.count == 2)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func performingTheFetchAgainTellsNobody(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, ["a", "b", "c"])
        try context.check { () throws in
            let results = controller(context)
            let recorder = ResultsRecorder()
            results.delegate = recorder
            try results.performFetch()
            results.fetchRequest.predicate = NSPredicate(format: "name > 'a'")
            try results.performFetch()
            #expect(results.fetchedObjects?.map(\.name) == ["b", "c"] && recorder.takeCalls() == [])
            let employee = Employee(context: context)
            employee.name = "A"
            context.processPendingChanges()
            #expect(recorder.takeCalls() == [])
            employee.name = "d"
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "insert d - 0.2", "did"])
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func refreshedObjectsAreUpdates(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, ["a", "b"])
        let other = store.context()
        try context.check { () throws in
            let results = controller(context)
            let recorder = ResultsRecorder()
            results.delegate = recorder
            try results.performFetch()
            let all = try #require(results.fetchedObjects)
            try other.check { () throws in
                (try other.existingObject(with: all[1].objectID) as? Employee)?.age = 70
                try other.save()
            }
            context.refresh(all[1], mergeChanges: true)
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "update b 0.1 0.1", "did"])
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func indexTitlesAreCapitalFirstLetters(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, ["apple", "pear", "plum", "éclair"])
        try context.check { () throws in
            let results = controller(context, sections: "name")
            try results.performFetch()
            #expect(results.sections?.map(\.name) == ["apple", "pear", "plum", "éclair"])
            #expect(results.sections?.map(\.indexTitle) == ["A", "P", "P", "É"])
            #expect(results.sectionIndexTitles == ["A", "P", "É"])
            #expect(results.section(forSectionIndexTitle: "P", at: 1) == 1)
            #expect(results.section(forSectionIndexTitle: "É", at: 2) == 3)
        }
        withExtendedLifetime(store) {}
    }

    /// A thread that is not the context's has it run in its turn.
    @Test(arguments: StoreKind.allCases) func performFetchRunsOnTheContextsQueue(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, ["a", "b"])
        nonisolated(unsafe) let results = controller(context, sections: "name")
        nonisolated(unsafe) var (isBusy, wasBusy) = (false, false)
        results.fetchRequest.predicate = NSPredicate { _, _ in
            if isBusy { wasBusy = true }
            return true
        }
        let started = DispatchSemaphore(value: 0)
        context.perform {
            isBusy = true
            started.signal()
            usleep(20_000)
            isBusy = false
        }
        started.wait()
        nonisolated(unsafe) var failure: (any Error)?
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do { try results.performFetch() } catch { failure = error }
            done.signal()
        }
        done.wait()
        #expect(failure == nil && !wasBusy)
        context.performAndWait {
            #expect(results.fetchedObjects?.map(\.name) == ["a", "b"] && results.sections?.count == 2)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func anEmptyOrderIsOne(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.check { () throws in
            for name in ["b", "a"] {
                Employee(context: context).name = name
                try context.save()
            }
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.sortDescriptors = []
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let recorder = ResultsRecorder()
            results.delegate = recorder
            try results.performFetch()
            let all = try #require(results.fetchedObjects)
            #expect(Set(all.map(\.name)) == ["a", "b"])
            let new = Employee(context: context)
            new.name = "c"
            context.processPendingChanges()
            #expect(recorder.takeCalls().count == 3 && results.fetchedObjects?.count == 3)
            context.delete(all[0])
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "delete \(all[0].name) 0.0 -", "did"])
        }
    }

    /// The section that the delegate is told of is as it is after the change: one that goes has no objects any more.
    @Test(arguments: StoreKind.allCases) func aSectionThatGoesIsEmpty(_ kind: StoreKind) throws {
        final class Sections: NSObject, NSFetchedResultsControllerDelegate {
            var told: [String] = []
            func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
                didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
                for type: NSFetchedResultsChangeType
            ) {
                let count = sectionInfo.objects?.count ?? -1
                told.append("\(type) \(sectionInfo.name) \(sectionInfo.numberOfObjects) \(count)")
            }
        }
        let (store, context) = try filled(kind, ["a", "b"])
        try context.check { () throws in
            let results = controller(context, sections: "name")
            let sections = Sections()
            results.delegate = sections
            try results.performFetch()
            let all = try #require(results.fetchedObjects)
            context.delete(all[0])
            all[1].name = "c"
            context.processPendingChanges()
            #expect(sections.told.sorted() == ["delete a 0 0", "delete b 0 0", "insert c 1 1"])
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func aControllerOfAChildFollowsIt(_ kind: StoreKind) throws {
        let line = try ContextLine(kind)
        try line.root.check { () throws in Employee(context: line.root).name = "unsaved" }
        try line.child.check { () throws in
            let results = controller(line.child)
            let recorder = ResultsRecorder()
            results.delegate = recorder
            try results.performFetch()
            #expect(results.fetchedObjects?.map(\.name) == ["unsaved"])
            Employee(context: line.child).name = "child's"
            line.child.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "insert child's - 0.0", "did"])
            try line.child.save()
            #expect(recorder.takeCalls() == [])
        }
    }

    /// "The value of the property is nil if performFetch() hasn't been called."
    @Test(arguments: StoreKind.allCases) func beforeTheFetchThereIsNothing(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, ["a"])
        try context.check { () throws in
            let results = controller(context, sections: "name")
            #expect(results.fetchedObjects == nil && results.managedObjectContext === context)
            let employee = try #require(try fetchAll(Employee.self, "Employee", context).first)
            #expect(results.indexPath(forObject: employee) == nil)
            try results.performFetch()
            #expect(results.indexPath(forObject: employee) == IndexPath(item: 0, section: 0))
            #expect(results.object(at: IndexPath(item: 0, section: 0)) === employee)
            let other = Employee(context: context)
            #expect(results.indexPath(forObject: other) == nil)
            NSFetchedResultsController<Employee>.deleteCache(withName: nil)
        }
        withExtendedLifetime(store) {}
    }

    /// "A move is reported when the changed attribute on the object is one of the sort descriptors used in the fetch
    /// request. An update of the object is assumed in this case, but no separate update message is sent."
    @Test(arguments: StoreKind.allCases) func aMoveIsAnUpdateToo(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, ["a", "b", "c"])
        try context.check { () throws in
            let results = controller(context)
            let recorder = ResultsRecorder()
            results.delegate = recorder
            try results.performFetch()
            let all = try #require(results.fetchedObjects)
            all[0].name = "d"
            all[0].age = 33
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "move d 0.0 0.2", "did"])
            all[1].age = 33
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "update b 0.0 0.0", "did"])
            // What a related object changes is not the results' business.
            let department = Department(context: context)
            all[1].department = department
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "update b 0.0 0.0", "did"])
            department.title = "t"
            context.processPendingChanges()
            #expect(recorder.takeCalls() == [])
        }
        withExtendedLifetime(store) {}
    }

    /// An object that no longer meets the predicate goes, one that does now comes.
    @Test(arguments: StoreKind.allCases) func thePredicateDecidesWhoComesAndGoes(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, ["a", "b", "c"])
        try context.check { () throws in
            let results = controller(context)
            results.fetchRequest.predicate = NSPredicate(format: "age < 30")
            let recorder = ResultsRecorder()
            results.delegate = recorder
            try results.performFetch()
            let all = try #require(results.fetchedObjects)
            all[1].age = 40
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "delete b 0.1 -", "did"])
            all[1].age = 20
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "insert b - 0.1", "did"])
            context.rollback()
            #expect(results.fetchedObjects?.map(\.name) == ["a", "b", "c"])
            try context.save()
            context.delete(all[0])
            try context.save()
            #expect(recorder.takeCalls().contains("delete a 0.0 -"))
            #expect(results.fetchedObjects?.map(\.name) == ["b", "c"])
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func theOnlySectionHasNoName(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, ["a"])
        try context.check { () throws in
            let results = controller(context)
            try results.performFetch()
            #expect(results.sections?.map(\.name) == [""] && results.sectionIndexTitles == [])
            #expect(results.cacheName == nil && results.sectionNameKeyPath == nil)
        }
        withExtendedLifetime(store) {}
    }
}
