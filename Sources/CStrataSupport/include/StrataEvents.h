#ifndef STRATA_EVENTS_H
#define STRATA_EVENTS_H

/// Whether the calling thread tells a listener something.
extern _Thread_local int strata_events_telling;
/// What gathers the events that the calling thread is to tell later; null where nothing does.
extern _Thread_local void *_Nullable strata_events_gathering;

static inline int strata_events_is_telling(void) { return strata_events_telling; }

static inline void strata_events_set_telling(int telling) { strata_events_telling = telling; }

static inline void *_Nullable strata_events_gatherer(void) { return strata_events_gathering; }

static inline void strata_events_set_gatherer(void *_Nullable gatherer) { strata_events_gathering = gatherer; }

#endif
