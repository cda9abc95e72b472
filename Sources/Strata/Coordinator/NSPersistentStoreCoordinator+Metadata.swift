public import Foundation

extension NSPersistentStoreCoordinator {
    class func readMetadata(
        _ storeType: String, at url: URL, _ options: [AnyHashable: Any]?
    ) throws -> [String: Any] {
        if let type = try StoreClasses.customClass(storeType) { return try type.metadataForPersistentStore(with: url) }
        return try StoreOpening.metadata(at: url, type: storeType, options: options)
    }

    /// As ``metadataForPersistentStore(ofType:at:options:)``, in the new spelling.
    public class func metadataForPersistentStore(
        type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
    }

    class func writeMetadata(
        _ metadata: [String: Any]?, _ storeType: String, at url: URL, _ options: [AnyHashable: Any]?
    ) throws {
        if let type = try StoreClasses.customClass(storeType) {
            return try type.setMetadata(metadata, forPersistentStoreAt: url)
        }
        try StoreOpening.setMetadata(metadata, at: url, options: options)
    }

    /// As ``setMetadata(_:forPersistentStoreOfType:at:options:)``, in the new spelling.
    public class func setMetadata(
        _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: type.rawValue, at: url, options: options)
    }

    // MARK: In spellings that have been given up

    /// As ``metadataForPersistentStore(ofType:at:options:)``; a type of nil is found out from what is at the URL.
    @available(*, deprecated, message: "Use metadataForPersistentStore(ofType:at:options:).")
    public class func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: storeType ?? self.storeType(at: url), at: url, options: nil)
    }

    /// As ``metadataForPersistentStore(ofType:at:options:)``; the type is found out from what is at the URL.
    @available(*, deprecated, message: "Use metadataForPersistentStore(ofType:at:options:).")
    public class func metadataForPersistentStore(with url: URL) throws -> [AnyHashable: Any] {
        try metadataForPersistentStore(ofType: storeType(at: url), at: url, options: nil)
    }

    /// As ``setMetadata(_:forPersistentStoreOfType:at:options:)``; a type of nil is found out from what is at the URL.
    @available(*, deprecated, message: "Use setMetadata(_:forPersistentStoreOfType:at:options:).")
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL
    ) throws {
        try setMetadata(
            metadata, forPersistentStoreOfType: storeType ?? self.storeType(at: url), at: url, options: nil)
    }

    /// A directory is a log store; files say what they are.
    private class func storeType(at url: URL) -> String {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory), !isDirectory.boolValue else {
            return NSSQLiteStoreType
        }
        return PropertyListStore.type(ofFileAt: url) ?? NSSQLiteStoreType
    }
}
