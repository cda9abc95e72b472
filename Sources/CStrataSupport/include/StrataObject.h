#ifndef STRATA_OBJECT_H
#define STRATA_OBJECT_H

#include <stddef.h>
#include <stdint.h>

/// Takes a reference to a Swift object unless its destruction has begun: then NULL. What weak references do; the
/// caller keeps the memory from being freed meanwhile.
void *_Nullable strata_try_retain(void *_Nonnull object);

/// Takes a reference to a Swift object, here and now: the compiler moves no call past what lies between it and others.
void strata_retain(void *_Nonnull object);

/// Takes that many references to a Swift object at once.
void strata_retain_many(void *_Nonnull object, uint32_t count);

/// Gives up that many references to a Swift object at once.
void strata_release_many(void *_Nonnull object, uint32_t count);

#endif
