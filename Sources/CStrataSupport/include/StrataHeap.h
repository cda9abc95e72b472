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

#endif
