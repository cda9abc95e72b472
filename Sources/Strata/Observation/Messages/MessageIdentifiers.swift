public import Foundation

// The messages' short names, for `addObserver(of:for:using:)` and `messages(of:for:bufferSize:)`.

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.WillSaveMessage> {
    /// See ``NSManagedObjectContext/WillSaveMessage``.
    public static var willSave: Self { .init() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveMessage> {
    /// See ``NSManagedObjectContext/DidSaveMessage``.
    public static var didSave: Self { .init() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.ObjectsDidChangeMessage> {
    /// See ``NSManagedObjectContext/ObjectsDidChangeMessage``.
    public static var objectsDidChange: Self { .init() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsMessage> {
    /// See ``NSManagedObjectContext/DidSaveObjectIDsMessage``.
    public static var didSaveObjectIDs: Self { .init() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsAsyncMessage> {
    /// See ``NSManagedObjectContext/DidSaveObjectIDsAsyncMessage``.
    public static var didSaveObjectIDsAsync: Self { .init() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesMessage> {
    /// See ``NSManagedObjectContext/DidMergeChangesMessage``.
    public static var didMergeChanges: Self { .init() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesAsyncMessage> {
    /// See ``NSManagedObjectContext/DidMergeChangesAsyncMessage``.
    public static var didMergeChangesAsync: Self { .init() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeMessage> {
    /// See ``NSPersistentStoreCoordinator/StoresDidChangeMessage``.
    public static var storesDidChange: Self { .init() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage> {
    /// See ``NSPersistentStoreCoordinator/StoresDidChangeAsyncMessage``.
    public static var storesDidChangeAsync: Self { .init() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.RemoteChangeMessage> {
    /// See ``NSPersistentStoreCoordinator/RemoteChangeMessage``.
    public static var remoteChange: Self { .init() }
}
