/* text.h — what a character is, in every locale. */
#ifndef RAD_BASE_TEXT_H
#define RAD_BASE_TEXT_H

#include "base/check.h"

static inline bool rad__is_digit(char c)
{
    return c >= '0' && c <= '9';
}

#endif
