import Foundation

/// The errors of saves with conflicts that nothing resolves.
enum ConflictErrors {
    static func merge(_ conflicts: [NSMergeConflict]) -> CocoaError {
        CocoaError(
            .managedObjectMerge,
            userInfo: [
                NSLocalizedDescriptionKey: "Could not merge changes.",
                NSPersistentStoreSaveConflictsErrorKey: conflicts,
                NSAffectedObjectsErrorKey: conflicts.map(\.sourceObject),
            ])
    }

    static func constraint(_ conflicts: [NSConstraintConflict]) -> CocoaError {
        CocoaError(
            .managedObjectConstraintMerge,
            userInfo: [
                NSLocalizedDescriptionKey: "Could not merge changes.",
                NSPersistentStoreSaveConflictsErrorKey: conflicts,
                NSAffectedObjectsErrorKey: conflicts.flatMap(\.conflictingObjects),
            ])
    }
}
