/* whole.h — whole numbers as users write them: digits, with a - before them, and nothing else. */
#ifndef RAD_BASE_WHOLE_H
#define RAD_BASE_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

/* False: it is none, or does not fit. */
static inline bool rad__whole_read(const char *text, int64_t *value)
{
    bool negative = *text == '-';
    uint64_t most = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX, n = 0;
    const char *at = text + negative;
    if (*at == 0) return false;
    for (; *at; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (*at < '0' || *at > '9' || n > (most - digit) / 10) return false;
        n = n * 10 + digit;
    }
    *value = negative ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}

#endif
