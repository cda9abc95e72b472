#ifndef C_PROCESS_MEMORY_H
#define C_PROCESS_MEMORY_H

// Has the C library give back what it keeps of freed memory, where it has such a call.
void process_memory_trim(void);

#endif
