#if STRATA_THREAD_SANITIZER
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Stands in for the standard library's `Mutex` in builds for the thread sanitizer.
///
/// When a `Mutex` is contended it is taken inside a library that is not instrumented, and the sanitizer then
/// reports everything the lock orders as a race. It knows pthread mutexes. Built with
/// `-DSTRATA_THREAD_SANITIZER` (see Tests/soak.sh); other builds do not contain this.
@usableFromInline
package struct SanitizedMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Unchecked: the value is reached only under the lock.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    @usableFromInline
    package init(_ initial: consuming sending Value) {
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    @usableFromInline
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value.pointee)
    }
}

typealias Mutex = SanitizedMutex
#endif
