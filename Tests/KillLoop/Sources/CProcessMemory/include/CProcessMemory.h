#ifndef C_PROCESS_MEMORY_H
#define C_PROCESS_MEMORY_H

// Has the C library give back what it keeps of freed memory, where it has such a call.
void process_memory_trim(void);

// Has the threads share so many heaps of the C library, where it has such a setting, as MALLOC_ARENA_MAX does.
void process_memory_share_heaps(int count);

#endif
