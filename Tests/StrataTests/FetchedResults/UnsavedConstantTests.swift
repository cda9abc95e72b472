import CoreData
import Foundation
import Testing

/// Controllers whose predicate names an object that is saved later, under another ID.
@Suite struct UnsavedConstantTests {
    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var changes: [String] = []

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            changes.append("\(type) \((anObject as? Employee)?.name ?? "?")")
        }
    }

    @Test(arguments: StoreKind.allCases, ["department == %@", "NOT department != %@", "department IN {%@}"])
    func theObjectIsTheSameAfterItIsSaved(_ kind: StoreKind, _ format: String) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let department = Department(context: context)
            department.title = "new"
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.predicate = NSPredicate(format: format, department)
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let listener = Listener()
            controller.delegate = listener
            try controller.performFetch()
            try context.save()
            let employee = Employee(context: context)
            (employee.name, employee.department) = ("a", department)
            context.processPendingChanges()
            #expect(listener.changes == ["insert a"] && controller.fetchedObjects == [employee])
            try context.save()
            employee.department = nil
            context.processPendingChanges()
            #expect(listener.changes.last == "delete a" && controller.fetchedObjects == [])
            let other = Employee(context: context)
            (other.name, other.department) = ("b", department)
            try context.save()
            #expect(controller.fetchedObjects == [other])
        }
    }

    /// Objects of the kind that is looked for, which may be results themselves.
    @Test(arguments: StoreKind.allCases, ["parent != %@", "NOT (parent == %@)", "parent == %@", "parent IN {%@}"])
    func theObjectMayBeOfTheSameEntity(_ kind: StoreKind, _ format: String) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        try context.performAndWait {
            let first = Probe(context: context)
            first.name = "first"
            let request = NSFetchRequest<Probe>(entityName: "Probe")
            request.predicate = NSPredicate(format: format, argumentArray: [first])
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let listener = Listener()
            controller.delegate = listener
            try controller.performFetch()
            let second = Probe(context: context)
            second.name = "second"
            try context.save()
            context.processPendingChanges()
            second.parent = first
            try context.save()
            context.processPendingChanges()
            let expected = try context.fetch(request)
            #expect(controller.fetchedObjects == expected, "\(format)")
            first.parent = second
            context.processPendingChanges()
            #expect(controller.fetchedObjects == (try context.fetch(request)), "\(format)")
        }
    }

    @Test(arguments: StoreKind.allCases) func aPredicateIsEvaluatedBeforeAndAfterItsObjectIsSaved(
        _ kind: StoreKind
    ) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let department = Department(context: context)
            let employee = Employee(context: context)
            (employee.name, employee.department) = ("a", department)
            let predicates = [
                NSPredicate(format: "department == %@", department),
                NSPredicate(format: "department IN %@", [department]),
                NSPredicate(format: "department IN %@", Set([department])),
                NSPredicate(format: "SUBQUERY(department.employees, $e, $e.department == %@).@count == 1", department),
                NSPredicate(format: "ANY department.employees == %@", employee),
                NSPredicate(format: "%@ == department", department),
            ]
            for predicate in predicates { #expect(predicate.evaluate(with: employee), "\(predicate)") }
            try context.save()
            for predicate in predicates { #expect(predicate.evaluate(with: employee), "\(predicate)") }
            for predicate in predicates { #expect(predicate.evaluate(with: employee), "\(predicate)") }
        }
    }
}
