#define _GNU_SOURCE

#include "StrataFile.h"
#include "StrataThreads.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

int strata_thread_id(void) {
#if defined(__linux__)
    return (int)syscall(SYS_gettid);
#else
    return 0;
#endif
}

int strata_thread_is_main(void) {
#if defined(__linux__)
    // 1 for yes, -1 for no; a thread stays what it is.
    static _Thread_local int known = 0;
    if (known == 0) known = (pid_t)syscall(SYS_gettid) == getpid() ? 1 : -1;
    return known > 0;
#else
    return pthread_main_np();
#endif
}

void strata_thread_set_name(const char *name) {
#if defined(__linux__)
    char shortened[16] = {0};
    strncpy(shortened, name, sizeof shortened - 1);
    (void)pthread_setname_np(pthread_self(), shortened);
#else
    (void)name;
#endif
}

int strata_thread_is_asleep(int thread) {
#if defined(__linux__)
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    int file = strata_file_open(AT_FDCWD, path, O_RDONLY, 0);
    if (file < 0) return 1;
    char text[256];
    ssize_t count = read(file, text, sizeof text);
    close(file);
    // The state stands behind the name, which is in parentheses and may hold any character.
    const char *end = count > 0 ? memrchr(text, ')', (size_t)count) : NULL;
    if (end == NULL || end + 2 >= text + count) return 1;
    return end[2] != 'R';
#else
    (void)thread;
    return 1;
#endif
}

#if defined(__linux__)
/// The number in a file; 0 when there is none.
static long number_in(const char *path) {
    int file = strata_file_open(AT_FDCWD, path, O_RDONLY, 0);
    if (file < 0) return 0;
    char text[32] = {0};
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    return count > 0 ? strtol(text, NULL, 10) : 0;
}
#endif

int strata_processor_count(void) {
    long count = 0;
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) count = CPU_COUNT(&set);
#endif
    if (count < 1) count = sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1) count = 1;
#if defined(__linux__)
    long quota = number_in("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    long period = quota > 0 ? number_in("/sys/fs/cgroup/cpu/cpu.cfs_period_us") : 0;
    if (period > 0 && (quota - 1) / period + 1 < count) count = (quota - 1) / period + 1;
#endif
    return (int)count;
}
