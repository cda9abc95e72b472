#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "StrataFile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <unistd.h>

static int result_or_error(int result) {
    return result < 0 ? -errno : result;
}

void strata_standard_descriptors_occupy(void) {
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) {
            continue;
        }
        // The lowest number that is free: this one, unless another thread has been quicker. The wrong way round, so
        // that reading and writing fail as they would on a descriptor that is closed.
        int made = open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_NOCTTY);
        if (made < 0) {
            return;
        }
        if (made > 2) {
            close(made);
        }
    }
}

int strata_file_open(int directory, const char *path, int flags, unsigned mode) {
    // Before, and not only after: for a moment another thread would print into the file.
    strata_standard_descriptors_occupy();
    int fd = openat(directory, path, flags | O_CLOEXEC, (mode_t)mode);
    if (fd < 0) {
        return -errno;
    }
    if (fd > 2) {
        return fd;
    }
    // There is no /dev/null here, or another thread has closed a descriptor meanwhile.
    int above = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int error = errno;
    close(fd);
    return above < 0 ? -error : above;
}

void strata_standard_error_write(const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(STDERR_FILENO, bytes, count);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return;
        }
        bytes += written;
        count -= (size_t)written;
    }
}

#if defined(F_OFD_SETLK)
static int set_lock(int fd, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
    int result;
    do {
        result = fcntl(fd, F_OFD_SETLK, &lock);
    } while (result < 0 && errno == EINTR);
    return result_or_error(result);
}

int strata_file_lock(int fd) {
    int result = set_lock(fd, F_WRLCK);
    if (result == -EAGAIN || result == -EACCES) {
        return 0;
    }
    return result < 0 ? result : 1;
}

int strata_file_unlock(int fd) {
    return set_lock(fd, F_UNLCK);
}

int strata_file_is_locked(int fd) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
    int result;
    do {
        result = fcntl(fd, F_OFD_GETLK, &lock);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : lock.l_type != F_UNLCK;
}
#else
int strata_file_lock(int fd) {
    int result = result_or_error(flock(fd, LOCK_EX | LOCK_NB));
    if (result == -EWOULDBLOCK) {
        return 0;
    }
    return result < 0 ? result : 1;
}

int strata_file_unlock(int fd) {
    return result_or_error(flock(fd, LOCK_UN));
}

int strata_file_is_locked(int fd) {
    if (flock(fd, LOCK_SH | LOCK_NB) < 0) {
        return errno == EWOULDBLOCK ? 1 : -errno;
    }
    return result_or_error(flock(fd, LOCK_UN));
}
#endif

#if defined(__linux__) && defined(SYS_renameat2)
// Not every C library has a function for it. The flags are those of linux/fs.h.
static int rename_with(unsigned flags, int directory, const char *source, const char *target) {
    if (syscall(SYS_renameat2, directory, source, directory, target, flags) == 0) {
        return 0;
    }
    return errno == ENOSYS || errno == EINVAL ? -ENOTSUP : -errno;
}
#endif

int strata_path_exchange(const char *first, const char *second) {
#if defined(__linux__) && defined(SYS_renameat2)
    // RENAME_EXCHANGE.
    return rename_with(2, AT_FDCWD, first, second);
#elif defined(RENAME_SWAP)
    return result_or_error(renamex_np(first, second, RENAME_SWAP));
#else
    (void)first, (void)second;
    return -ENOTSUP;
#endif
}

int strata_rename_absent(int directory, const char *source, const char *target) {
#if defined(__linux__) && defined(SYS_renameat2)
    // RENAME_NOREPLACE.
    return rename_with(1, directory, source, target);
#elif defined(RENAME_EXCL)
    return result_or_error(renameatx_np(directory, source, directory, target, RENAME_EXCL));
#else
    (void)directory, (void)source, (void)target;
    return -ENOTSUP;
#endif
}

int64_t strata_path_created(const char *path) {
#if defined(__linux__) && defined(STATX_BTIME)
    struct statx status;
    if (statx(AT_FDCWD, path, 0, STATX_BTIME, &status) < 0 || !(status.stx_mask & STATX_BTIME)) {
        return 0;
    }
    return status.stx_btime.tv_sec * INT64_C(1000000000) + status.stx_btime.tv_nsec;
#elif defined(__APPLE__)
    struct stat status;
    if (stat(path, &status) < 0) {
        return 0;
    }
    return status.st_birthtimespec.tv_sec * INT64_C(1000000000) + status.st_birthtimespec.tv_nsec;
#else
    (void)path;
    return 0;
#endif
}

int strata_file_reserve(int fd, int64_t offset, int64_t count) {
#if defined(__linux__)
    // Not posix_fallocate: where the file system cannot reserve, the C library would write to every block instead.
    int result;
    do {
        result = fallocate(fd, 0, offset, count);
    } while (result < 0 && errno == EINTR);
    return result_or_error(result);
#elif defined(F_PREALLOCATE)
    struct stat status;
    if (fstat(fd, &status) < 0) {
        return -errno;
    }
    if (offset + count > status.st_size) {
        fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, offset + count - status.st_size, 0};
        if (fcntl(fd, F_PREALLOCATE, &store) < 0 && errno != EOPNOTSUPP && errno != ENOTSUP) {
            return -errno;
        }
        return result_or_error(ftruncate(fd, offset + count));
    }
    return 0;
#else
    return -EOPNOTSUPP;
#endif
}

int strata_file_sync_data(int fd) {
#if defined(F_FULLFSYNC)
    return strata_file_sync(fd);
#else
    return result_or_error(fdatasync(fd));
#endif
}

void strata_file_begin_writing(int fd, int64_t offset, int64_t count) {
#if defined(SYNC_FILE_RANGE_WRITE)
    // Without waiting: errors stay with the file for whoever flushes it.
    (void)sync_file_range(fd, offset, count, SYNC_FILE_RANGE_WRITE);
#else
    (void)fd, (void)offset, (void)count;
#endif
}

int strata_file_sync(int fd) {
#if defined(F_FULLFSYNC)
    // fsync alone leaves data in the drive's cache there. Some file systems know only fsync.
    if (fcntl(fd, F_FULLFSYNC) == 0) {
        return 0;
    }
    if (errno != ENOTSUP && errno != EINVAL && errno != ENOTTY) {
        return -errno;
    }
#endif
    return result_or_error(fsync(fd));
}

int strata_file_placeholder(void) {
#if defined(O_PATH)
    return strata_file_open(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
#else
    return strata_file_open(AT_FDCWD, "/dev/null", O_RDONLY, 0);
#endif
}

int strata_file_retire(int fd, int placeholder) {
    int result;
    do {
#if defined(__linux__)
        result = dup3(placeholder, fd, O_CLOEXEC);
#else
        result = dup2(placeholder, fd);
#endif
    } while (result < 0 && (errno == EINTR || errno == EBUSY));
    if (result < 0) {
        return -errno;
    }
#if !defined(__linux__)
    fcntl(fd, F_SETFD, FD_CLOEXEC);
#endif
    return 0;
}
