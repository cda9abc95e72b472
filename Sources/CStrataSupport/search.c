#include "StrataSearch.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static inline uint8_t small_letter(uint8_t byte) {
    return (uint8_t)(byte - 'A') < 26 ? (uint8_t)(byte | 0x20) : byte;
}

static inline bool is_small_letter(uint8_t byte) {
    return (uint8_t)(byte - 'a') < 26;
}

static inline bool is_equal(const uint8_t *text, const uint8_t *pattern, size_t length, bool ignores_case) {
    if (!ignores_case) return memcmp(text, pattern, length) == 0;
    for (size_t index = 0; index < length; index++) {
        if (small_letter(text[index]) != pattern[index]) return false;
    }
    return true;
}

// The first and the last byte of the pattern have to be in their places: many places at a time. With the bit set that
// tells small letters from capital ones, a byte is equal to a small letter only if it is that letter, small or capital.

#if defined(__x86_64__)
#include <immintrin.h>

// Searches 32 places at a time as long as there are so many. Returns the place found, or -1 with `place` moved on.
__attribute__((target("avx2"), always_inline)) static inline ptrdiff_t find_wide(
    const uint8_t *t, size_t places, const uint8_t *p, size_t length, bool ignores_case, size_t *place) {
    const uint8_t head = p[0], tail = p[length - 1];
    const __m256i first = _mm256_set1_epi8((char)head), last = _mm256_set1_epi8((char)tail);
    const __m256i first_case = _mm256_set1_epi8(ignores_case && is_small_letter(head) ? 0x20 : 0);
    const __m256i last_case = _mm256_set1_epi8(ignores_case && is_small_letter(tail) ? 0x20 : 0);
    size_t at = *place;
    while (at + 32 <= places) {
        __m256i starts = _mm256_loadu_si256((const __m256i *)(t + at));
        __m256i ends = _mm256_loadu_si256((const __m256i *)(t + at + length - 1));
        if (ignores_case) {
            starts = _mm256_or_si256(starts, first_case);
            ends = _mm256_or_si256(ends, last_case);
        }
        __m256i both = _mm256_and_si256(_mm256_cmpeq_epi8(starts, first), _mm256_cmpeq_epi8(ends, last));
        unsigned mask = (unsigned)_mm256_movemask_epi8(both);
        while (mask != 0) {
            size_t candidate = at + (size_t)__builtin_ctz(mask);
            if (is_equal(t + candidate, p, length, ignores_case)) return (ptrdiff_t)candidate;
            mask &= mask - 1;
        }
        at += 32;
    }
    *place = at;
    return -1;
}

__attribute__((target("avx2"))) static ptrdiff_t find_wide_exactly(
    const uint8_t *t, size_t places, const uint8_t *p, size_t length, size_t *place) {
    return find_wide(t, places, p, length, false, place);
}

__attribute__((target("avx2"))) static ptrdiff_t find_wide_caseless(
    const uint8_t *t, size_t places, const uint8_t *p, size_t length, size_t *place) {
    return find_wide(t, places, p, length, true, place);
}
#endif

static inline ptrdiff_t find(
    const void *text, size_t text_length, const void *pattern, size_t pattern_length, bool ignores_case) {
    if (pattern_length == 0) return 0;
    if (text_length < pattern_length) return -1;
    const uint8_t *t = text;
    const uint8_t *p = pattern;
    size_t places = text_length - pattern_length + 1;
    size_t place = 0;
#if defined(__x86_64__)
    if (places >= 32 && __builtin_cpu_supports("avx2")) {
        ptrdiff_t found = ignores_case ? find_wide_caseless(t, places, p, pattern_length, &place)
                                       : find_wide_exactly(t, places, p, pattern_length, &place);
        if (found >= 0) return found;
    }
#endif
    const uint8_t head = p[0];
    const uint8_t tail = p[pattern_length - 1];
#if defined(__SSE2__)
    const __m128i first = _mm_set1_epi8((char)head);
    const __m128i last = _mm_set1_epi8((char)tail);
    const __m128i first_case = _mm_set1_epi8(ignores_case && is_small_letter(head) ? 0x20 : 0);
    const __m128i last_case = _mm_set1_epi8(ignores_case && is_small_letter(tail) ? 0x20 : 0);
    while (place + 16 <= places) {
        __m128i starts = _mm_loadu_si128((const __m128i *)(t + place));
        __m128i ends = _mm_loadu_si128((const __m128i *)(t + place + pattern_length - 1));
        if (ignores_case) {
            starts = _mm_or_si128(starts, first_case);
            ends = _mm_or_si128(ends, last_case);
        }
        __m128i both = _mm_and_si128(_mm_cmpeq_epi8(starts, first), _mm_cmpeq_epi8(ends, last));
        unsigned mask = (unsigned)_mm_movemask_epi8(both);
        while (mask != 0) {
            size_t candidate = place + (size_t)__builtin_ctz(mask);
            if (is_equal(t + candidate, p, pattern_length, ignores_case)) return (ptrdiff_t)candidate;
            mask &= mask - 1;
        }
        place += 16;
    }
#endif
    for (; place < places; place++) {
        uint8_t start = ignores_case ? small_letter(t[place]) : t[place];
        if (start == head && is_equal(t + place, p, pattern_length, ignores_case)) return (ptrdiff_t)place;
    }
    return -1;
}

ptrdiff_t strata_find(const void *text, size_t text_length, const void *pattern, size_t pattern_length) {
    return find(text, text_length, pattern, pattern_length, false);
}

ptrdiff_t strata_find_caseless(const void *text, size_t text_length, const void *pattern, size_t pattern_length) {
    return find(text, text_length, pattern, pattern_length, true);
}

ptrdiff_t strata_find_beyond_ascii(const void *text, size_t text_length) {
    const uint8_t *t = text;
    size_t place = 0;
    const uint64_t high_bits = 0x8080808080808080u;
    while (place + 32 <= text_length) {
        uint64_t words[4];
        memcpy(words, t + place, sizeof(words));
        if (((words[0] | words[1] | words[2] | words[3]) & high_bits) != 0) break;
        place += 32;
    }
    for (; place < text_length; place++) {
        if (t[place] >= 0x80) return (ptrdiff_t)place;
    }
    return -1;
}
