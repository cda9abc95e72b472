internal import StrataRuntime
internal import Synchronization

/// Leads to an object without keeping it alive.
///
/// Not a weak reference: once there is one of an object, counting its strong ones takes several times as long, and
/// every object that is made counts references to its context and its store.
package final class BackReference<Target: AnyObject>: @unchecked Sendable {
    // Unchecked: the pointer is guarded by the mutex, and whoever gets the target keeps to its rules.

    private let lock = Mutex<Void>(())
    private var pointer: UnsafeMutableRawPointer?

    package init() {}

    /// The target as long as it is alive.
    package var target: Target? {
        // A target that dies takes the lock before its memory is freed; once its destruction has begun, no reference is
        // taken any more.
        lock.locked {
            pointer.flatMap { ReferenceCounts.retainUnlessDying($0, as: Target.self) }
        }?.takeRetainedValue()
    }

    /// Whether the target has not been freed. Takes no reference, which might be the last one.
    package var isAlive: Bool {
        lock.locked { pointer != nil }
    }

    package func set(_ target: Target) {
        let target = Unmanaged.passUnretained(target).toOpaque()
        lock.locked { pointer = target }
    }

    /// Called by the target when it dies.
    package func clear() {
        lock.locked { pointer = nil }
    }
}
