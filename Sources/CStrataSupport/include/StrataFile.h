#ifndef STRATA_FILE_H
#define STRATA_FILE_H

#include <stddef.h>
#include <stdint.h>

// File calls that Swift cannot make itself (variadic, behind feature macros, or differing by platform).
// Each returns a value >= 0 on success and -errno on failure.

/// Has /dev/null open under those of the descriptors 0, 1 and 2 that are closed: what is opened next gets none of them,
/// so that whatever prints does not write into it. Printing fails as before. Programs that are executed inherit them.
void strata_standard_descriptors_occupy(void);

/// openat(2), close-on-exec, on a descriptor above 2, whichever are closed. Not repeated when a signal interrupts it.
int strata_file_open(int directory, const char *_Nonnull path, int flags, unsigned mode);

/// Writes to standard error what can be written of a message, and nothing where it is closed, full, or nobody reads.
void strata_standard_error_write(const char *_Nonnull bytes, size_t count);

/// Takes the exclusive whole-file lock of the open file description without waiting: 1 taken, 0 held by another.
int strata_file_lock(int fd);

/// Releases the lock taken by strata_file_lock.
int strata_file_unlock(int fd);

/// Whether another open file description holds the lock: 1 held, 0 free.
int strata_file_is_locked(int fd);

/// Swaps what two names refer to, in one step. -ENOTSUP where the system or the file system cannot.
int strata_path_exchange(const char *_Nonnull first, const char *_Nonnull second);

/// Renames within a directory unless the target exists (-EEXIST), in one step. -ENOTSUP where the system or the file
/// system cannot.
int strata_rename_absent(int directory, const char *_Nonnull source, const char *_Nonnull target);

/// When what a path refers to was created, in nanoseconds since 1970; 0 when the file system does not say.
int64_t strata_path_created(const char *_Nonnull path);

/// Reserves zeroed space and lengthens the file to its end. -EOPNOTSUPP where the file system cannot.
int strata_file_reserve(int fd, int64_t offset, int64_t count);

/// Flushes data and what is needed to read it back, as far as the device can be told to.
int strata_file_sync_data(int fd);

/// Lets the device begin with a range (sync_file_range(2)); does nothing where there is no such call.
void strata_file_begin_writing(int fd, int64_t offset, int64_t count);

/// Flushes data and all metadata, as far as the device can be told to.
int strata_file_sync(int fd);

/// A descriptor on which reading and writing fail or do nothing; strata_file_retire puts it in a closed one's place.
int strata_file_placeholder(void);

/// Lets go of the file behind fd but keeps the number taken, so that a call which still uses the number cannot reach
/// a file opened since.
int strata_file_retire(int fd, int placeholder);

#endif
