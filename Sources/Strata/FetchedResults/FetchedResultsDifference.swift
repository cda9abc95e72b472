public import Foundation

/// What one round of changes did to the results of a controller. The values of an `AsyncSequence` of changes.
public struct FetchedResultsDifference: Sendable {
    /// A section that came or went.
    public struct SectionChange: Hashable, Sendable {
        /// The section's name.
        public var name: String
        /// After the round if it came, before if it went.
        public var index: Int
        /// ``NSFetchedResultsChangeType/insert`` or ``NSFetchedResultsChangeType/delete``.
        public var type: NSFetchedResultsChangeType
    }

    /// An object that came, went, moved or changed.
    public struct ObjectChange: Hashable, Sendable {
        /// Which object.
        public var objectID: NSManagedObjectID
        /// What happened to it.
        public var type: NSFetchedResultsChangeType
        /// Where it was before the round; nil if it came.
        public var indexPath: IndexPath?
        /// Where it is after the round; nil if it went.
        public var newIndexPath: IndexPath?
    }

    /// Deletions from the end to the beginning, then insertions in order.
    public var sections: [SectionChange]
    /// Deletions from the end to the beginning, insertions in order, moves, updates.
    public var objects: [ObjectChange]
}
