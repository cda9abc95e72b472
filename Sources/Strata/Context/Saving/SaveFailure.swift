import Foundation

/// Errors of a save that has not come as far as the stores.
enum SaveFailure {
    /// `save()` was called by something that a save calls.
    static var recursiveSave: any Error {
        DescribedError(
            CocoaError.Code(rawValue: 132001),
            userInfo: [
                NSLocalizedDescriptionKey: "attempt to recursively call -save: on the context aborted",
                "message": "attempt to recursively call -save: on the context aborted",
            ])
    }

    /// willSave, or those who are told of changes, went on changing objects.
    static func stillDirty(after rounds: Int) -> any Error {
        DescribedError(
            .persistentStoreSave,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "Failed to process pending changes before save. The context is still dirty after \(rounds) "
                    + "attempts. Typically this recursive dirtying is caused by a bad validation method, willSave, or "
                    + "notification handler."
            ])
    }

    /// No open store holds objects of the object's entity.
    static func noStore(for object: NSManagedObject?) -> any Error {
        DescribedError(
            .persistentStoreSave,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "No persistent store holds objects of the entity \(object?.shape.name ?? "").",
                NSAffectedObjectsErrorKey: object.map { [$0] } ?? [],
            ])
    }

    /// A relationship leads to an object of another store.
    static func external(_ name: String, of object: NSManagedObject, _ target: NSManagedObject) -> any Error {
        DescribedError(
            .managedObjectExternalRelationship,
            userInfo: [
                NSLocalizedDescriptionKey: "\(object.shape.name).\(name) refers to an object of another store.",
                NSAffectedObjectsErrorKey: [object, target],
            ])
    }
}
