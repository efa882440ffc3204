#include "lab/l2/sites.h"

#include "lab/l2/l2.h"

#include <stdio.h>

void rad__l2_site_text(uint32_t site, char *text, size_t size)
{
    if (site >= rad__l2_site_count) {
        snprintf(text, size, "its allocation");
        return;
    }
    const l2_site *s = &rad__l2_sites[site];
    if (s->line)
        snprintf(text, size, "%s: %s %u (%s:%u)", s->function, s->operation, (unsigned)s->ordinal,
                 s->file, (unsigned)s->line);
    else
        snprintf(text, size, "%s: %s %u (%s)", s->function, s->operation, (unsigned)s->ordinal,
                 s->file); /* the compiler made one call of several lines */
}
