#include "StrataHeap.h"

#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

void strata_heap_trim(void) {
#ifdef __GLIBC__
    // Of all arenas, not only of the end of the first, as freeing does: many threads have many arenas.
    (void)malloc_trim(0);
#endif
}

size_t strata_machine_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes : 0;
}
