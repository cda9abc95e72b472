#include "StrataArguments.h"

#include <string.h>

void strata_arguments_read(const char *kinds, size_t count, uint64_t *words, va_list arguments) {
    for (size_t index = 0; index < count; index++) {
        if (kinds[index] == 'd') {
            double value = va_arg(arguments, double);
            memcpy(&words[index], &value, sizeof(value));
        } else {
            words[index] = va_arg(arguments, uint64_t);
        }
    }
}
