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

// MARK: The two-way search of Crochemore and Perrin: at most about twice the text's length, whatever is in it

// Where the greatest suffix of the pattern begins, less one, and its period; by the order of bytes or its reverse.
static ptrdiff_t greatest_suffix(const uint8_t *p, ptrdiff_t length, bool reverse, ptrdiff_t *period) {
    ptrdiff_t start = -1, next = 0, offset = 1;
    *period = 1;
    while (next + offset < length) {
        uint8_t new_byte = p[next + offset], old_byte = p[start + offset];
        if (new_byte == old_byte) {
            if (offset != *period) {
                offset++;
            } else {
                next += *period;
                offset = 1;
            }
        } else if ((new_byte < old_byte) != reverse) {
            next += offset;
            offset = 1;
            *period = next - start;
        } else {
            start = next++;
            offset = *period = 1;
        }
    }
    return start;
}

static ptrdiff_t find_two_way(
    const uint8_t *t, ptrdiff_t text_length, const uint8_t *p, ptrdiff_t length, bool ignores_case) {
    ptrdiff_t period, reverse_period;
    ptrdiff_t cut = greatest_suffix(p, length, false, &period);
    ptrdiff_t reverse_cut = greatest_suffix(p, length, true, &reverse_period);
    if (reverse_cut >= cut) {
        cut = reverse_cut;
        period = reverse_period;
    }
    // With a short period, what is known to be equal after a step needs no second look.
    bool remembers = memcmp(p, p + period, (size_t)(cut + 1)) == 0;
    if (!remembers) period = (cut + 1 > length - cut - 1 ? cut + 1 : length - cut - 1) + 1;
    ptrdiff_t place = 0, known = -1;
    while (place <= text_length - length) {
        ptrdiff_t index = (cut > known ? cut : known) + 1;
        while (index < length && p[index] == (ignores_case ? small_letter(t[place + index]) : t[place + index])) index++;
        if (index < length) {
            place += index - cut;
            known = -1;
            continue;
        }
        index = cut;
        while (index > known && p[index] == (ignores_case ? small_letter(t[place + index]) : t[place + index])) index--;
        if (index <= known) return place;
        place += period;
        if (remembers) known = length - period - 1;
    }
    return -1;
}

// MARK: The search of ordinary texts

// What find_wide returns when comparing has cost too much, as in a text of one letter.
#define SEARCH_IS_SLOW (-2)

// Whether comparisons at places that only looked right have cost more than a search that is never slow. Never for short
// patterns.
static inline bool is_slow(size_t *compared, size_t length, size_t place) {
    *compared += length;
    return *compared > 65536 + 64 * place;
}

// The first and the last byte of the pattern have to be in their places: many places at a time. With the bit set that
// tells small letters from capital ones, a byte is equal to a small letter only if it is that letter, small or capital.

#if defined(__x86_64__)
#include <immintrin.h>

// Searches 32 places at a time as long as there are so many. Returns the place found, or -1 or SEARCH_IS_SLOW with `place`
// moved on.
__attribute__((target("avx2"), always_inline)) static inline ptrdiff_t find_wide(
    const uint8_t *t, size_t places, const uint8_t *p, size_t length, bool ignores_case, size_t *place) {
    const uint8_t head = p[0], tail = p[length - 1];
    const __m256i first = _mm256_set1_epi8((char)head), last = _mm256_set1_epi8((char)tail);
    const __m256i first_case = _mm256_set1_epi8(ignores_case && is_small_letter(head) ? 0x20 : 0);
    const __m256i last_case = _mm256_set1_epi8(ignores_case && is_small_letter(tail) ? 0x20 : 0);
    size_t at = *place, compared = 0;
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
            if (is_slow(&compared, length, candidate)) {
                *place = candidate + 1;
                return SEARCH_IS_SLOW;
            }
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

static ptrdiff_t find_slowly(
    const uint8_t *t, size_t text_length, const uint8_t *p, size_t length, bool ignores_case, size_t place) {
    ptrdiff_t found =
        find_two_way(t + place, (ptrdiff_t)(text_length - place), p, (ptrdiff_t)length, ignores_case);
    return found < 0 ? -1 : found + (ptrdiff_t)place;
}

static inline ptrdiff_t find(
    const void *text, size_t text_length, const void *pattern, size_t pattern_length, bool ignores_case) {
    if (pattern_length == 0) return 0;
    if (text_length < pattern_length) return -1;
    const uint8_t *t = text;
    const uint8_t *p = pattern;
    size_t places = text_length - pattern_length + 1;
    size_t place = 0, compared = 0;
#if defined(__x86_64__)
    if (places >= 32 && __builtin_cpu_supports("avx2")) {
        ptrdiff_t found = ignores_case ? find_wide_caseless(t, places, p, pattern_length, &place)
                                       : find_wide_exactly(t, places, p, pattern_length, &place);
        if (found >= 0) return found;
        if (found == SEARCH_IS_SLOW) return find_slowly(t, text_length, p, pattern_length, ignores_case, place);
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
            if (is_slow(&compared, pattern_length, candidate)) {
                return find_slowly(t, text_length, p, pattern_length, ignores_case, candidate + 1);
            }
            mask &= mask - 1;
        }
        place += 16;
    }
#endif
    for (; place < places; place++) {
        uint8_t start = ignores_case ? small_letter(t[place]) : t[place];
        if (start != head) continue;
        if (is_equal(t + place, p, pattern_length, ignores_case)) return (ptrdiff_t)place;
        if (is_slow(&compared, pattern_length, place)) {
            return find_slowly(t, text_length, p, pattern_length, ignores_case, place + 1);
        }
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

bool strata_fold_ascii(const void *text, size_t length, void *target, bool ignores_case) {
    const uint8_t *source = text;
    uint8_t *folded = target;
    uint8_t all = 0;
    if (ignores_case) {
        for (size_t index = 0; index < length; index++) {
            all |= source[index];
            folded[index] = small_letter(source[index]);
        }
    } else if (length > 0) {
        memcpy(folded, source, length);
        return strata_find_beyond_ascii(text, length) < 0;
    }
    return all < 0x80;
}
