#ifndef STRATA_DIGEST_H
#define STRATA_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/// The SHA-256 of `length` bytes: 32 bytes at `digest`.
void strata_sha256(const void *_Nullable bytes, size_t length, uint8_t *_Nonnull digest);

/// The same without the processor's instructions for it, as other machines compute it.
void strata_sha256_portable(const void *_Nullable bytes, size_t length, uint8_t *_Nonnull digest);

#endif
