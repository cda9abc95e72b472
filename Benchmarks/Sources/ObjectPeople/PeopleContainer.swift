import BenchSupport
import DataSet
import Strata

/// Containers over the data set's model.
enum PeopleContainer {
    static func load(
        _ store: NSPersistentStoreDescription, _ model: NSManagedObjectModel
    ) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "People", managedObjectModel: model)
        container.persistentStoreDescriptions = [store]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }

    /// Inserts and saves all departments. Call it on the context's queue.
    static func insertDepartments(_ context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        let departments = (1...PersonRow.departmentCount).map { number in
            let department = Department(context: context)
            department.number = Int32(number)
            department.name = departmentName(number)
            return department
        }
        try context.save()
        return departments.map(\.objectID)
    }
}
