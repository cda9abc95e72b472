#define _GNU_SOURCE
#include "CBenchSupport.h"
#include <malloc.h>
#include <string.h>

bool bench_contains(const void *haystack, size_t haystack_count, const void *needle, size_t needle_count) {
    return memmem(haystack, haystack_count, needle, needle_count) != NULL;
}

size_t bench_heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
