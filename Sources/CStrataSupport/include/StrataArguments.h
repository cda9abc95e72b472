#ifndef STRATA_ARGUMENTS_H
#define STRATA_ARGUMENTS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/// Takes `count` arguments off a list: kinds[i] is 'd' for a double, anything else for a word (an integer, a pointer).
/// Words and the bits of doubles go into `words`.
void strata_arguments_read(
    const char *_Nonnull kinds, size_t count, uint64_t *_Nonnull words, va_list arguments);

#endif
