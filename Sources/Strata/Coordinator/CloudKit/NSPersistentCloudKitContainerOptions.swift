import Foundation

/// The CloudKit container that a store is to be mirrored to. ``NSPersistentCloudKitContainer`` describes its effect on
/// Linux.
///
/// Use an instance from one thread at a time.
open class NSPersistentCloudKitContainerOptions: NSObject {
    /// The identifier of CloudKit's container.
    open private(set) var containerIdentifier: String

    /// Names a container of CloudKit's.
    public init(containerIdentifier: String) {
        self.containerIdentifier = containerIdentifier
    }
}

/// Options of ``NSPersistentCloudKitContainer/initializeCloudKitSchema(options:)``.
public struct NSPersistentCloudKitContainerSchemaInitializationOptions: OptionSet, Sendable {
    public let rawValue: UInt

    /// Creates a set of options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Checks the model without making anything.
    public static let dryRun = Self(rawValue: 1 << 1)
    /// Prints the records.
    public static let printSchema = Self(rawValue: 1 << 2)
}
