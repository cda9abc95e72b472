#ifndef STRATA_WORK_H
#define STRATA_WORK_H

#include <stdint.h>

/// How many steps the calling thread may take before it has to ask whoever counts them; below 0 it has to.
extern _Thread_local int64_t strata_work_steps_left;
/// Who counts the thread's steps; null where nobody does.
extern _Thread_local void *_Nullable strata_work_counter;

/// Takes some steps; 0 when the counter has to be asked.
static inline int strata_work_take(int64_t steps) {
    strata_work_steps_left -= steps;
    return strata_work_steps_left >= 0;
}

static inline int64_t strata_work_left(void) { return strata_work_steps_left; }

static inline void strata_work_set_left(int64_t steps) { strata_work_steps_left = steps; }

static inline void *_Nullable strata_work_owner(void) { return strata_work_counter; }

static inline void strata_work_set_owner(void *_Nullable counter) { strata_work_counter = counter; }

#endif
