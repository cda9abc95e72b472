#ifndef STRATA_CLASSES_H
#define STRATA_CLASSES_H

#include <stddef.h>

/// Finds the Swift classes in the program, and in what it has loaded, whose own name (without module and outer types)
/// is `name`. Generic classes are left out.
///
/// Up to `capacity` classes are written to `classes`, each a metatype (`AnyClass`) as a pointer. Returns how many there
/// are. Nothing is found where the Swift runtime does not list types (it does on Linux).
size_t strata_classes_named(
    const char *_Nonnull name, const void *_Nullable *_Nonnull classes, size_t capacity);

/// How many images list their types in a version that is not known; strata_classes_named leaves them out.
size_t strata_unknown_images(void);

#endif
