import Foundation

/// The processor time that a thread has taken. To ask for it takes some hundred nanoseconds.
enum ThreadClock {
    /// Of the calling thread, in nanoseconds.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
