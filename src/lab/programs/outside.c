/* outside.c — see outside.h. */
#include "lab/programs/outside.h"

#include <stdio.h>
#include <string.h>

void rad__outside_add(rad_outside *o, const char *text)
{
    char copy[RAD_OUTSIDE_TEXT];
    uint32_t at = 0;
    snprintf(copy, sizeof copy, "%s", text);
    while (at < o->count && strcmp(o->texts[at], copy) < 0) at++;
    if (at < o->count && strcmp(o->texts[at], copy) == 0) return;
    o->more |= o->count == RAD_OUTSIDE_MAX;
    if (at == RAD_OUTSIDE_MAX) return;
    if (o->count < RAD_OUTSIDE_MAX) o->count++;
    memmove(o->texts[at + 1], o->texts[at], (o->count - at - 1) * sizeof o->texts[0]);
    memcpy(o->texts[at], copy, sizeof copy);
}

void rad__outside_join(rad_outside *o, const rad_outside *more)
{
    for (uint32_t i = 0; i < more->count; i++) rad__outside_add(o, more->texts[i]);
    o->more |= more->more;
}
