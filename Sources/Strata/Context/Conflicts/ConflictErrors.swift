import Foundation

/// The errors of saves with conflicts that nothing resolves.
enum ConflictErrors {
    static func merge(_ conflicts: [NSMergeConflict]) -> any Error {
        DescribedError(
            .managedObjectMerge,
            userInfo: [
                NSLocalizedDescriptionKey: text(conflicts.map { text($0) }),
                NSPersistentStoreSaveConflictsErrorKey: conflicts,
            ].merging(named(conflicts.map(\.sourceObject))) { first, _ in first })
    }

    static func constraint(_ conflicts: [NSConstraintConflict]) -> any Error {
        DescribedError(
            .managedObjectConstraintMerge,
            userInfo: [
                NSLocalizedDescriptionKey: text(conflicts.map { text($0) }),
                NSPersistentStoreSaveConflictsErrorKey: conflicts,
            ].merging(named(conflicts.flatMap(\.conflictingObjects))) { first, _ in first })
    }

    /// The objects in conflict, and the IDs of those that are inserted or updated.
    private static func named(_ objects: [NSManagedObject]) -> [String: Any] {
        var entries: [String: Any] = [NSAffectedObjectsErrorKey: objects]
        let inserted = Set(objects.filter(\.isInserted).map(\.objectID))
        let updated = Set(objects.filter(\.isUpdated).map(\.objectID))
        if !inserted.isEmpty { entries[NSInsertedObjectsKey] = inserted }
        if !updated.isEmpty { entries[NSUpdatedObjectsKey] = updated }
        return entries
    }

    // MARK: Texts

    /// So many conflicts are named.
    private static let textsMaximum = 5

    private static func text(_ conflicts: [String]) -> String {
        let rest = conflicts.count > textsMaximum ? " And \(conflicts.count - textsMaximum) more." : ""
        return "Could not merge changes. " + conflicts.prefix(textsMaximum).joined(separator: " ") + rest
    }

    /// The object, and the properties that somebody else has saved since; no values.
    static func text(_ conflict: NSMergeConflict) -> String {
        let name = name(conflict.sourceObject)
        guard let saved = conflict.persistedSnapshot ?? conflict.cachedSnapshot else {
            return "\(name) has been deleted by somebody else."
        }
        let base = conflict.objectSnapshot ?? [:]
        let properties = saved.keys.filter { key in
            !Operand(AnyElements.plain(saved[key])).equals(Operand(AnyElements.plain(base[key])))
        }
        if properties.isEmpty { return "\(name) has been saved by somebody else." }
        return "\(name): \(properties.sorted().joined(separator: ", ")) has been changed by somebody else."
    }

    /// The constraint's properties, and the objects that have the same values in them; no values.
    static func text(_ conflict: NSConstraintConflict) -> String {
        let objects = (conflict.databaseObject.map { [$0] } ?? []) + conflict.conflictingObjects
        let entity = (conflict.conflictingObjects.first ?? conflict.databaseObject)?.shape.name ?? ""
        let properties = conflict.constraint.joined(separator: ", ")
        // Rows of a batch request are no objects.
        if objects.isEmpty { return "\(properties) must be unique, and is not in the rows of the request." }
        return "\(entity): \(properties) must be unique, and is not in "
            + objects.prefix(textsMaximum).map { name($0) }.joined(separator: ", ") + "."
    }

    private static func name(_ object: NSManagedObject) -> String {
        "\(object.shape.name) \(object.objectID.uriText)"
    }
}
