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
#ifdef MADV_HUGEPAGE
    // Refused by kernels without large pages: then the pages are small.
    madvise(start + before, byte_count, MADV_HUGEPAGE);
#endif
    return start + before;
}

void strata_pages_unmap(void *base, size_t byte_count) {
    munmap(base, byte_count);
}

int strata_write_where_writable(void *target, const void *bytes, size_t byte_count) {
    // The kernel answers with an error where a store would be a fault.
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    int is_written = write(ends[1], bytes, byte_count) == (ssize_t)byte_count
        && read(ends[0], target, byte_count) == (ssize_t)byte_count;
    close(ends[0]);
    close(ends[1]);
    return is_written ? 0 : -1;
}
