/* suggest.h — which of the names that exist was probably meant. */
#ifndef RAD_FLOW_LANG_SUGGEST_H
#define RAD_FLOW_LANG_SUGGEST_H

#include "base/check.h"

typedef struct rad_flow_suggest {
    const char *wanted;
    size_t length;
    const char *best; /* NULL: none is near */
    uint32_t distance;
    char text[96]; /* rad__flow_suggest_text */
} rad_flow_suggest;

RAD_INTERNAL void rad__flow_suggest_begin(rad_flow_suggest *s, const char *wanted, size_t length);
RAD_INTERNAL void rad__flow_suggest_consider(rad_flow_suggest *s, const char *name);

/* "; did you mean 'name'?", or "". */
RAD_INTERNAL const char *rad__flow_suggest_text(rad_flow_suggest *s);

#endif
