#ifndef STRATA_PREFETCH_H
#define STRATA_PREFETCH_H

/// Asks the processor to bring a line of memory into its caches. The address need not be readable.
static inline void strata_prefetch(const void *_Nonnull address) { __builtin_prefetch(address, 0, 3); }

#endif
