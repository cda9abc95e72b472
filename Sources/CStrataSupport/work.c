#include "StrataWork.h"

_Thread_local int64_t strata_work_steps_left = INT64_MAX;
_Thread_local void *strata_work_counter = 0;
