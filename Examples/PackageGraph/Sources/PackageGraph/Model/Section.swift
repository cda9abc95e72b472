import CoreData

/// A part of the archive, such as `libs` or `non-free/games`.
final class Section: NSManagedObject {
    private static let nameSlot = AttributeSlot<String>("name")
    private static let packagesSlot = ToManySlot<Package>("packages")

    var name: String {
        get { self[Self.nameSlot] }
        set { self[Self.nameSlot] = newValue }
    }

    /// Inverse of `Package.section`.
    var packages: Set<Package> {
        get { self[Self.packagesSlot] }
        set { self[Self.packagesSlot] = newValue }
    }
}
