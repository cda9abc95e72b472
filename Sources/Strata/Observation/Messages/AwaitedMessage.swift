public import Foundation

/// A message of the library's, which is posted once somebody has asked for it. Not for other types.
public protocol AwaitedMessage {
    /// Has messages of this type posted from now on. Listening for them does that.
    static func await()
}

// By short names, messages are asked for where those are made.
extension NotificationCenter {
    /// Observes messages of a type on the main actor: as Foundation's method, and has them posted.
    public func addObserver<Message: MainActorMessage & AwaitedMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type,
        using observer: @escaping @MainActor (Message) -> Void
    ) -> ObservationToken where Message.Subject: AnyObject {
        Message.await()
        return observe(subject, messageType, observer)
    }

    /// Observes messages of a type in tasks: as Foundation's method, and has them posted.
    public func addObserver<Message: AsyncMessage & AwaitedMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type,
        using observer: @escaping @Sendable (Message) async -> Void
    ) -> ObservationToken where Message.Subject: AnyObject {
        Message.await()
        return observe(subject, messageType, observer)
    }

    /// Messages of a type as a sequence: as Foundation's method, and has them posted.
    public func messages<Message: AsyncMessage & AwaitedMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type, bufferSize limit: Int = 10
    ) -> some AsyncSequence<Message, Never> where Message.Subject: AnyObject {
        Message.await()
        return sequence(subject, messageType, limit)
    }

    private func sequence<Message: AsyncMessage>(
        _ subject: Message.Subject?, _ type: Message.Type, _ limit: Int
    ) -> some AsyncSequence<Message, Never> where Message.Subject: AnyObject {
        messages(of: subject, for: type, bufferSize: limit)
    }

    private func observe<Message: MainActorMessage>(
        _ subject: Message.Subject?, _ type: Message.Type, _ observer: @escaping @MainActor (Message) -> Void
    ) -> ObservationToken where Message.Subject: AnyObject { addObserver(of: subject, for: type, using: observer) }

    private func observe<Message: AsyncMessage>(
        _ subject: Message.Subject?, _ type: Message.Type, _ observer: @escaping @Sendable (Message) async -> Void
    ) -> ObservationToken where Message.Subject: AnyObject { addObserver(of: subject, for: type, using: observer) }
}

extension NSManagedObjectContext.WillSaveMessage: AwaitedMessage {
    /// Has the message posted from now on.
    public static func await() { MessageName.willSave.await() }
}

extension NSManagedObjectContext.DidSaveMessage: AwaitedMessage {
    /// Has the message posted from now on.
    public static func await() { MessageName.didSave.await() }
}

extension NSManagedObjectContext.ObjectsDidChangeMessage: AwaitedMessage {
    /// Has the message posted from now on.
    public static func await() { MessageName.objectsDidChange.await() }
}

extension NSManagedObjectContext.DidSaveObjectIDsMessage: AwaitedMessage {
    /// Has the message posted from now on.
    public static func await() { MessageName.didSaveObjectIDs.await() }
}

extension NSManagedObjectContext.DidSaveObjectIDsAsyncMessage: AwaitedMessage {
    /// Has the message posted from now on.
    public static func await() { MessageName.didSaveObjectIDs.await() }
}

extension NSManagedObjectContext.DidMergeChangesMessage: AwaitedMessage {
    /// Has the message posted from now on.
    public static func await() { MessageName.didMergeChangesObjectIDs.await() }
}

extension NSManagedObjectContext.DidMergeChangesAsyncMessage: AwaitedMessage {
    /// Has the message posted from now on.
    public static func await() { MessageName.didMergeChangesObjectIDs.await() }
}

extension NSPersistentStoreCoordinator.StoresDidChangeMessage: AwaitedMessage {
    /// Has the message posted from now on.
    public static func await() { MessageName.storesDidChange.await() }
}

extension NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage: AwaitedMessage {
    /// Has the message posted from now on.
    public static func await() { MessageName.storesDidChange.await() }
}

extension NSPersistentStoreCoordinator.RemoteChangeMessage: AwaitedMessage {
    /// Has the message posted from now on.
    public static func await() { MessageName.remoteChange.await() }
}
