import CoreData
import Foundation
import Testing

/// What thousands of contexts and controllers cost each other: nothing. Each that came looked through all before.
@Suite struct SweptListTests {
    /// How long the first and the last thousand of many calls take.
    private func compare(_ count: Int, _ text: String, _ body: (Int) throws -> Void) rethrows {
        let clock = ContinuousClock()
        var times: [Duration] = []
        for start in stride(from: 0, to: count, by: 1_000) {
            times.append(try clock.measure { for number in start..<start + 1_000 { try body(number) } })
        }
        // Half of them, so that whoever else uses the processor disturbs both.
        let half = times.count / 2
        let (early, late) = (times[..<half].sorted()[half / 2], times[half...].sorted()[half / 2])
        #expect(late < early * 4 + .milliseconds(5), "\(text): \(times)")
    }

    @Test func contextsThatMergeTakeTheSameTimeHoweverManyThereAre() throws {
        let store = try TestStore(.memory)
        var contexts: [NSManagedObjectContext] = []
        compare(12_000, "contexts") { _ in
            let context = store.shortLivedContext()
            context.automaticallyMergesChangesFromParent = true
            contexts.append(context)
        }
        contexts.removeAll()
        // Those that have gone are in nobody's way.
        compare(4_000, "contexts that go") { _ in
            store.shortLivedContext().automaticallyMergesChangesFromParent = true
        }
    }

    @Test func childrenTakeTheSameTimeHoweverManyThereAre() throws {
        let store = try TestStore(.memory)
        let parent = store.context()
        var children: [NSManagedObjectContext] = []
        compare(8_000, "children") { _ in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = parent
            children.append(child)
        }
        compare(8_000, "children that leave") { number in children[number].parent = nil }
        compare(4_000, "children that go") { _ in NSManagedObjectContext(.privateQueue).parent = parent }
    }

    @Test func followersTakeTheSameTimeHoweverManyThereAre() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let recorder = ResultsRecorder()
        try context.performAndWait {
            var controllers: [NSFetchedResultsController<NSManagedObject>] = []
            try compare(6_000, "controllers") { _ in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
                controller.delegate = recorder
                try controller.performFetch()
                controllers.append(controller)
            }
            compare(6_000, "controllers that leave") { number in controllers[number].delegate = nil }
        }
    }

    /// Whoever is there hears of a save, once, whatever came and went before.
    @Test(arguments: StoreKind.allCases) func everyoneHearsOnce(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (writer, kept) = (store.context(), store.context())
        kept.automaticallyMergesChangesFromParent = true
        for number in 0..<100 {
            let context = store.shortLivedContext()
            context.automaticallyMergesChangesFromParent = true
            if number % 10 == 0 {
                kept.automaticallyMergesChangesFromParent = false
                kept.automaticallyMergesChangesFromParent = true
            }
        }
        let id = try writer.performAndWait {
            let employee = Employee(context: writer)
            employee.name = "first"
            try writer.save()
            return employee.objectID
        }
        let employee = try kept.performAndWait { try #require(kept.existingObject(with: id) as? Employee) }
        let merges = LockedBox(0)
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: kept, queue: nil
        ) { _ in merges.change { $0 += 1 } }
        try writer.performAndWait {
            (writer.object(with: id) as? Employee)?.name = "second"
            try writer.save()
        }
        kept.performAndWait { #expect(employee.name == "second") }
        NotificationCenter.default.removeObserver(token)
        #expect(merges.value == 1)
    }

    @Test(arguments: StoreKind.allCases) func childrenHearUntilTheyLeave(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let parent = store.context()
        let children = (0..<40).map { _ in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = parent
            child.automaticallyMergesChangesFromParent = true
            return child
        }
        for child in children.prefix(20) { child.parent = nil }
        let employee = try parent.performAndWait {
            let employee = Employee(context: parent)
            employee.name = "first"
            try parent.save()
            return employee
        }
        let id = employee.objectID
        for child in children.dropFirst(20) {
            try child.performAndWait {
                let copy = try child.existingObject(with: id) as? Employee
                #expect(copy?.name == "first")
            }
        }
        let copies = try children.dropFirst(20).map { child in
            try child.performAndWait { try #require(child.existingObject(with: id) as? Employee) }
        }
        try parent.performAndWait {
            employee.name = "second"
            try parent.save()
        }
        for copy in copies { copy.managedObjectContext?.performAndWait { #expect(copy.name == "second") } }
    }
}
