#if STRATA_THREAD_SANITIZER
import StrataSupport

/// See `SanitizedMutex`.
typealias Mutex = SanitizedMutex
#endif
