#ifndef STRATA_EVENTS_H
#define STRATA_EVENTS_H

#include <stdint.h>
#include <time.h>

/// clock_gettime(2) of the clock that goes on while the machine sleeps, as `ContinuousClock` does, in nanoseconds.
static inline int64_t strata_events_now(void) {
    struct timespec now;
#if defined(CLOCK_BOOTTIME)
    clock_gettime(CLOCK_BOOTTIME, &now);
#else
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
#endif
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/// Whether the calling thread tells a listener something.
extern _Thread_local int strata_events_telling;
/// What gathers the events that the calling thread is to tell later; null where nothing does.
extern _Thread_local void *_Nullable strata_events_gathering;

static inline int strata_events_is_telling(void) { return strata_events_telling; }

static inline void strata_events_set_telling(int telling) { strata_events_telling = telling; }

static inline void *_Nullable strata_events_gatherer(void) { return strata_events_gathering; }

static inline void strata_events_set_gatherer(void *_Nullable gatherer) { strata_events_gathering = gatherer; }

#endif
