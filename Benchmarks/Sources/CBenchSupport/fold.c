#define _GNU_SOURCE
#include "CBenchSupport.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The base letters of U+00C0 to U+017F; 0 where a letter has none in ASCII and stays as it is.
static const char bases[] =
    "aaaaaa\0ceeeeiiii\0nooooo\0\0uuuuy\0\0aaaaaa\0ceeeeiiii\0nooooo\0\0uuuuy\0y"
    "aaaaaaccccccccdd\0\0eeeeeeeeeegggggggghh\0\0iiiiiiiii\0\0\0jjkk\0llllll\0"
    "\0\0\0nnnnnn\0\0\0oooooo\0\0rrrrrrsssssssstttt\0\0uuuuuuuuuuuuwwyyyzzzzzz\0";

size_t bench_fold(const void *text, size_t count, void *target) {
    const uint8_t *t = text;
    uint8_t *out = target;
    size_t length = 0;
    for (size_t index = 0; index < count; index++) {
        uint8_t byte = t[index];
        if (byte < 0x80) {
            out[length++] = (uint8_t)(byte - 'A') < 26 ? byte | 0x20 : byte;
        } else if (byte >= 0xC3 && byte <= 0xC5 && index + 1 < count) {
            unsigned scalar = (unsigned)(byte & 0x1F) << 6 | (t[index + 1] & 0x3F);
            char base = scalar >= 0xC0 && scalar - 0xC0 < sizeof(bases) ? bases[scalar - 0xC0] : 0;
            if (base != 0) {
                out[length++] = (uint8_t)base;
            } else {
                out[length++] = byte;
                out[length++] = t[index + 1];
            }
            index++;
        } else if ((byte == 0xCC || (byte == 0xCD && index + 1 < count && t[index + 1] < 0xB0)) && index + 1 < count) {
            index++;
        } else {
            out[length++] = byte;
        }
    }
    return length;
}

bool bench_contains_folded(const void *text, size_t count, const void *pattern, size_t pattern_count) {
    uint8_t small[1024];
    uint8_t *folded = count <= sizeof(small) ? small : malloc(count);
    if (folded == NULL) return false;
    size_t length = bench_fold(text, count, folded);
    bool found = memmem(folded, length, pattern, pattern_count) != NULL;
    if (folded != small) free(folded);
    return found;
}
