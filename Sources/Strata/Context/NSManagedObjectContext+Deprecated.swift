import Foundation

extension NSManagedObjectContext {
    /// Takes the lock that ``unlock()`` releases if nobody has it. Contexts are confined by their queues; nothing in
    /// Strata uses it.
    @available(*, deprecated, message: "Use perform or performAndWait instead.")
    public final func tryLock() -> Bool { lockForLocking.try() }
}
