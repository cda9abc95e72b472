public import Foundation

// The messages' short names, for `addObserver(of:for:using:)` and `messages(of:for:bufferSize:)`.

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.WillSaveMessage> {
    /// See ``NSManagedObjectContext/WillSaveMessage``.
    public static var willSave: Self { .awaited() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveMessage> {
    /// See ``NSManagedObjectContext/DidSaveMessage``.
    public static var didSave: Self { .awaited() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.ObjectsDidChangeMessage> {
    /// See ``NSManagedObjectContext/ObjectsDidChangeMessage``.
    public static var objectsDidChange: Self { .awaited() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsMessage> {
    /// See ``NSManagedObjectContext/DidSaveObjectIDsMessage``.
    public static var didSaveObjectIDs: Self { .awaited() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsAsyncMessage> {
    /// See ``NSManagedObjectContext/DidSaveObjectIDsAsyncMessage``.
    public static var didSaveObjectIDsAsync: Self { .awaited() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesMessage> {
    /// See ``NSManagedObjectContext/DidMergeChangesMessage``.
    public static var didMergeChanges: Self { .awaited() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesAsyncMessage> {
    /// See ``NSManagedObjectContext/DidMergeChangesAsyncMessage``.
    public static var didMergeChangesAsync: Self { .awaited() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeMessage> {
    /// See ``NSPersistentStoreCoordinator/StoresDidChangeMessage``.
    public static var storesDidChange: Self { .awaited() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage> {
    /// See ``NSPersistentStoreCoordinator/StoresDidChangeAsyncMessage``.
    public static var storesDidChangeAsync: Self { .awaited() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.RemoteChangeMessage> {
    /// See ``NSPersistentStoreCoordinator/RemoteChangeMessage``.
    public static var remoteChange: Self { .awaited() }
}

extension NotificationCenter.BaseMessageIdentifier
where MessageType: AwaitedMessage & NotificationCenter.MainActorMessage {
    /// Who asks for a name is going to listen.
    fileprivate static func awaited() -> Self {
        MessageType.await()
        return Self()
    }
}

extension NotificationCenter.BaseMessageIdentifier where MessageType: AwaitedMessage & NotificationCenter.AsyncMessage {
    /// Who asks for a name is going to listen.
    fileprivate static func awaited() -> Self {
        MessageType.await()
        return Self()
    }
}
