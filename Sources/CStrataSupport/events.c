#include "StrataEvents.h"

_Thread_local int strata_events_telling = 0;
_Thread_local void *strata_events_gathering = 0;
