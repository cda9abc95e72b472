import CStrataSupport
import Synchronization

/// Leads to an object without keeping it alive.
///
/// Not a weak reference: once there is one of an object, counting its strong ones takes several times as long, and every
/// object that is made counts references to its context and its store.
final class BackReference<Target: AnyObject>: @unchecked Sendable {
    // Unchecked: the pointer is guarded by the mutex, and whoever gets the target keeps to its rules.

    private let lock = Mutex<Void>(())
    private var pointer: UnsafeMutableRawPointer?

    /// The target as long as it is alive.
    var target: Target? {
        lock._unsafeLock()
        defer { lock._unsafeUnlock() }
        // SAFETY: a target that dies takes the lock before its memory is freed; once its destruction has begun, no
        // reference is taken any more.
        guard let pointer, let retained = strata_try_retain(pointer) else { return nil }
        return Unmanaged<Target>.fromOpaque(retained).takeRetainedValue()
    }

    /// Whether the target has not been freed. Takes no reference, which might be the last one.
    var isAlive: Bool {
        lock._unsafeLock()
        defer { lock._unsafeUnlock() }
        return pointer != nil
    }

    func set(_ target: Target) {
        lock._unsafeLock()
        defer { lock._unsafeUnlock() }
        pointer = Unmanaged.passUnretained(target).toOpaque()
    }

    /// Called by the target when it dies.
    func clear() {
        lock._unsafeLock()
        defer { lock._unsafeUnlock() }
        pointer = nil
    }
}

/// What a context is only asked through to perform a block.
typealias ContextReference = BackReference<NSManagedObjectContext>

extension ContextReference {
    var context: NSManagedObjectContext? { target }
}
