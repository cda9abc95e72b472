import CoreData

/// Names every symbol of Core Data's interface, so that none can vanish or change its type unnoticed. Never called.
@available(*, deprecated)
enum SurfaceFetchedResultsController {
    static func nSFetchedResultsController() {
        _ = NSFetchedResultsController<NSManagedObject>.self
        _ = { (object: NSFetchedResultsController<NSManagedObject>) -> NSObject in object }
        _ = {
            (
                a0: NSFetchRequest<NSManagedObject>, a1: NSManagedObjectContext, a2: String?, a3: String?
            ) -> NSFetchedResultsController<NSManagedObject> in
            NSFetchedResultsController<NSManagedObject>(
                fetchRequest: a0, managedObjectContext: a1, sectionNameKeyPath: a2, cacheName: a3)
        }
        _ = { (object: NSFetchedResultsController<NSManagedObject>) throws -> Void in try object.performFetch() }
        _ = { (object: NSFetchedResultsController<NSManagedObject>) -> NSFetchRequest<NSManagedObject> in
            object.fetchRequest
        }
        _ = { (object: NSFetchedResultsController<NSManagedObject>) -> NSManagedObjectContext in
            object.managedObjectContext
        }
        _ = { (object: NSFetchedResultsController<NSManagedObject>) -> String? in object.sectionNameKeyPath }
        _ = { (object: NSFetchedResultsController<NSManagedObject>) -> String? in object.cacheName }
        _ = { (object: NSFetchedResultsController<NSManagedObject>) -> (any NSFetchedResultsControllerDelegate)? in
            object.delegate
        }
        _ = {
            (
                object: NSFetchedResultsController<NSManagedObject>, value: (any NSFetchedResultsControllerDelegate)?
            ) -> Void in object.delegate = value
        }
        _ = { (a0: String?) -> Void in NSFetchedResultsController<NSManagedObject>.deleteCache(withName: a0) }
        _ = { (object: NSFetchedResultsController<NSManagedObject>) -> [NSManagedObject]? in object.fetchedObjects }
        _ = { (object: NSFetchedResultsController<NSManagedObject>, a0: IndexPath) -> NSManagedObject in
            object.object(at: a0)
        }
        _ = { (object: NSFetchedResultsController<NSManagedObject>, a0: NSManagedObject) -> IndexPath? in
            object.indexPath(forObject: a0)
        }
        _ = { (object: NSFetchedResultsController<NSManagedObject>, a0: String) -> String? in
            object.sectionIndexTitle(forSectionName: a0)
        }
        _ = { (object: NSFetchedResultsController<NSManagedObject>) -> [String] in object.sectionIndexTitles }
        _ = { (object: NSFetchedResultsController<NSManagedObject>) -> [any NSFetchedResultsSectionInfo]? in
            object.sections
        }
        _ = { (object: NSFetchedResultsController<NSManagedObject>, a0: String, a1: Int) -> Int in
            object.section(forSectionIndexTitle: a0, at: a1)
        }
    }

    static func nSFetchedResultsControllerDelegate() {
        _ = (any NSFetchedResultsControllerDelegate).self
        _ = {
            (
                object: NSFetchedResultsControllerDelegate, a0: NSFetchedResultsController<any NSFetchRequestResult>,
                a1: NSDiffableDataSourceSnapshotReference
            ) -> Void in object.controller(a0, didChangeContentWith: a1)
        }
        _ = {
            (
                object: NSFetchedResultsControllerDelegate, a0: NSFetchedResultsController<any NSFetchRequestResult>,
                a1: CollectionDifference<NSManagedObjectID>
            ) -> Void in object.controller(a0, didChangeContentWith: a1)
        }
        _ = {
            (
                object: NSFetchedResultsControllerDelegate, a0: NSFetchedResultsController<any NSFetchRequestResult>,
                a1: Any, a2: IndexPath?, a3: NSFetchedResultsChangeType, a4: IndexPath?
            ) -> Void in object.controller(a0, didChange: a1, at: a2, for: a3, newIndexPath: a4)
        }
        _ = {
            (
                object: NSFetchedResultsControllerDelegate, a0: NSFetchedResultsController<any NSFetchRequestResult>,
                a1: any NSFetchedResultsSectionInfo, a2: Int, a3: NSFetchedResultsChangeType
            ) -> Void in object.controller(a0, didChange: a1, atSectionIndex: a2, for: a3)
        }
        _ = {
            (
                object: NSFetchedResultsControllerDelegate, a0: NSFetchedResultsController<any NSFetchRequestResult>
            ) -> Void in object.controllerWillChangeContent(a0)
        }
        _ = {
            (
                object: NSFetchedResultsControllerDelegate, a0: NSFetchedResultsController<any NSFetchRequestResult>
            ) -> Void in object.controllerDidChangeContent(a0)
        }
        _ = {
            (
                object: NSFetchedResultsControllerDelegate, a0: NSFetchedResultsController<any NSFetchRequestResult>,
                a1: String
            ) -> String? in object.controller(a0, sectionIndexTitleForSectionName: a1)
        }
    }

    static func nSFetchedResultsSectionInfo() {
        _ = (any NSFetchedResultsSectionInfo).self
        _ = { (object: NSFetchedResultsSectionInfo) -> String in object.name }
        _ = { (object: NSFetchedResultsSectionInfo) -> String? in object.indexTitle }
        _ = { (object: NSFetchedResultsSectionInfo) -> Int in object.numberOfObjects }
        _ = { (object: NSFetchedResultsSectionInfo) -> [Any]? in object.objects }
    }
}
