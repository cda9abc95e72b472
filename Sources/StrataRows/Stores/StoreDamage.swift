import Foundation
import StrataLog

/// What of a store could not be read since it was opened.
///
/// Got from ``NSPersistentStoreCoordinator/damage(of:)``. `strata verify` reads the whole store; this says what the
/// program has met.
public struct StoreDamage: Sendable {
    /// A damaged location.
    public struct Location: Sendable {
        /// The name of the file in the store's directory; nil when that is not known.
        public var file: String?
        /// Where it begins in the file, in bytes; nil when that is not known.
        public var offset: Int?
        /// What is wrong with it.
        public var message: String
        /// How often it has been met.
        public var count: Int
        /// Objects for which it was met, the first hundred of them. Others may lie there, too.
        public var objectIDs: [NSManagedObjectID]
    }

    /// In the order in which they were met. A location that can be read after all is taken out.
    public var locations: [Location]
    /// How often something could not be read, in whatever location.
    public var count: Int

    package init(_ handle: StoreHandle) {
        count = handle.log.damage.count
        locations = handle.log.damage.entries.map { entry in
            let file =
                entry.spot.segment.map { LogStore.segmentFileName($0) }
                ?? entry.spot.path.map { ($0 as NSString).lastPathComponent }
            return Location(
                file: file, offset: entry.spot.offset, message: entry.error.description, count: entry.count,
                objectIDs: entry.objects.compactMap { handle.objectID($0) })
        }
    }
}
