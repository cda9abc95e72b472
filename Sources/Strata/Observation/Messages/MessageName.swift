import Synchronization

/// The typed messages, and whether anybody may be listening for them.
///
/// Foundation does not tell who listens. Until somebody has asked for a message by its short name or its type it is not
/// posted: that would cost every save something, and Linux's Foundation hands messages to observers without a name,
/// too, which expect a notification and stop the program.
enum MessageName: UInt {
    case willSave, didSave, objectsDidChange, didSaveObjectIDs, didMergeChangesObjectIDs, storesDidChange, remoteChange

    private static let awaited = Atomic<UInt>(0)

    /// Has the message posted from now on.
    func await() { Self.awaited.bitwiseOr(1 << rawValue, ordering: .relaxed) }

    var isAwaited: Bool { Self.awaited.load(ordering: .relaxed) & (1 << rawValue) != 0 }
}
