import Foundation

// Beside each other, since one of two properties of a name hides that of another module.
extension CocoaError {
    /// Saving found conflicts; see `NSPersistentStoreSaveConflictsErrorKey`.
    public static var persistentStoreSaveConflicts: CocoaError.Code { .persistentStoreSaveConflicts }

    /// The rows that have changed since they were read, of error 133020.
    public var persistentStoreSaveConflicts: [NSMergeConflict]? {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    }
}
