import CoreData

/// Names every symbol of Core Data's interface, so that none can vanish or change its type unnoticed. Never called.
@available(*, deprecated)
enum SurfaceCoordinatorRequests {
    static func nSPersistentStoreCoordinator() {
        _ = {
            (
                object: NSPersistentStoreCoordinator, a0: NSPersistentStoreRequest, a1: NSManagedObjectContext
            ) throws -> Any in try object.execute(a0, with: a1)
        }
    }
}
