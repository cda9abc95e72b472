#ifndef STRATA_SEARCH_H
#define STRATA_SEARCH_H

#include <stddef.h>

/// Where `pattern` first occurs in `text`, in bytes from its start; -1 where it does not.
///
/// An empty pattern is found at 0. Linear in practice; at worst text length times pattern length.
ptrdiff_t strata_find(
    const void *_Nullable text, size_t text_length, const void *_Nullable pattern, size_t pattern_length);

/// As strata_find, with the capital letters of ASCII in `text` taken for small ones. `pattern` has no capital letters.
ptrdiff_t strata_find_caseless(
    const void *_Nullable text, size_t text_length, const void *_Nullable pattern, size_t pattern_length);

/// Where the first byte of `text` is that is not ASCII; -1 when all of them are.
ptrdiff_t strata_find_beyond_ascii(const void *_Nullable text, size_t text_length);

#endif
