public import Foundation
import Synchronization

/// An observation that goes on until it is invalidated or this is released. It does not keep the observed object alive.
/// Safe to use from any thread.
public final class NSKeyValueObservation: NSObject, Sendable {
    private let ending: Mutex<(@Sendable () -> Void)?>

    init(_ end: @escaping @Sendable () -> Void) {
        ending = Mutex(end)
    }

    deinit { invalidate() }

    /// Ends it. Does nothing the second time.
    public func invalidate() {
        let end = ending.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}
