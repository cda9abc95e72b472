import Foundation

/// The context of a migration's source or destination. As on Apple's platforms, the registered objects of the
/// destination are all that were made, also those that have been saved and let go since.
final class MigrationContext: NSManagedObjectContext, @unchecked Sendable {
    // Unchecked: as its superclass, it belongs to its queue; set before the migration begins.

    /// Registers the objects that were let go.
    var registersAll: (() -> Void)?

    override var registeredObjects: Set<NSManagedObject> {
        registersAll?()
        return super.registeredObjects
    }
}
