#ifndef STRATA_PAGES_H
#define STRATA_PAGES_H

#include <stddef.h>

/// Reserves zeroed memory that costs nothing before it is touched, and asks the system to back all but the first 2 MiB
/// by large pages. Aligned to 2 MiB, of which `byte_count` must be a multiple. NULL when there is no address space left.
void *_Nullable strata_pages_map(size_t byte_count);

/// Asks the system to back the first 2 MiB, too, by a large page, with what lies there already.
void strata_pages_enlarge(void *_Nonnull base);

/// As strata_pages_map, on pages of the usual size. `byte_count` is a multiple of their size.
void *_Nullable strata_pages_map_small(size_t byte_count);

/// The size of a page of the usual size.
size_t strata_page_bytes(void);

/// Gives the memory of such pages back to the system; they stay reserved, and are zero when they are touched again.
void strata_pages_drop(void *_Nonnull base, size_t byte_count);

/// Has the system back memory that may not have been touched yet. What others write there meanwhile stays.
void strata_pages_touch(void *_Nonnull base, size_t byte_count);

/// Gives up what strata_pages_map reserved.
void strata_pages_unmap(void *_Nonnull base, size_t byte_count);

#endif
