#include "CProcessMemory.h"

#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

void process_memory_trim(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void process_memory_share_heaps(int count) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, count);
#else
    (void)count;
#endif
}
