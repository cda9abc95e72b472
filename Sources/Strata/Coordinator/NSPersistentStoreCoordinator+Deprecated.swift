public import Foundation

// What Apple has given up. External records and iCloud stores have no counterpart on Linux.
extension NSPersistentStoreCoordinator {
    /// What the path of an external record says of its store. There are no external records, so no path says anything.
    @available(*, deprecated, message: "External records are not supported.")
    public class func elementsDerived(fromExternalRecordAt fileURL: URL) -> [AnyHashable: Any] { [:] }

    /// Would fill a store from external records. There are none to read.
    ///
    /// - Throws: `CocoaError` 134200.
    @available(*, deprecated, message: "External records are not supported.")
    public func importStore(
        withIdentifier storeIdentifier: String?, fromExternalRecordsDirectoryAt externalRecordsURL: URL,
        to destinationURL: URL, options: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws -> NSPersistentStore {
        throw DescribedError(
            .externalRecordImport,
            userInfo: [
                NSLocalizedDescriptionKey: "External records are not supported.",
                NSFilePathErrorKey: externalRecordsURL.path,
            ])
    }

    /// Removes a store. It has no content in iCloud.
    ///
    /// - Throws: as ``destroyPersistentStore(at:ofType:options:)``.
    @available(*, deprecated, message: "Use destroyPersistentStore(at:ofType:options:).")
    public class func removeUbiquitousContentAndPersistentStore(
        at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        try coordinator.destroyPersistentStore(at: storeURL, ofType: NSSQLiteStoreType, options: options)
    }
}
