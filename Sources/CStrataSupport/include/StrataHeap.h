#ifndef STRATA_HEAP_H
#define STRATA_HEAP_H

#include <stddef.h>
#include <stdlib.h>

// Memory aligned to 16. Swift's own way of allocating memory without a type asks the heap for an alignment, even for the
// usual one, and then the heap takes its lock each time instead of using what the thread has at hand.

/// Uninitialised memory, NULL if there is none.
static inline void *_Nullable strata_heap_allocate(size_t byte_count) { return malloc(byte_count); }

/// Gives back what strata_heap_allocate gave.
static inline void strata_heap_free(void *_Nullable memory) { free(memory); }

/// Has the heap give back to the system what it keeps of freed memory, where the C library has such a call. Takes
/// milliseconds, for which threads that allocate may wait.
void strata_heap_trim(void);

/// The machine's memory in bytes; 0 where the system does not say.
size_t strata_machine_memory(void);

#endif
