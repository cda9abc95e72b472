import CStrataSupport
import Synchronization

/// Leads to a context without keeping it alive.
///
/// Not a weak reference: once there is one of an object, counting its strong ones takes several times as long, and every
/// object that is made counts references to its context.
final class ContextReference: @unchecked Sendable {
    // Unchecked: the pointer is guarded by the mutex, and the context is only asked to perform a block.

    private let lock = Mutex<Void>(())
    private var pointer: UnsafeMutableRawPointer?

    /// The context as long as it is alive.
    var context: NSManagedObjectContext? {
        lock._unsafeLock()
        defer { lock._unsafeUnlock() }
        // SAFETY: a context that dies takes the lock before its memory is freed; once its destruction has begun, no
        // reference is taken any more.
        guard let pointer, let retained = strata_try_retain(pointer) else { return nil }
        return Unmanaged<NSManagedObjectContext>.fromOpaque(retained).takeRetainedValue()
    }

    /// Whether the context has not been freed. Takes no reference, which might be the last one.
    var isAlive: Bool {
        lock._unsafeLock()
        defer { lock._unsafeUnlock() }
        return pointer != nil
    }

    func set(_ context: NSManagedObjectContext) {
        lock._unsafeLock()
        defer { lock._unsafeUnlock() }
        pointer = Unmanaged.passUnretained(context).toOpaque()
    }

    /// Called by the context when it dies.
    func clear() {
        lock._unsafeLock()
        defer { lock._unsafeUnlock() }
        pointer = nil
    }
}
