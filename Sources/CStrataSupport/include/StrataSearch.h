#ifndef STRATA_SEARCH_H
#define STRATA_SEARCH_H

#include <stddef.h>

/// Where `pattern` first occurs in `text`, in bytes from its start; -1 where it does not.
///
/// An empty pattern is found at 0. Linear in practice; at worst text length times pattern length.
ptrdiff_t strata_find(
    const void *_Nullable text, size_t text_length, const void *_Nullable pattern, size_t pattern_length);

#endif
