#define _GNU_SOURCE
#include "StrataPages.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t large_page_bytes = (size_t)2 << 20;

void *strata_pages_map(size_t byte_count) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;
#endif
    char *start = mmap(NULL, byte_count + large_page_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (start == MAP_FAILED) return NULL;
    size_t before = -(uintptr_t)start & (large_page_bytes - 1);
    if (before > 0) munmap(start, before);
    if (before < large_page_bytes) munmap(start + before + byte_count, large_page_bytes - before);
    start += before;
#ifdef MADV_HUGEPAGE
    // Refused by kernels without large pages: then the pages are small.
    madvise(start, large_page_bytes, MADV_NOHUGEPAGE);
    if (byte_count > large_page_bytes) madvise(start + large_page_bytes, byte_count - large_page_bytes, MADV_HUGEPAGE);
#endif
    return start;
}

void strata_pages_enlarge(void *base) {
#ifdef MADV_HUGEPAGE
    if (madvise(base, large_page_bytes, MADV_HUGEPAGE) != 0) return;
    // Where the kernel is too old for this it does so by itself, later.
#ifdef MADV_COLLAPSE
    madvise(base, large_page_bytes, MADV_COLLAPSE);
#endif
#endif
}

void *strata_pages_map_small(size_t byte_count) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;
#endif
    void *start = mmap(NULL, byte_count, PROT_READ | PROT_WRITE, flags, -1, 0);
    return start == MAP_FAILED ? NULL : start;
}

size_t strata_page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

void strata_pages_drop(void *base, size_t byte_count) {
    // Of a large page, Linux divides what is left. Where all pages are larger, a part of one stays.
    madvise(base, byte_count, MADV_DONTNEED);
}

// Others may be using the memory already: what is done to it is one instruction that writes what is there. The thread
// sanitizer would take it for a race.
__attribute__((no_sanitize("thread"))) void strata_pages_touch(void *base, size_t byte_count) {
    size_t step = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t offset = 0; offset < byte_count; offset += step) {
        volatile uint8_t *place = (volatile uint8_t *)base + offset;
#if defined(__x86_64__)
        __asm__ volatile("lock orb $0, %0" : "+m"(*place) : : "memory");
#else
        uint8_t expected = 0;
        __atomic_compare_exchange_n(place, &expected, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
    }
}

void strata_pages_unmap(void *base, size_t byte_count) {
    munmap(base, byte_count);
}
