public import Foundation
import StrataLog

/// A conflict about an object whose row in the store is newer than the one its changes are based on.
///
/// It has the form of a conflict between two contexts of one coordinator in Core Data. The object's snapshot is what
/// its changes are based on; the cached snapshot is what another context has saved since.
open class NSMergeConflict: NSObject {
    /// The object in the context that saves.
    public let sourceObject: NSManagedObject
    /// The values that the object's changes are based on, by property name: attributes, and the object IDs of to-one
    /// relationships; `NSNull` for nil. What the context has is in the object itself.
    public let objectSnapshot: [String: Any]?
    /// The values that somebody else has saved; nil when the row has been deleted.
    public let cachedSnapshot: [String: Any]?
    /// Of a conflict between a coordinator's cache and its store, the store's values. Strata has no cache between
    /// them, so its own conflicts have nil.
    public let persistedSnapshot: [String: Any]?
    /// The version in the store, 0 when the row has been deleted.
    public let newVersionNumber: Int
    /// The version that the object's changes are based on.
    public let oldVersionNumber: Int

    /// Creates a conflict. Saves make their own; a program needs this to test a policy.
    public init(
        source: NSManagedObject, newVersion: Int, oldVersion: Int, cachedSnapshot: [String: Any]?,
        persistedSnapshot: [String: Any]?
    ) {
        sourceObject = source
        newVersionNumber = newVersion
        oldVersionNumber = oldVersion
        self.cachedSnapshot = cachedSnapshot
        self.persistedSnapshot = persistedSnapshot
        objectSnapshot = source.committedSnapshot()
    }

    /// Creates a conflict about an object outside of any context.
    public override convenience init() {
        self.init(
            source: NSManagedObject(), newVersion: 0, oldVersion: 0, cachedSnapshot: nil, persistedSnapshot: nil)
    }

    /// A text for logs and for debugging; not to be parsed.
    override open var description: String {
        var text =
            "NSMergeConflict (\(addressDescription(self))) for \(type(of: sourceObject)) "
            + "(\(addressDescription(sourceObject))) with objectID '\(sourceObject.objectID)' "
            + "with oldVersion = \(oldVersionNumber) and newVersion = \(newVersionNumber)"
        if let persistedSnapshot {
            text += " and old cached row = \(cachedSnapshot ?? [:]) and new database row = \(persistedSnapshot)"
        } else {
            text += " and old object snapshot = \(objectSnapshot ?? [:])"
            text += cachedSnapshot.map { " and new cached row = \($0)" } ?? " and deleted row"
        }
        return text
    }
}

extension NSManagedObject {
    /// The attributes and to-one relationships (as IDs) by name, `NSNull` for nil.
    final func snapshotValues() -> [String: Any] {
        snapshot { slot, info in
            info.relationshipIndex >= 0
                ? toOneTarget(shape.relationships[info.relationshipIndex])?.objectID : boxedValue(slot)
        }
    }

    /// As ``snapshotValues()``, from the row that the object's changes are based on.
    final func committedSnapshot() -> [String: Any]? {
        storeIndex == 0 ? nil : committedRow().map { snapshotValues(of: $0) }
    }

    /// As ``snapshotValues()``, from a row of the object's entity.
    final func snapshotValues(of row: (block: Block, row: Int)) -> [String: Any] {
        snapshot { slot, _ in
            let value = committedValue(slot, row)
            return (value as? NSManagedObject)?.objectID ?? value
        }
    }

    private func snapshot(_ value: (Int, SlotInfo) -> Any?) -> [String: Any] {
        var values: [String: Any] = [:]
        for (slot, info) in shape.slots.prefix(shape.persistentSlotCount).enumerated() where !info.isHidden {
            values[info.name] = value(slot, info) ?? NSNull()
        }
        return values
    }
}
