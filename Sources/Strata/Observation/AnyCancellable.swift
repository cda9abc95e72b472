import Synchronization

/// Something that goes on until it is cancelled or this is released. Safe to use from any thread.
public final class AnyCancellable: Hashable, Sendable {
    private let action: Mutex<(@Sendable () -> Void)?>

    /// Calls the closure once, when cancelled.
    public init(_ cancel: @escaping @Sendable () -> Void) {
        action = Mutex(cancel)
    }

    deinit { cancel() }

    /// Ends it. Does nothing the second time.
    public func cancel() {
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }

    /// Keeps this in a set, so that it goes with it.
    public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

    /// Whether both are the same object.
    public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }

    /// Agrees with equality, which is identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
