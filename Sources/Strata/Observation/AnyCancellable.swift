#if !Combine
import Synchronization
import StrataSupport

/// Something that goes on until it is cancelled or this is released. Safe to use from any thread, if the closure is.
public final class AnyCancellable: Cancellable, Hashable, Sendable {
    private let action: Mutex<UncheckedBox<() -> Void>?>

    /// Calls the closure once, when cancelled.
    public init(_ cancel: @escaping () -> Void) {
        action = Mutex(UncheckedBox(cancel))
    }

    /// Cancels another one, once, when cancelled.
    public init(_ canceller: some Cancellable) {
        action = Mutex(UncheckedBox { canceller.cancel() })
    }

    deinit { cancel() }

    /// Ends it. Does nothing the second time.
    public func cancel() {
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?.value()
    }

    /// Keeps this in a set, so that it goes with it.
    public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

    /// Keeps this in a collection, so that it goes with it.
    public func store<Cancellables: RangeReplaceableCollection>(
        in collection: inout Cancellables
    ) where Cancellables.Element == AnyCancellable {
        collection.append(self)
    }

    /// Whether both are the same object.
    public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }

    /// Agrees with equality, which is identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
#endif
