#include "CStrataSupport.h"

#include <string.h>

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t value, int count) {
    return value >> count | value << (32 - count);
}

static void compress_portable(uint32_t state[8], const uint8_t *block) {
    uint32_t schedule[64];
    for (int i = 0; i < 16; i++) {
        schedule[i] = (uint32_t)block[i * 4] << 24 | (uint32_t)block[i * 4 + 1] << 16
            | (uint32_t)block[i * 4 + 2] << 8 | (uint32_t)block[i * 4 + 3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t early = schedule[i - 15], late = schedule[i - 2];
        uint32_t sigma0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >> 3);
        uint32_t sigma1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >> 10);
        schedule[i] = schedule[i - 16] + sigma0 + schedule[i - 7] + sigma1;
    }
    uint32_t v[8];
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t sum1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t first = v[7] + sum1 + choice + round_constants[i] + schedule[i];
        uint32_t sum0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += first;
        v[0] = first + sum0 + majority;
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
}

static void compress_all_portable(uint32_t state[8], const uint8_t *blocks, size_t count) {
    for (; count > 0; count--, blocks += 64) compress_portable(state, blocks);
}

#if defined(__x86_64__)
#include <immintrin.h>

// With the processor's instructions for it, which do two rounds each and are five times as fast. They keep the state
// in two registers, as (a, b, e, f) and (c, d, g, h), highest word first.
__attribute__((target("sha,sse4.1"))) static void compress_all_hardware(
    uint32_t state[8], const uint8_t *blocks, size_t count
) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i dcba = _mm_loadu_si128((const __m128i *)state);
    __m128i hgfe = _mm_loadu_si128((const __m128i *)(state + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1);
    __m128i efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; count > 0; count--, blocks += 64) {
        __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i words[4];
        for (int i = 0; i < 4; i++) {
            words[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks + 16 * i)), big_endian);
        }
        // Four rounds at a time, with the words of the schedule that are sixteen before those computed in their place.
        for (int i = 0; i < 16; i++) {
            __m128i now = words[i & 3];
            __m128i sum = _mm_add_epi32(now, _mm_loadu_si128((const __m128i *)(round_constants + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
            __m128i after = words[(i + 1) & 3], late = words[(i + 3) & 3];
            now = _mm_sha256msg1_epu32(now, after);
            now = _mm_add_epi32(now, _mm_alignr_epi8(late, words[(i + 2) & 3], 4));
            words[i & 3] = _mm_sha256msg2_epu32(now, late);
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static void compress_all(uint32_t state[8], const uint8_t *blocks, size_t count) {
    if (__builtin_cpu_supports("sha") && __builtin_cpu_supports("sse4.1")) {
        compress_all_hardware(state, blocks, count);
    } else {
        compress_all_portable(state, blocks, count);
    }
}
#else
static void compress_all(uint32_t state[8], const uint8_t *blocks, size_t count) {
    compress_all_portable(state, blocks, count);
}
#endif

static void digest_with(
    void (*compress)(uint32_t state[8], const uint8_t *blocks, size_t count), const void *bytes, size_t length,
    uint8_t *digest
) {
    uint32_t state[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    size_t left = length % 64;
    if (length >= 64) compress(state, bytes, length / 64);
    // The rest, a one bit, and the length in bits at the end of the block.
    uint8_t last[128] = {0};
    if (left > 0) memcpy(last, (const uint8_t *)bytes + (length - left), left);
    last[left] = 0x80;
    size_t end = left < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)length * 8;
    for (int i = 0; i < 8; i++) last[end - 1 - (size_t)i] = (uint8_t)(bits >> (8 * i));
    compress(state, last, end / 64);
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void strata_sha256(const void *bytes, size_t length, uint8_t *digest) {
    digest_with(compress_all, bytes, length, digest);
}

void strata_sha256_portable(const void *bytes, size_t length, uint8_t *digest) {
    digest_with(compress_all_portable, bytes, length, digest);
}
