#include "lab/l2/sites.h"

#include "lab/l2/l2.h"

#include <stdio.h>
#include <string.h>

void rad__l2_site_text(uint32_t site, char *text, size_t size)
{
    if (site >= rad__l2_site_count) {
        snprintf(text, size, "its allocation");
        return;
    }
    const l2_site *s = &rad__l2_sites[site];
    if (s->line)
        snprintf(text, size, "%s: %s %u (%s:%u)", s->function, s->operation, (unsigned)s->ordinal, s->file,
                 (unsigned)s->line);
    else
        snprintf(text, size, "%s: %s %u (%s)", s->function, s->operation, (unsigned)s->ordinal,
                 s->file); /* the compiler made one call of several lines */
}

rad_code_site rad__l2_place(uint32_t site)
{
    if (site >= rad__l2_site_count) return (rad_code_site){"its allocation", "new", 1, NULL, NULL};
    const l2_site *s = &rad__l2_sites[site];
    return (rad_code_site){s->function, s->operation, s->ordinal, s->file, NULL};
}

const char *rad__l2_place_text(uint32_t site, char text[L2_PLACE_MAX])
{
    rad_code_site p = rad__l2_place(site);
    int used = snprintf(text, L2_PLACE_MAX, "%.60s: %.30s", p.function, p.operation);
    if (p.ordinal > 1) snprintf(text + used, (size_t)(L2_PLACE_MAX - used), " %u", p.ordinal);
    return text;
}

static const char *next_word(const char *at)
{
    at += strcspn(at, " ");
    return at + strspn(at, " ");
}

uint8_t rad__l2_site_is_of(uint32_t site, const char *stems)
{
    const char *home = rad__l2_sites[site].home, *dot = strrchr(home, '.');
    size_t length = dot ? (size_t)(dot - home) : strlen(home);
    uint8_t number = 1;
    for (const char *at = stems; *at; at = next_word(at), number++) {
        size_t word = strcspn(at, " ");
        if (word > length || strncmp(home + length - word, at, word) != 0) continue;
        if (word == length || home[length - word - 1] == '/') return number;
    }
    return 0;
}

bool rad__l2_site_is_named(uint32_t site, const char *functions)
{
    const l2_site *s = &rad__l2_sites[site];
    size_t length = strlen(s->function), more = strlen(s->operation);
    for (const char *at = functions; *at; at = next_word(at)) {
        size_t word = strcspn(at, " ");
        if (strncmp(at, s->function, length) != 0) continue;
        if (word == length) return true;
        if (at[length] == ':' && word == length + 1 + more && strncmp(at + length + 1, s->operation, more) == 0)
            return true;
    }
    return false;
}
