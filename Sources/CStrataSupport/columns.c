#include "StrataColumns.h"

#include <string.h>

// 64 flags of one byte each, 0 or 1, as bits. Eight at a time: the product's uppermost byte has the flag of byte i in
// bit i, and no two terms of the product meet.
static inline uint64_t packed(const uint8_t *flags) {
    uint64_t word = 0;
    for (int part = 0; part < 8; part++) {
        uint64_t eight = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        memcpy(&eight, flags + part * 8, 8);
#else
        for (int index = 0; index < 8; index++) eight |= (uint64_t)flags[part * 8 + index] << (index * 8);
#endif
        word |= ((eight * 0x0102040810204080u) >> 56) << (part * 8);
    }
    return word;
}

// TEST is an expression of `value`. The loop over 64 values has no branches, so that the compiler tests several at once.
#define KEEP(TYPE, TEST)                                                   \
    do {                                                                   \
        for (size_t base = 0; base < count; base += 64) {                  \
            uint64_t *word = words + base / 64;                            \
            if (*word == 0) continue;                                      \
            uint8_t flags[64] = {0};                                       \
            const TYPE *part = values + base;                              \
            if (count - base >= 64) {                                      \
                for (int index = 0; index < 64; index++) {                 \
                    const TYPE value = part[index];                        \
                    flags[index] = (uint8_t)(TEST);                        \
                }                                                          \
            } else {                                                       \
                for (size_t index = 0; index < count - base; index++) {    \
                    const TYPE value = part[index];                        \
                    flags[index] = (uint8_t)(TEST);                        \
                }                                                          \
            }                                                              \
            *word &= packed(flags);                                        \
        }                                                                  \
    } while (0)

// In unsigned numbers one comparison tells both bounds. The bounds are in order, so that nothing overflows.
#define DEFINE_RANGE(NAME, TYPE, UNSIGNED)                                                                    \
    void NAME(                                                                                                \
        const TYPE *values, size_t count, TYPE least, TYPE greatest, bool is_negated, uint64_t *words) {       \
        const UNSIGNED span = (UNSIGNED)((UNSIGNED)greatest - (UNSIGNED)least);                                \
        if (is_negated) {                                                                                     \
            KEEP(TYPE, (UNSIGNED)((UNSIGNED)value - (UNSIGNED)least) > span);                                  \
        } else {                                                                                              \
            KEEP(TYPE, (UNSIGNED)((UNSIGNED)value - (UNSIGNED)least) <= span);                                 \
        }                                                                                                     \
    }

DEFINE_RANGE(strata_keep_range_u8, uint8_t, uint8_t)
DEFINE_RANGE(strata_keep_range_i16, int16_t, uint16_t)
DEFINE_RANGE(strata_keep_range_i32, int32_t, uint32_t)
DEFINE_RANGE(strata_keep_range_i64, int64_t, uint64_t)

#define DEFINE_RELATED(NAME, TYPE)                                                                     \
    void NAME(const TYPE *values, size_t count, StrataRelation relation, double bound, uint64_t *words) { \
        switch (relation) {                                                                            \
        case StrataLess: KEEP(TYPE, (double)value < bound); break;                                     \
        case StrataLessOrEqual: KEEP(TYPE, (double)value <= bound); break;                             \
        case StrataGreater: KEEP(TYPE, (double)value > bound); break;                                  \
        case StrataGreaterOrEqual: KEEP(TYPE, (double)value >= bound); break;                          \
        case StrataEqual: KEEP(TYPE, (double)value == bound); break;                                   \
        case StrataNotEqual: KEEP(TYPE, (double)value != bound); break;                                \
        }                                                                                              \
    }

DEFINE_RELATED(strata_keep_related_f32, float)
DEFINE_RELATED(strata_keep_related_f64, double)
