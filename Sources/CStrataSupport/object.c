#include "StrataObject.h"

// Exported by the Swift runtime.
extern void *swift_tryRetain(void *object);
extern void *swift_retain(void *object);
extern void *swift_retain_n(void *object, uint32_t count);
extern void swift_release_n(void *object, uint32_t count);
extern size_t swift_retainCount(void *object);
extern size_t swift_weakRetainCount(void *object);

void *strata_try_retain(void *object) {
    return swift_tryRetain(object);
}

bool strata_is_held_only(void *object, size_t count) {
    // An object that no weak reference was ever made to counts one, its own.
    return swift_retainCount(object) == count && swift_weakRetainCount(object) == 1;
}

void strata_retain(void *object) {
    swift_retain(object);
}

void strata_retain_many(void *object, uint32_t count) {
    swift_retain_n(object, count);
}

void strata_release_many(void *object, uint32_t count) {
    swift_release_n(object, count);
}
