#define _GNU_SOURCE

#include "StrataFile.h"
#include "StrataSharedPage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#include <sys/types.h>
#endif

int strata_shared_is_in_place(int fd) {
#if defined(__linux__)
    struct statfs status;
    if (fstatfs(fd, &status) < 0) {
        return 0;
    }
    switch ((unsigned long)status.f_type & 0xffffffffUL) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case RAMFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
        return 1;
    default:
        return 0;
    }
#else
    (void)fd;
    return 0;
#endif
}

void *strata_shared_map(int fd, size_t byte_count, int writable, int *error) {
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *base = mmap(NULL, byte_count, protection, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        *error = errno;
        return NULL;
    }
    return base;
}

void strata_shared_unmap(void *base, size_t byte_count) {
    munmap(base, byte_count);
}

#if defined(__linux__)
static uint32_t *low_half(const uint64_t *word) {
    // The system only compares and sleeps; it does not write.
    uint32_t *halves = (uint32_t *)(uintptr_t)word;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return halves + 1;
#else
    return halves;
#endif
}

void strata_word_wait(const uint64_t *word, uint32_t expected, int32_t milliseconds) {
    struct timespec limit = {.tv_sec = milliseconds / 1000, .tv_nsec = (milliseconds % 1000) * 1000000L};
    // Not FUTEX_PRIVATE_FLAG: the other side is another process.
    syscall(SYS_futex, low_half(word), FUTEX_WAIT, expected, &limit, NULL, 0);
}

void strata_word_wake(const uint64_t *word) {
    syscall(SYS_futex, low_half(word), FUTEX_WAKE, 0x7fffffff, NULL, NULL, 0);
}
#else
void strata_word_wait(const uint64_t *word, uint32_t expected, int32_t milliseconds) {
    for (int32_t passed = 0; passed < milliseconds && (uint32_t)strata_word_load(word) == expected; passed++) {
        struct timespec pause = {.tv_sec = 0, .tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
}

void strata_word_wake(const uint64_t *word) {
    (void)word;
}
#endif

size_t strata_boot_name(char *buffer, size_t capacity) {
#if defined(__linux__)
    int fd = strata_file_open(AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY, 0);
    if (fd < 0) {
        return 0;
    }
    ssize_t count;
    do {
        count = read(fd, buffer, capacity - 1);
    } while (count < 0 && errno == EINTR);
    close(fd);
    if (count <= 0) {
        return 0;
    }
    buffer[count] = 0;
    return (size_t)count;
#elif defined(__APPLE__)
    size_t count = capacity;
    if (sysctlbyname("kern.bootsessionuuid", buffer, &count, NULL, 0) < 0 || count < 2) {
        return 0;
    }
    return strlen(buffer);
#else
    (void)buffer;
    (void)capacity;
    return 0;
#endif
}
