#ifndef STRATA_SHARED_PAGE_H
#define STRATA_SHARED_PAGE_H

#include <stddef.h>
#include <stdint.h>

// Words in memory that several processes share. All of them are sequentially consistent.

static inline uint64_t strata_word_load(const uint64_t *_Nonnull word) {
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static inline void strata_word_store(uint64_t *_Nonnull word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static inline uint64_t strata_word_exchange(uint64_t *_Nonnull word, uint64_t value) {
    return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

/// Whether a mapped page of a file is changed where it lies: 1. Elsewhere (0) changing it may need room on the disk, and
/// a full one would end the process.
int strata_shared_is_in_place(int fd);

/// Maps the first `byte_count` bytes of a file, shared with everybody who maps it. NULL with errno in `error`.
void *_Nullable strata_shared_map(int fd, size_t byte_count, int writable, int *_Nonnull error);

/// Gives up what strata_shared_map mapped.
void strata_shared_unmap(void *_Nonnull base, size_t byte_count);

/// Waits while the low half of a word is `expected`, at most so many milliseconds; may return early. Other processes
/// that map the word wake it.
void strata_word_wait(const uint64_t *_Nonnull word, uint32_t expected, int32_t milliseconds);

/// Wakes everybody who waits on a word, in all processes.
void strata_word_wake(const uint64_t *_Nonnull word);

/// Writes a text that differs from one start of the system to the next, with its NUL. Returns its length, 0 when the
/// system tells none.
size_t strata_boot_name(char *_Nonnull buffer, size_t capacity);

#endif
