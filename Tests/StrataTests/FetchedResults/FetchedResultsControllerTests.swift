import CoreData
import Foundation
import Testing

/// Writes down what a controller tells.
final class ResultsRecorder: NSObject, NSFetchedResultsControllerDelegate {
    private(set) var calls: [String] = []
    private(set) weak var last: NSFetchedResultsController<any NSFetchRequestResult>?

    func takeCalls() -> [String] {
        defer { calls = [] }
        return calls
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        calls.append("will")
        last = controller
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        calls.append("did")
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let name = (anObject as? NSManagedObject)?.value(forKey: "name") ?? "?"
        calls.append("\(type) \(name) \(text(indexPath)) \(text(newIndexPath))")
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        calls.append("section \(type) \(sectionInfo.name) \(sectionIndex)")
    }

    private func text(_ path: IndexPath?) -> String { path.map { "\($0.section).\($0.row)" } ?? "-" }
}

/// Has a controller take changes.
private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
}

@Suite struct FetchedResultsControllerTests {
    private func controller(
        _ context: NSManagedObjectContext, sections: String? = nil, predicate: NSPredicate? = nil,
        cache: String? = nil
    ) -> NSFetchedResultsController<Employee> {
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        if let sections { request.sortDescriptors?.insert(NSSortDescriptor(key: sections, ascending: true), at: 0) }
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: cache)
    }

    @discardableResult
    private func add(_ name: String, age: Int16 = 18, _ context: NSManagedObjectContext) -> Employee {
        guard let employee = insert("Employee", context) as? Employee else { preconditionFailure("no employee") }
        employee.name = name
        employee.age = age
        return employee
    }

    @Test(arguments: StoreKind.allCases) func resultsAreFoundByPath(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            for (name, age) in [("b", 20), ("a", 20), ("c", 30), ("d", 30), ("e", 40)] {
                add(name, age: Int16(age), context)
            }
            try context.save()
            let results = controller(context, sections: "age")
            #expect(results.fetchedObjects == nil && results.sections == nil)
            try results.performFetch()
            #expect(results.fetchedObjects?.map(\.name) == ["a", "b", "c", "d", "e"])
            #expect(results.sections?.map(\.name) == ["20", "30", "40"])
            #expect(results.sections?.map(\.numberOfObjects) == [2, 2, 1])
            #expect(results.sections?[1].objects?.compactMap { ($0 as? Employee)?.name } == ["c", "d"])
            #expect(results.object(at: IndexPath(row: 1, section: 1)).name == "d")
            let last = try #require(results.fetchedObjects?.last)
            #expect(results.indexPath(forObject: last) == IndexPath(item: 0, section: 2))
            #expect(results.indexPath(forObject: add("z", context)) == nil)
            #expect(results.sectionIndexTitles == ["2", "3", "4"])
            #expect(results.sections?[2].indexTitle == "4")
            #expect(results.section(forSectionIndexTitle: "3", at: 1) == 1)
            #expect(results.sectionIndexTitle(forSectionName: "xyz") == "X")
            #expect(results.sectionNameKeyPath == "age" && results.managedObjectContext === context)
        }
    }

    @Test(arguments: StoreKind.allCases) func withoutSectionsThereIsOne(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let results = controller(context)
            try results.performFetch()
            #expect(results.sections?.count == 1)
            #expect(results.sections?.first?.numberOfObjects == 0)
            let sectioned = controller(context, sections: "age")
            try sectioned.performFetch()
            #expect(sectioned.sections?.isEmpty == true)
        }
    }

    @Test(arguments: StoreKind.allCases) func changesAreToldInOrder(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let employees = ["a", "b", "c", "d"].map { add($0, context) }
            try context.save()
            let results = controller(context, predicate: NSPredicate(format: "age < 100"))
            let recorder = ResultsRecorder()
            results.delegate = recorder
            try results.performFetch()
            #expect(recorder.takeCalls() == [])
            employees[0].age = 50
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "update a 0.0 0.0", "did"])
            #expect(try #require(recorder.last) == results)
            #expect(recorder.last === results)
            employees[0].name = "x"
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "move x 0.0 0.3", "did"])
            employees[1].age = 100
            let new = add("bb", context)
            context.delete(employees[3])
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "delete d 0.2 -", "delete b 0.0 -", "insert bb - 0.0", "did"])
            #expect(results.fetchedObjects?.map(\.name) == ["bb", "c", "x"])
            try context.save()
            #expect(recorder.takeCalls() == [])
            employees[1].age = 1
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "insert b - 0.0", "did"])
            #expect(results.indexPath(forObject: new) == IndexPath(row: 1, section: 0))
            context.rollback()
            #expect(recorder.takeCalls() == ["will", "delete b 0.0 -", "did"])
        }
    }

    @Test(arguments: StoreKind.allCases) func sectionsComeAndGo(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let employees = [("a", 20), ("b", 30), ("c", 30)].map { add($0.0, age: $0.1, context) }
            try context.save()
            let results = controller(context, sections: "age")
            let recorder = ResultsRecorder()
            results.delegate = recorder
            try results.performFetch()
            employees[0].age = 40
            context.processPendingChanges()
            #expect(
                recorder.takeCalls() == [
                    "will", "section insert 40 1", "move a 0.0 1.0", "section delete 20 0", "did",
                ])
            add("d", age: 25, context)
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "section insert 25 0", "insert d - 0.0", "did"])
            context.delete(employees[0])
            context.processPendingChanges()
            #expect(recorder.takeCalls() == ["will", "delete a 2.0 -", "section delete 40 2", "did"])
            #expect(results.sections?.map(\.name) == ["25", "30"])
        }
    }

    @Test(arguments: StoreKind.allCases) func otherContextsAreMergedIn(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let editor = store.context()
        context.automaticallyMergesChangesFromParent = true
        let recorder = ResultsRecorder()
        let results = controller(context)
        try context.performAndWait { () throws in
            for name in ["b", "c"] { add(name, context) }
            try context.save()
            results.delegate = recorder
            try results.performFetch()
        }
        try editor.performAndWait { () throws in
            let all = try fetchAll(Employee.self, "Employee", editor, sort: "name")
            all[0].name = "z"
            editor.delete(all[1])
            add("a", editor)
            try editor.save()
        }
        context.performAndWait {
            // The deleted object was a fault, which has no values any more.
            let calls = recorder.takeCalls().map { $0.replacingOccurrences(of: "delete c", with: "delete ") }
            #expect(calls == ["will", "delete ? 0.1 -", "insert a - 0.0", "update z 0.0 0.1", "did"])
            #expect(results.fetchedObjects?.map(\.name) == ["a", "z"])
        }
    }

    /// Nobody holds the object between the two calls; where there is an autorelease pool it lives long enough.
    @Test(arguments: StoreKind.allCases) func anUpdatedObjectThatWasTouchedBeforeAMergeIsInserted(
        _ kind: StoreKind
    ) throws {
        let store = try TestStore(kind)
        let (context, editor) = (store.context(), store.context())
        let recorder = ResultsRecorder()
        let results = controller(context, predicate: NSPredicate(format: "age > 20"))
        try editor.performAndWait { () throws in
            add("a", age: 18, editor)
            try editor.save()
        }
        try context.performAndWait { () throws in
            results.delegate = recorder
            try results.performFetch()
        }
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: editor, queue: nil
        ) { notification in
            context.performAndWait {
                for object in notification.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? [] {
                    context.object(with: object.objectID).willAccessValue(forKey: nil)
                }
                context.mergeChanges(fromContextDidSave: notification)
            }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try editor.performAndWait { () throws in
            try fetchAll(Employee.self, "Employee", editor, sort: "name").first?.age = 30
            try editor.save()
        }
        context.performAndWait { #expect(recorder.takeCalls() == ["will", "insert a - 0.0", "did"]) }
    }

    enum Merge: CaseIterable { case notification, automatic, batch, child }

    /// Nobody holds the object: the controller looks whether it has come to match.
    @Test(arguments: StoreKind.allCases, Merge.allCases) func anObjectThatOthersMakeMatchComesIn(
        _ kind: StoreKind, _ merge: Merge
    ) throws {
        let store = try TestStore(kind)
        let (parent, editor) = (store.context(), store.context())
        let context = merge == .child ? NSManagedObjectContext(.privateQueue) : parent
        if merge == .child { context.parent = parent }
        try editor.performAndWait { () throws in
            for (name, age) in [("a", 18), ("b", 18), ("c", 30)] { add(name, age: Int16(age), editor) }
            try editor.save()
        }
        let recorder = ResultsRecorder()
        let results = controller(context, predicate: NSPredicate(format: "age > 20"))
        for each in [parent, context] {
            each.performAndWait { each.automaticallyMergesChangesFromParent = merge == .automatic || merge == .child }
        }
        try context.performAndWait { () throws in
            results.delegate = recorder
            try results.performFetch()
        }
        let saved = SaveRecorder(.NSManagedObjectContextDidSave, editor)
        try editor.performAndWait { () throws in
            if merge == .batch {
                let update = NSBatchUpdateRequest(entityName: "Employee")
                update.predicate = NSPredicate(format: "name < 'c'")
                update.propertiesToUpdate = ["age": 25]
                update.resultType = .updatedObjectIDsResultType
                let result = try editor.execute(update) as? NSBatchUpdateResult
                let ids = try #require(result?.result as? [NSManagedObjectID])
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [context])
            } else {
                try fetchAll(Employee.self, "Employee", editor, sort: "name").forEach { $0.age = 25 }
                try editor.save()
            }
        }
        if merge == .notification {
            let notification = Notification(
                name: .NSManagedObjectContextDidSave, object: editor, userInfo: saved.infos.last)
            context.performAndWait { context.mergeChanges(fromContextDidSave: notification) }
        }
        // What merges by itself does so on its queue.
        parent.performAndWait {}
        context.performAndWait {
            #expect(results.fetchedObjects?.map(\.name) == ["a", "b", "c"])
            #expect(recorder.takeCalls().contains("insert a - 0.0"))
        }
        // Whose delegate has gone follows nothing.
        try context.performAndWait { () throws in
            results.delegate = nil
            results.fetchRequest.predicate = NSPredicate(format: "age > 50")
            try results.performFetch()
        }
        try editor.performAndWait { () throws in
            try fetchAll(Employee.self, "Employee", editor, sort: "name").forEach { $0.age = 60 }
            try editor.save()
        }
        parent.performAndWait {}
        context.performAndWait { #expect(results.fetchedObjects == []) }
    }

    @Test(arguments: StoreKind.allCases) func whatOthersMakeMatchStaysOutOfAWindow(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (context, editor) = (store.context(), store.context())
        let recorder = ResultsRecorder()
        let window = controller(context, predicate: NSPredicate(format: "age > 20"))
        window.fetchRequest.fetchLimit = 1
        try editor.performAndWait { () throws in
            for (name, age) in [("a", 18), ("b", 30), ("c", 30)] { add(name, age: Int16(age), editor) }
            try editor.save()
        }
        try context.performAndWait { () throws in
            window.delegate = recorder
            try window.performFetch()
            context.automaticallyMergesChangesFromParent = true
        }
        try editor.performAndWait { () throws in
            try fetchAll(Employee.self, "Employee", editor, sort: "name").forEach { $0.age = 40 }
            try editor.save()
        }
        context.performAndWait { #expect(window.fetchedObjects?.map(\.name) == ["b"]) }
    }

    @Test(arguments: StoreKind.allCases) func withoutDelegateNothingIsFollowed(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let results = controller(context)
            try results.performFetch()
            add("a", context)
            context.processPendingChanges()
            #expect(results.fetchedObjects?.isEmpty == true)
            try results.performFetch()
            #expect(results.fetchedObjects?.count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases) func resultsAreStillTheOldOnesBeforeTheyChange(_ kind: StoreKind) throws {
        final class Counts: NSObject, NSFetchedResultsControllerDelegate {
            var before: [Int?] = []
            var after: [Int?] = []
            func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
                before.append(controller.fetchedObjects?.count)
                before.append(controller.sections?.count)
            }
            func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
                at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
            ) {
                after.append(controller.fetchedObjects?.count)
            }
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
                after.append(controller.sections?.count)
            }
        }
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let employee = add("a", context)
            let results = controller(context, sections: "age", predicate: NSPredicate(format: "age > '10'"))
            let counts = Counts()
            results.delegate = counts
            try results.performFetch()
            add("b", age: 19, context)
            context.processPendingChanges()
            #expect(counts.before == [1, 1] && counts.after == [2, 2])
            #expect(results.fetchedObjects?.count == 2 && results.indexPath(forObject: employee)?.section == 0)
        }
    }

    @Test(arguments: StoreKind.allCases) func aSnapshotOrADifferenceTakesThePlaceOfCalls(_ kind: StoreKind) throws {
        final class Snapshots: NSObject, NSFetchedResultsControllerDelegate {
            var seen: [[String]] = []
            var items = 0
            var others = 0
            func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
                didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
            ) {
                seen.append(snapshot.sectionIdentifiers.compactMap { $0 as? String })
                items = snapshot.itemIdentifiers.count
                #expect(snapshot.itemIdentifiers.allSatisfy { $0 is NSManagedObjectID })
            }
            func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
                others += 1
            }
        }
        final class Differences: NSObject, NSFetchedResultsControllerDelegate {
            var ids: [NSManagedObjectID] = []
            var others = 0
            func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
                didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
            ) {
                ids = ids.applying(diff) ?? []
            }
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
                others += 1
            }
        }
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let sectioned = controller(context, sections: "age")
            let snapshots = Snapshots()
            sectioned.delegate = snapshots
            try sectioned.performFetch()
            let flat = controller(context)
            let differences = Differences()
            flat.delegate = differences
            try flat.performFetch()
            let employees = ["m", "a", "z"].map { add($0, context) }
            try context.obtainPermanentIDs(for: employees)
            context.processPendingChanges()
            #expect(differences.ids == flat.fetchedObjects?.map(\.objectID))
            employees[2].name = "b"
            employees[0].age = 50
            context.processPendingChanges()
            #expect(differences.ids == flat.fetchedObjects?.map(\.objectID))
            #expect(snapshots.seen == [[], ["18"], ["18", "50"]] && snapshots.items == 3)
            #expect(snapshots.others == 0 && differences.others == 0)
        }
    }

    @Test(arguments: StoreKind.allCases) func aSnapshotComesAgainWhenASaveMakesItsIDsPermanent(_ kind: StoreKind) throws
    {
        final class Snapshots: NSObject, NSFetchedResultsControllerDelegate {
            var seen: [[NSManagedObjectID]] = []
            func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
                didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
            ) {
                seen.append(snapshot.itemIdentifiers.compactMap { $0 as? NSManagedObjectID })
            }
        }
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let results = controller(context)
            let snapshots = Snapshots()
            results.delegate = snapshots
            try results.performFetch()
            let employees = ["m", "a"].map { add($0, context) }
            context.processPendingChanges()
            #expect(snapshots.seen.count == 2 && snapshots.seen[1].allSatisfy(\.isTemporaryID))
            try context.save()
            #expect(snapshots.seen.count == 3)
            #expect(snapshots.seen.last == [employees[1].objectID, employees[0].objectID])
            #expect(snapshots.seen.last?.contains { $0.isTemporaryID } == false)
            // Nothing is temporary any more: a save without changes to the results tells nothing.
            try context.save()
            #expect(snapshots.seen.count == 3)
            employees[0].name = "b"
            try context.save()
            #expect(snapshots.seen.count == 4)
        }
    }

    @Test(arguments: StoreKind.allCases) func sectionsMayFollowTransientAndRelatedProperties(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let department = try #require(insert("Department", context) as? Department)
            department.title = "dep"
            let first = add("a", context)
            first.department = department
            add("b", context)
            first.setValue("nick", forKey: "nickname")
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            for (path, names) in [("department.title", ["dep", ""]), ("nickname", ["nick", ""])] {
                let results = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: path, cacheName: nil)
                try results.performFetch()
                #expect(results.sections?.map(\.name) == names)
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func sectionsOutOfOrderAreRefused(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            for (name, age) in [("a", 1), ("b", 2), ("c", 1)] { add(name, age: Int16(age), context) }
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "age", cacheName: nil)
            let error = #expect(throws: CocoaError.self) { try results.performFetch() }
            #expect(error?.code == .coreData)
        }
    }

    @Test func theSectionCacheSparesReading() throws {
        let store = try TestStore(.log)
        let context = store.context()
        let name = UUID().uuidString
        defer { NSFetchedResultsController<Employee>.deleteCache(withName: name) }
        try context.performAndWait { () throws in
            for (name, age) in [("a", 1), ("b", 1), ("c", 2)] { add(name, age: Int16(age), context) }
            try context.save()
            context.reset()
            for round in 0..<3 {
                if round == 2 { NSFetchedResultsController<Employee>.deleteCache(withName: name) }
                let results = controller(context, sections: "age", cache: name)
                try results.performFetch()
                #expect(results.sections?.map(\.numberOfObjects) == [2, 1])
                #expect(results.fetchedObjects?.allSatisfy(\.isFault) == (round == 1))
                context.reset()
            }
            let editor = store.context()
            try editor.performAndWait { () throws in
                add("d", age: 3, editor)
                try editor.save()
            }
            let results = controller(context, sections: "age", cache: name)
            try results.performFetch()
            #expect(results.sections?.map(\.name) == ["1", "2", "3"])
        }
    }

    @Test(.timeLimit(.minutes(20))) func changesComeAsASequence() async throws {
        let store = try TestStore(.memory)
        let context = store.context()
        var results: NSFetchedResultsController<Employee>? = controller(context)
        try context.performAndWait { try results?.performFetch() }
        let stream = try #require(results?.changes)
        try context.performAndWait { () throws in
            add("b", context)
            try context.save()
            add("a", context)
            try context.save()
        }
        results = nil
        var paths: [[IndexPath?]] = []
        for await difference in stream { paths.append(difference.objects.map(\.newIndexPath)) }
        #expect(paths == [[IndexPath(row: 0, section: 0)], [IndexPath(row: 0, section: 0)]])
    }

    @Test(arguments: StoreKind.allCases) func anyResultTypeWillDo(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            add("a", context)
            try context.save()
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let recorder = ResultsRecorder()
            results.delegate = recorder
            try results.performFetch()
            #expect((results.fetchedObjects?.first as? Employee)?.name == "a")
            add("b", context)
            context.processPendingChanges()
            #expect(recorder.last === results)
            #expect(recorder.takeCalls() == ["will", "insert b - 0.1", "did"])
            context.reset()
            add("c", context)
            context.processPendingChanges()
            #expect(recorder.takeCalls() == [])
            try results.performFetch()
            #expect(results.fetchedObjects?.count == 2)
        }
    }

    /// A controller that took a change sorted what is not a number behind null, which stores count as the same.
    @Test(arguments: StoreKind.allCases, ["double", "decimal"])
    func notANumberSortsAsNull(_ kind: StoreKind, _ key: String) throws {
        let store = try TestStore(kind, GraphModel.everything())
        let context = store.context()
        try context.performAndWait {
            let things = (0..<4).map { insert("Thing", context).set(["int64": $0]) }
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.sortDescriptors = [
                NSSortDescriptor(key: key, ascending: true), NSSortDescriptor(key: "int64", ascending: true),
            ]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let listener = Listener()
            controller.delegate = listener
            try controller.performFetch()
            let nan: Any = key == "decimal" ? NSDecimalNumber.notANumber : Double.nan
            things[0].setValue(nan, forKey: key)
            things[2].setValue(nan, forKey: key)
            things[1].setValue(-1, forKey: key)
            context.processPendingChanges()
            let expected = [0, 2, 3, 1]
            #expect(controller.fetchedObjects?.map { $0.value(forKey: "int64") as? Int } == expected)
            #expect(try context.fetch(request).map { $0.value(forKey: "int64") as? Int } == expected)
            try context.save()
            #expect(try context.fetch(request).map { $0.value(forKey: "int64") as? Int } == expected)
        }
    }
}
