#include "StrataObject.h"

// Exported by the Swift runtime.
extern void *swift_tryRetain(void *object);

void *strata_try_retain(void *object) {
    return swift_tryRetain(object);
}
