#define _GNU_SOURCE

#include "StrataLock.h"

#include <sched.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

void strata_yield(void) {
    sched_yield();
}

void strata_pause_briefly(void) {
    struct timespec moment = {.tv_sec = 0, .tv_nsec = 1000000};
    nanosleep(&moment, NULL);
}

void strata_lock_wait(const uint32_t *word, uint32_t expected) {
#if defined(__linux__)
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
#else
    if (__atomic_load_n(word, __ATOMIC_RELAXED) == expected) {
        struct timespec moment = {.tv_sec = 0, .tv_nsec = 50000};
        nanosleep(&moment, NULL);
    }
#endif
}

void strata_lock_wait_for(const uint32_t *word, uint32_t expected, uint32_t nanoseconds) {
    struct timespec time = {.tv_sec = 0, .tv_nsec = nanoseconds};
#if defined(__linux__)
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, &time, NULL, 0);
#else
    if (__atomic_load_n(word, __ATOMIC_RELAXED) == expected) {
        time.tv_nsec = nanoseconds < 50000 ? nanoseconds : 50000;
        nanosleep(&time, NULL);
    }
#endif
}

void strata_lock_wake(const uint32_t *word) {
#if defined(__linux__)
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
#else
    (void)word;
#endif
}
