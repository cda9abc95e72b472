#ifndef STRATA_SEARCH_H
#define STRATA_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

/// Where `pattern` first occurs in `text`, in bytes from its start; -1 where it does not.
///
/// An empty pattern is found at 0. Linear in the text's length, whatever is in text and pattern.
ptrdiff_t strata_find(
    const void *_Nullable text, size_t text_length, const void *_Nullable pattern, size_t pattern_length);

/// As strata_find, with the capital letters of ASCII in `text` taken for small ones. `pattern` has no capital letters.
ptrdiff_t strata_find_caseless(
    const void *_Nullable text, size_t text_length, const void *_Nullable pattern, size_t pattern_length);

/// Where the first byte of `text` is that is not ASCII; -1 when all of them are.
ptrdiff_t strata_find_beyond_ascii(const void *_Nullable text, size_t text_length);

/// Copies text, with the capital letters of ASCII as small ones if `ignores_case`. Whether all of it is ASCII; if not,
/// what is in the target is of no use.
bool strata_fold_ascii(
    const void *_Nullable text, size_t length, void *_Nullable target, bool ignores_case);

#endif
