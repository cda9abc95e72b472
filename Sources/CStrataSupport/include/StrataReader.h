#ifndef STRATA_READER_H
#define STRATA_READER_H

#include <stddef.h>
#include <stdint.h>

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
