import CoreData

/// A person or team, as the Maintainer field names them.
final class Maintainer: NSManagedObject {
    private static let nameSlot = AttributeSlot<String>("name")
    private static let emailSlot = AttributeSlot<String?>("email")
    private static let packagesSlot = ToManySlot<Package>("packages")

    var name: String {
        get { self[Self.nameSlot] }
        set { self[Self.nameSlot] = newValue }
    }

    var email: String? {
        get { self[Self.emailSlot] }
        set { self[Self.emailSlot] = newValue }
    }

    /// Inverse of `Package.maintainer`.
    var packages: Set<Package> {
        get { self[Self.packagesSlot] }
        set { self[Self.packagesSlot] = newValue }
    }
}
