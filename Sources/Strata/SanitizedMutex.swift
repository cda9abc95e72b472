#if STRATA_THREAD_SANITIZER
import StrataIO

/// See `SanitizedMutex`.
typealias Mutex = SanitizedMutex
#endif
