import Foundation

// What errors say of what they are about.

extension NSManagedObject: ErrorSubject {
    package var errorText: String { objectID.errorText }
}

extension NSManagedObjectID: ErrorSubject {
    package var errorText: String { uriText }
}

extension NSMergeConflict: ErrorSubject {
    package var errorText: String { ConflictErrors.text(self) }
}

extension NSConstraintConflict: ErrorSubject {
    package var errorText: String { ConflictErrors.text(self) }
}

extension NSPersistentStore: ErrorSubject {
    package var errorText: String { url?.path ?? "\(Swift.type(of: self))" }
}
