public import Foundation
import StrataLog

/// A conflict between objects with the same values in properties that a uniqueness constraint of their entity names.
///
/// Either a row of the store already has the values, or there is no such row (`databaseObject` is nil) and several
/// objects of the context have them.
open class NSConstraintConflict: NSObject {
    /// The names of the constraint's properties.
    public let constraint: [String]
    /// The values that are not unique, by property name.
    public let constraintValues: [String: Any]
    /// The object that has the values in the store.
    public let databaseObject: NSManagedObject?
    /// The values of the database object's row.
    public let databaseSnapshot: [String: Any]?
    /// The objects of the context that would have the values.
    public let conflictingObjects: [NSManagedObject]
    /// The values of the conflicting objects, in the same order.
    public let conflictingSnapshots: [[AnyHashable: Any]]

    /// Whether the database object was made for the conflict, and nobody knows it but who knows the conflict.
    var isDatabaseObjectNew = false
    /// The values as the store compares them; nil for a conflict that a program has made.
    var values: UniqueValues?

    /// Whether the database object's row still has the values: others may have changed or deleted it since the save was
    /// refused.
    ///
    /// - Throws: the store's error when the row cannot be read.
    func isInTheWay() throws -> Bool {
        guard let object = databaseObject, let handle = object.registry?.handle(object.storeIndex) else { return false }
        do {
            let snapshot = handle.log.snapshot
            guard let values else { return try snapshot.row(object.ref) != nil }
            return try snapshot.has(values, object.ref)
        } catch {
            throw StoreFailure.cocoaError(error, reading: handle)
        }
    }

    /// A conflict over a constraint.
    ///
    /// - Parameters:
    ///   - constraint: the names of its properties.
    ///   - databaseObject: the object whose stored row has the values; nil if the store has none.
    ///   - databaseSnapshot: the values of that row.
    ///   - conflictingObjects: the objects of the context that would have the values.
    ///   - conflictingSnapshots: dictionaries; what is none counts as empty.
    public init(
        constraint: [String], database databaseObject: NSManagedObject?, databaseSnapshot: [AnyHashable: Any]?,
        conflicting conflictingObjects: [NSManagedObject], conflictingSnapshots: [Any]
    ) {
        self.constraint = constraint
        self.databaseObject = databaseObject
        let named = databaseSnapshot.map { snapshot in
            Dictionary(
                snapshot.compactMap { key, value in (key.base as? String).map { ($0, value) } },
                uniquingKeysWith: { first, _ in first })
        }
        self.databaseSnapshot = named
        self.conflictingObjects = conflictingObjects
        self.conflictingSnapshots = conflictingSnapshots.map { $0 as? [AnyHashable: Any] ?? [:] }
        var values: [String: Any] = [:]
        for name in constraint {
            values[name] = named?[name] ?? self.conflictingSnapshots.first?[name] ?? NSNull()
        }
        constraintValues = values
    }

    /// Creates a conflict about nothing.
    public override convenience init() {
        self.init(
            constraint: [], database: nil, databaseSnapshot: nil, conflicting: [], conflictingSnapshots: [])
    }

    /// A text for logs and for debugging; not to be parsed.
    override open var description: String {
        "NSConstraintConflict (\(addressDescription(self))) for constraint \(constraint): "
            + "database: \(databaseObject.map { "\($0.objectID)" } ?? "(null)"), "
            + "conflictedObjects: \(conflictingObjects.map(\.objectID))"
    }
}
