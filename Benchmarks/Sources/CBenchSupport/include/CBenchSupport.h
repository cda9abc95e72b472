#pragma once

#include <stdbool.h>
#include <stddef.h>

/// Whether the needle's bytes occur in the haystack (memmem(3), which Swift's Glibc module does not offer).
bool bench_contains(const void *haystack, size_t haystack_count, const void *needle, size_t needle_count);

/// Bytes that are allocated and not freed (mallinfo2(3)), over all arenas.
size_t bench_heap_bytes(void);

/// Folds UTF-8 text: no capital letters, no diacritics (Latin letters up to U+017F, and combining marks). Writes at most
/// `count` bytes to `target` and returns how many.
size_t bench_fold(const void *text, size_t count, void *target);

/// Whether the folded text contains a pattern that is folded already.
bool bench_contains_folded(const void *text, size_t count, const void *pattern, size_t pattern_count);
