#ifndef STRATA_THREADS_H
#define STRATA_THREADS_H

/// The system's number of the calling thread; 0 where threads have none.
int strata_thread_id(void);

/// Whether the calling thread is the process's first. Asks the system once for each thread.
int strata_thread_is_main(void);

/// Gives the calling thread a name for those who look at it with the system's tools; at most 15 bytes count.
void strata_thread_set_name(const char *_Nonnull name);

/// Whether a thread of the process sleeps, going by its number: 1 also where the system does not say.
int strata_thread_is_asleep(int thread);

/// How many processors the process may use: those that its threads may run on, and no more than its control group may
/// fill (of the first version of control groups, as Foundation counts). At least 1.
int strata_processor_count(void);

#endif
