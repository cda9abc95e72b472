#if !Combine
import Synchronization
import StrataSupport

/// Tells its subscribers that an object is about to change. Safe to use from any thread; subscribers are called on the
/// thread that changes the object, in the order in which they came, so what their closures use belongs there.
public final class ObservableObjectPublisher: Sendable {
    private struct State {
        var next = 0
        var subscribers: [(id: Int, receive: UncheckedBox<(()) -> Void>)] = []
    }

    private let state = Mutex<State>(State())

    /// A publisher without subscribers.
    public init() {}

    /// Calls every subscriber.
    public func send() {
        for subscriber in state.withLock({ $0.subscribers }) { subscriber.receive.value(()) }
    }

    /// Calls the closure before each change, until what is returned is cancelled or released.
    public func sink(receiveValue: @escaping (()) -> Void) -> AnyCancellable {
        let receive = UncheckedBox(receiveValue)
        let id = state.withLock { state in
            state.next += 1
            state.subscribers.append((state.next, receive))
            return state.next
        }
        return AnyCancellable { [weak self] in
            // Released outside of the lock: what the closure holds may be anything.
            let removed = self?.state.withLock { state in
                state.subscribers.firstIndex { $0.id == id }.map { state.subscribers.remove(at: $0) }
            }
            withExtendedLifetime(removed) {}
        }
    }

    /// The changes as an asynchronous sequence: one element for each, or one for several that nobody has waited for.
    /// It ends when the publisher goes or the iterating task is cancelled.
    public var values: AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let ending = StreamEnding(continuation)
        let subscription = sink { _ in ending.continuation.yield() }
        continuation.onTermination = { _ in subscription.cancel() }
        return stream
    }

    /// Held by the subscription: when the publisher goes, the stream ends.
    private final class StreamEnding: Sendable {
        let continuation: AsyncStream<Void>.Continuation

        init(_ continuation: AsyncStream<Void>.Continuation) { self.continuation = continuation }

        deinit { continuation.finish() }
    }
}
#endif
