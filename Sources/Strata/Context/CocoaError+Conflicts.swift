import Foundation

extension CocoaError {
    /// The rows that have changed since they were read, of error 133020.
    public var persistentStoreSaveConflicts: [NSMergeConflict]? {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    }
}
