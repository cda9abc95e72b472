public import Foundation

/// An object whose row in the store is newer than the one that its changes are based on.
open class NSMergeConflict: NSObject {
    /// The object in the context that saves.
    public let sourceObject: NSManagedObject
    /// The values of the object in the context, by property name.
    public let objectSnapshot: [String: Any]?
    /// The values that the object's changes are based on.
    public let cachedSnapshot: [String: Any]?
    /// The values in the store; nil when the row has been deleted.
    public let persistedSnapshot: [String: Any]?
    /// The version in the store, 0 when the row has been deleted.
    public let newVersionNumber: Int
    /// The version that the object's changes are based on.
    public let oldVersionNumber: Int

    public init(
        source: NSManagedObject, newVersion: Int, oldVersion: Int, cachedSnapshot: [String: Any]?,
        persistedSnapshot: [String: Any]?
    ) {
        sourceObject = source
        newVersionNumber = newVersion
        oldVersionNumber = oldVersion
        self.cachedSnapshot = cachedSnapshot
        self.persistedSnapshot = persistedSnapshot
        objectSnapshot = source.isDeleted ? nil : source.snapshotValues()
    }

    override open var description: String {
        "NSMergeConflict for \(sourceObject.objectID): object version \(oldVersionNumber), "
            + "store version \(newVersionNumber)"
    }
}

extension NSManagedObject {
    /// The attributes and to-one relationships by name, `NSNull` for nil.
    final func snapshotValues() -> [String: Any] {
        var values: [String: Any] = [:]
        for (slot, info) in shape.slots.prefix(shape.persistentSlotCount).enumerated() where !info.isHidden {
            let value =
                info.relationshipIndex >= 0
                ? toOneTarget(shape.relationships[info.relationshipIndex])?.objectID : boxedValue(slot)
            values[info.name] = value ?? NSNull()
        }
        return values
    }
}
