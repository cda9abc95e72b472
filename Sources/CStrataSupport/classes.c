#include "StrataClasses.h"

#if defined(__linux__)

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// What the Swift runtime knows of an image, and how it lists types, are part of Swift's stable ABI (MetadataSections.h
// of the toolchain; "Type Metadata" and "Context Descriptors" in the ABI documentation).

struct range {
    uintptr_t start;
    size_t length;
};

struct sections {
    uintptr_t version;
    const void *base;
    void *unused[2];
    struct range protocols;
    struct range conformances;
    struct range types;
};

// Exported by the Swift runtime. Calls the body for each image until it returns false.
extern void swift_enumerateAllMetadataSections(
    bool (*body)(const struct sections *sections, void *context), void *context);

struct context {
    uint32_t flags;
    int32_t parent;
    int32_t name;
    int32_t accessor;
};

// The versions whose first entries are those above: 5 is what Swift 6 writes, 2 the first one that Swift 5.9 reads.
enum { oldest_version = 2, newest_version = 5 };

static bool is_known(const struct sections *sections) {
    return sections->version >= oldest_version && sections->version <= newest_version;
}

enum { kind_mask = 0x1f, kind_class = 16, generic_flag = 0x80, maximum_found = 64 };

// The metadata accessor of a type that is not generic. It is a Swift function, but with one word as its argument and
// two as its result it is called as one of C's.
struct response {
    const void *metadata;
    size_t state;
};
typedef struct response (*accessor)(size_t request);

struct search {
    const char *name;
    const struct context *found[maximum_found];
    size_t count;
};

static const void *target(const int32_t *offset) {
    return (const void *)((intptr_t)offset + *offset);
}

static bool look(const struct sections *sections, void *context) {
    struct search *search = context;
    if (!is_known(sections)) return true;
    const int32_t *record = (const int32_t *)sections->types.start;
    const int32_t *end = record + sections->types.length / sizeof(int32_t);
    for (; record < end; record++) {
        // The low two bits say how the record refers to the type: 0 straight, 1 by way of a pointer.
        int32_t offset = *record;
        if (offset == 0 || (offset & 2) != 0) continue;
        const void *place = (const void *)((intptr_t)record + (offset & ~3));
        const struct context *type = (offset & 1) ? *(const struct context *const *)place : place;
        if (type == NULL || (type->flags & kind_mask) != kind_class || (type->flags & generic_flag)) continue;
        if (type->name == 0 || type->accessor == 0) continue;
        if (strcmp(target(&type->name), search->name) != 0) continue;
        if (search->count < maximum_found) search->found[search->count++] = type;
    }
    return true;
}

size_t strata_classes_named(const char *name, const void **classes, size_t capacity) {
    struct search search = {.name = name, .count = 0};
    swift_enumerateAllMetadataSections(look, &search);
    // Making a class known to the runtime may make it look at the images itself, so that waits until now.
    size_t count = 0;
    for (size_t index = 0; index < search.count; index++) {
        const struct context *type = search.found[index];
        const void *metadata = ((accessor)target(&type->accessor))(0).metadata;
        if (metadata == NULL) continue;
        if (count < capacity) classes[count] = metadata;
        count++;
    }
    return count;
}

static bool count_unknown(const struct sections *sections, void *context) {
    if (!is_known(sections)) ++*(size_t *)context;
    return true;
}

size_t strata_unknown_images(void) {
    size_t count = 0;
    swift_enumerateAllMetadataSections(count_unknown, &count);
    return count;
}

#else

size_t strata_unknown_images(void) { return 1; }

size_t strata_classes_named(const char *name, const void **classes, size_t capacity) {
    (void)name;
    (void)classes;
    (void)capacity;
    return 0;
}

#endif
