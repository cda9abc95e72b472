#if STRATA_THREAD_SANITIZER
internal import StrataSupport

/// See `SanitizedMutex`.
typealias Mutex = SanitizedMutex
#endif
