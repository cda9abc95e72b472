#include "StrataSearch.h"

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

ptrdiff_t strata_find(const void *text, size_t text_length, const void *pattern, size_t pattern_length) {
    if (pattern_length == 0) return 0;
    if (text_length < pattern_length) return -1;
    const uint8_t *t = text;
    const uint8_t *p = pattern;
    size_t places = text_length - pattern_length + 1;
    size_t place = 0;
#if defined(__SSE2__)
    // The first and the last byte of the pattern have to be in their places: 16 places at a time.
    const __m128i first = _mm_set1_epi8((char)p[0]);
    const __m128i last = _mm_set1_epi8((char)p[pattern_length - 1]);
    while (place + 16 <= places) {
        __m128i starts = _mm_loadu_si128((const __m128i *)(t + place));
        __m128i ends = _mm_loadu_si128((const __m128i *)(t + place + pattern_length - 1));
        __m128i both = _mm_and_si128(_mm_cmpeq_epi8(starts, first), _mm_cmpeq_epi8(ends, last));
        unsigned mask = (unsigned)_mm_movemask_epi8(both);
        while (mask != 0) {
            size_t candidate = place + (size_t)__builtin_ctz(mask);
            if (memcmp(t + candidate, p, pattern_length) == 0) return (ptrdiff_t)candidate;
            mask &= mask - 1;
        }
        place += 16;
    }
#endif
    while (place < places) {
        const uint8_t *found = memchr(t + place, p[0], places - place);
        if (found == NULL) return -1;
        if (memcmp(found, p, pattern_length) == 0) return found - t;
        place = (size_t)(found - t) + 1;
    }
    return -1;
}
