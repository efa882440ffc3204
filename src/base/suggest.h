/* suggest.h — which of the names that exist was probably meant. */
#ifndef RAD_BASE_SUGGEST_H
#define RAD_BASE_SUGGEST_H

#include "base/check.h"

typedef struct rad_suggest {
    const char *wanted;
    size_t length;
    const char *best; /* NULL: none is near */
    uint32_t distance;
    char text[96];   /* rad__suggest_text */
    char names[160]; /* all that were considered, "; use a, b, c"; "" if they are too many */
    bool are_too_many;
} rad_suggest;

RAD_INTERNAL void rad__suggest_begin(rad_suggest *s, const char *wanted, size_t length);
RAD_INTERNAL void rad__suggest_consider(rad_suggest *s, const char *name);

/* "; did you mean 'PREFIXname'?", or "". */
RAD_INTERNAL const char *rad__suggest_text(rad_suggest *s, const char *prefix);

/* The same; if none is near, all that there are: "; use a, b, c", or "" if those are too many for a line. */
RAD_INTERNAL const char *rad__suggest_or_all(rad_suggest *s);

#endif
