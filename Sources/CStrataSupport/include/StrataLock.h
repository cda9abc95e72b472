#ifndef STRATA_LOCK_H
#define STRATA_LOCK_H

#include <stdint.h>

// Waiting for other threads.

/// Tells the processor that a loop waits for another one.
static inline void strata_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ __volatile__("yield");
#endif
}

/// Gives up the processor to other threads that are ready.
void strata_yield(void);

/// Sleeps for a millisecond.
void strata_pause_briefly(void);

/// Waits while a word of this process is `expected`; may return early.
void strata_lock_wait(const uint32_t *_Nonnull word, uint32_t expected);

/// As `strata_lock_wait`, for less than a second at most.
void strata_lock_wait_for(const uint32_t *_Nonnull word, uint32_t expected, uint32_t nanoseconds);

/// Wakes one of those who wait on a word.
void strata_lock_wake(const uint32_t *_Nonnull word);

#endif
