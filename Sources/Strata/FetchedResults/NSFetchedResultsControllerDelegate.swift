public import Foundation

/// Hears how the results of a controller change.
///
/// Every method has a default implementation, in place of Objective-C's optional ones. A delegate that implements the
/// method with a snapshot gets that call only; one that implements the method with a difference, and whose controller
/// has no sections, that call only; all others get the four calls for single changes.
///
/// Each method may change, save, fetch, roll back and reset the context. What that changes is told afterwards, in a
/// round of its own; a round ends early when its delegate fetches the results anew.
///
/// The controller that is passed is ``NSFetchedResultsController/delegate``'s own one in every respect, but of the type
/// that the methods name: `==` and `===` find it equal, a cast to the controller's own type fails.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
    /// The contents after a change, and after ``NSFetchedResultsController/performFetch()``: section names, and the IDs
    /// of the objects.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

    /// The difference that a change made. An object that changed in its place is removed and inserted, as one that
    /// moved. Only for controllers without sections.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

    /// One object came, went, moved or changed.
    ///
    /// - Parameters:
    ///   - controller: whose results they are.
    ///   - anObject: the object.
    ///   - indexPath: where it was before all changes of this round; nil if it came.
    ///   - type: which of the four. A changed sort key is a move only if the object changes its place among the others;
    ///     Apple's reference promises one always, which Core Data has not kept to since iOS 10.
    ///   - newIndexPath: where it is after all changes of this round; nil if it went.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// A section came (with its index after all changes) or went (with its index before them).
    ///
    /// Those that came are reported before all objects, those that went after them. Apple's reference promises the
    /// former for both; clients' tests show that Core Data deletes sections last.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType)

    /// Changes follow. The controller's contents are still those before them.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// All changes of the round have been reported.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// The index title of a section. By default the first letter of its name, capitalized.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?
}

extension NSFetchedResultsControllerDelegate {
    /// Says that the delegate wants no snapshots.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        controller.core.delegateLacksMethod = true
    }

    /// Says that the delegate wants no differences.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        controller.core.delegateLacksMethod = true
    }

    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}

    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {}

    /// Does nothing.
    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    /// Does nothing.
    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    /// The first letter of the section's name, capitalized.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? {
        FetchedResultsCore.defaultIndexTitle(sectionName)
    }
}
