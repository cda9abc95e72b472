import CoreData

/// Names every symbol of the group "frc" with its signature, so that none can vanish. Never run.
enum SurfaceFetchedResults {
    static func nsFetchedResultsChangeType() {
        _ = NSFetchedResultsChangeType.self
        _ = { (value: NSFetchedResultsChangeType) -> UInt in value.rawValue }
        _ = { (object: NSFetchedResultsChangeType) -> any Sendable in object }
        _ = { (a0: UInt) -> NSFetchedResultsChangeType? in NSFetchedResultsChangeType(rawValue: a0) }
        _ = { (object: NSFetchedResultsChangeType) -> UInt in object.rawValue }
        _ = { () -> NSFetchedResultsChangeType in .insert }
        _ = { () -> NSFetchedResultsChangeType in .delete }
        _ = { () -> NSFetchedResultsChangeType in .move }
        _ = { () -> NSFetchedResultsChangeType in .update }
    }
}
