#pragma once

#include <stdbool.h>
#include <stddef.h>

/// Whether the needle's bytes occur in the haystack (memmem(3), which Swift's Glibc module does not offer).
bool bench_contains(const void *haystack, size_t haystack_count, const void *needle, size_t needle_count);

/// Bytes that are allocated and not freed (mallinfo2(3)), over all arenas.
size_t bench_heap_bytes(void);
