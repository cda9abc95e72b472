#ifndef STRATA_COLUMNS_H
#define STRATA_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Tests of all values of a column at once. `words` has a bit for each row, lowest first: a bit that is set stays set if
// the row's value passes. Words without a set bit are passed over. `count` is the number of rows.

/// Keeps the rows whose values lie in `least ... greatest`; with `is_negated` those whose values do not.
void strata_keep_range_u8(
    const uint8_t *_Nonnull values, size_t count, uint8_t least, uint8_t greatest, bool is_negated,
    uint64_t *_Nonnull words);
void strata_keep_range_i16(
    const int16_t *_Nonnull values, size_t count, int16_t least, int16_t greatest, bool is_negated,
    uint64_t *_Nonnull words);
void strata_keep_range_i32(
    const int32_t *_Nonnull values, size_t count, int32_t least, int32_t greatest, bool is_negated,
    uint64_t *_Nonnull words);
void strata_keep_range_i64(
    const int64_t *_Nonnull values, size_t count, int64_t least, int64_t greatest, bool is_negated,
    uint64_t *_Nonnull words);

/// How values are compared with a bound. What is no number passes `StrataNotEqual` only.
typedef enum {
    StrataLess,
    StrataLessOrEqual,
    StrataGreater,
    StrataGreaterOrEqual,
    StrataEqual,
    StrataNotEqual,
} StrataRelation;

/// Keeps the rows whose values have the relation to `bound`.
void strata_keep_related_f32(
    const float *_Nonnull values, size_t count, StrataRelation relation, double bound, uint64_t *_Nonnull words);
void strata_keep_related_f64(
    const double *_Nonnull values, size_t count, StrataRelation relation, double bound, uint64_t *_Nonnull words);

#endif
