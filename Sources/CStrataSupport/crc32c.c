#include "CStrataSupport.h"

#include <string.h>

#define CRC32C_POLYNOMIAL 0x82F63B78u

static uint32_t table[8][256];

__attribute__((constructor)) static void build_table(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) {
            c = (c & 1) ? (c >> 1) ^ CRC32C_POLYNOMIAL : c >> 1;
        }
        table[0][i] = c;
    }
    for (uint32_t i = 0; i < 256; i++) {
        for (int t = 1; t < 8; t++) {
            table[t][i] = (table[t - 1][i] >> 8) ^ table[0][table[t - 1][i] & 0xFF];
        }
    }
}

static uint32_t crc_software(uint32_t c, const uint8_t *p, size_t n) {
    while (n >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        word ^= c;
        c = table[7][word & 0xFF] ^ table[6][(word >> 8) & 0xFF] ^ table[5][(word >> 16) & 0xFF]
            ^ table[4][(word >> 24) & 0xFF] ^ table[3][(word >> 32) & 0xFF] ^ table[2][(word >> 40) & 0xFF]
            ^ table[1][(word >> 48) & 0xFF] ^ table[0][word >> 56];
        p += 8;
        n -= 8;
    }
    while (n-- > 0) {
        c = (c >> 8) ^ table[0][(c ^ *p++) & 0xFF];
    }
    return c;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc_hardware(uint32_t c, const uint8_t *p, size_t n) {
    uint64_t wide = c;
    while (n >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        wide = _mm_crc32_u64(wide, word);
        p += 8;
        n -= 8;
    }
    c = (uint32_t)wide;
    while (n-- > 0) {
        c = _mm_crc32_u8(c, *p++);
    }
    return c;
}

static int has_hardware(void) {
    return __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

static uint32_t crc_hardware(uint32_t c, const uint8_t *p, size_t n) {
    while (n >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        c = __crc32cd(c, word);
        p += 8;
        n -= 8;
    }
    while (n-- > 0) {
        c = __crc32cb(c, *p++);
    }
    return c;
}

static int has_hardware(void) {
    return 1;
}
#else
static uint32_t crc_hardware(uint32_t c, const uint8_t *p, size_t n) {
    return crc_software(c, p, n);
}

static int has_hardware(void) {
    return 0;
}
#endif

uint32_t strata_crc32c(uint32_t crc, const void *bytes, size_t length) {
    uint32_t c = ~crc;
    return ~(has_hardware() ? crc_hardware(c, bytes, length) : crc_software(c, bytes, length));
}
