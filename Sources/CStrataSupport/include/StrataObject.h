#ifndef STRATA_OBJECT_H
#define STRATA_OBJECT_H

/// Takes a reference to a Swift object unless its destruction has begun: then NULL. What weak references do; the
/// caller keeps the memory from being freed meanwhile.
void *_Nullable strata_try_retain(void *_Nonnull object);

#endif
