/* race.c — what the program tells; see race.h. */
#include "lab/race.h"

#include "lab/order.h"

#include <stdio.h>

static void racer_text(const rad_kernel *k, uint32_t actor, char name[RAD_NAME_MAX])
{
    if (actor == RAD_NONE)
        snprintf(name, RAD_NAME_MAX, "one that has ended");
    else
        rad__actor_name(k, actor, name);
}

static void place_text(const rad_code_site *p, const char *spot, char text[160])
{
    int used = snprintf(text, 160, "%.60s: %.30s", p->function, p->operation);
    if (p->ordinal > 1) used += snprintf(text + used, (size_t)(160 - used), " %u", p->ordinal);
    snprintf(text + used, (size_t)(160 - used), "%s%s", spot[0] ? " " : "", spot);
}

void rad__race_tell(rad_kernel *k, const rad_race_told *r)
{
    char first[RAD_NAME_MAX], second[RAD_NAME_MAX], there[160], here[160];
    racer_text(k, r->first, first);
    racer_text(k, r->second, second);
    place_text(&r->one, r->first_spot, there);
    place_text(&r->other, r->second_spot, here);
    rad_race(k, r->oracle, RAD_NONE, &r->one, &r->other, "%s: %s %s at %s; %s %s at %s; nothing orders the two",
             r->what, first, rad__access_text(r->first_kind), there, second, rad__access_text(r->second_kind), here);
}

/* Fields, each with a newline behind it. */
void rad__race_put(rad_call_stream *s, const rad_race_told *r)
{
    char text[RAD_STREAM_TEXT_MAX];
    snprintf(text, sizeof text, "%.70s\n%.300s\n%.300s\n%.200s\n%.30s\n%.90s\n%.200s\n%.30s\n%.90s\n", r->what,
             r->first_spot, r->second_spot, r->one.function, r->one.operation, r->one.module ? r->one.module : "",
             r->other.function, r->other.operation, r->other.module ? r->other.module : "");
    uint32_t kinds = r->first_kind << 8 | r->second_kind;
    int64_t ordinals = (int64_t)r->one.ordinal << 32 | r->other.ordinal;
    /* The oracle is above the kinds. */
    rad__stream_put(s, &(rad_record){RAD_STREAM_RACE, r->first, r->second, r->oracle << 16 | kinds, ordinals, 0}, text);
}
