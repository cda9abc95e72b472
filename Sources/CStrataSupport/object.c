#include "StrataObject.h"

// Exported by the Swift runtime.
extern void *swift_tryRetain(void *object);
extern void *swift_retain(void *object);
extern void *swift_retain_n(void *object, uint32_t count);
extern void swift_release_n(void *object, uint32_t count);

void *strata_try_retain(void *object) {
    return swift_tryRetain(object);
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
