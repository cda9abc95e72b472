#ifndef STRATA_THREADS_H
#define STRATA_THREADS_H

#include <stddef.h>
#include <stdint.h>

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

/// Wakes one of those who wait on a word.
void strata_lock_wake(const uint32_t *_Nonnull word);

/// What one thread tells the others of what it reads without a lock. Never freed: when the thread ends, another one
/// gets it.
typedef struct strata_reader {
    /// 0, or the epoch in which the thread began to read.
    uint64_t epoch;
    /// Counts readers from 0.
    uint64_t number;
    struct strata_reader *_Nullable next;
    uint32_t is_taken;
} strata_reader;

/// The calling thread's, NULL before it asks for one.
extern _Thread_local strata_reader *_Nullable strata_reader_of_thread;

/// The epoch that readers which begin now are in; begins with 1.
extern uint64_t strata_reader_epoch;

/// Makes the calling thread a reader.
strata_reader *_Nonnull strata_reader_make(void);

static inline strata_reader *_Nonnull strata_reader_current(void) {
    strata_reader *_Nullable reader = strata_reader_of_thread;
    return __builtin_expect(reader != NULL, 1) ? (strata_reader *_Nonnull)reader : strata_reader_make();
}

static inline uint64_t *_Nonnull strata_reader_epoch_word(void) { return &strata_reader_epoch; }

/// The reader that was made last: the others follow by `next`.
strata_reader *_Nullable strata_reader_first(void);

#endif
