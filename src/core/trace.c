#include "core/trace.h"

#include "base/alloc.h"

bool rad__trace_open(rad_trace *t)
{
    *t = (rad_trace){0};
    return RAD_GROW(&t->events, &t->capacity, RAD_TRACE_KEEP);
}

void rad__trace_free(rad_trace *t)
{
    rad__free(t->events);
    *t = (rad_trace){0};
}

void rad__trace_restart(rad_trace *t, bool whole)
{
    t->count = 0;
    t->digest = (rad_digest){RAD_TRACE_VERSION, 0};
    t->whole = whole;
    t->failed = false;
}

bool rad__trace_grow(rad_trace *t)
{
    if (t->capacity > UINT32_MAX / 4 || !RAD_GROW(&t->events, &t->capacity, t->capacity * 2)) {
        t->failed = true;
        t->whole = false; /* from here on it is a ring again */
    }
    return !t->failed;
}
