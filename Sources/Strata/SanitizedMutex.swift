#if STRATA_THREAD_SANITIZER
internal import StrataIO

/// See `SanitizedMutex`.
typealias Mutex = SanitizedMutex
#endif
