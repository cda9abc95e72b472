#if STRATA_THREAD_SANITIZER
package import StrataSupport

/// See `SanitizedMutex`.
typealias Mutex = SanitizedMutex
#endif
