/* race_take.c — what raddle reads of it; see race.h. Apart from race.c, which the library of a program under test has:
 * through names of places this needs all of the lab, and that library would carry it into each program. */
#include "lab/race.h"

#include "lab/programs/inserted.h"
#include "lab/programs/source_name.h"

#include <stdio.h>
#include <string.h>

enum { FIELDS = 9 };

void rad__race_take(rad_kernel *k, const rad_record *record, char *text)
{
    char *fields[FIELDS], *at = text, one[RAD_SOURCE_MAX], other[RAD_SOURCE_MAX];
    for (uint32_t i = 0; i < FIELDS; i++) {
        char *end = strchr(at, '\n');
        if (end == NULL) return;
        *end = 0;
        fields[i] = at;
        at = end + 1;
    }
    rad_race_told r = {.oracle = record->c >> 16,
                       .first = record->a,
                       .second = record->b,
                       .first_kind = record->c >> 8 & 3,
                       .second_kind = record->c & 3,
                       .one = {fields[3], fields[4], (uint32_t)(record->value >> 32), NULL, fields[5]},
                       .other = {fields[6], fields[7], (uint32_t)record->value, NULL, fields[8]}};
    if (k->options.suppressed) {
        rad__source_of_spot(fields[1], one, sizeof one);
        rad__source_of_spot(fields[2], other, sizeof other);
        r.one.file = one;
        r.other.file = other;
    }
    snprintf(r.what, sizeof r.what, "%s", fields[0]);
    snprintf(r.first_spot, sizeof r.first_spot, "%s", fields[1]);
    snprintf(r.second_spot, sizeof r.second_spot, "%s", fields[2]);
    rad__spots_read(r.first_spot, sizeof r.first_spot);
    rad__spots_read(r.second_spot, sizeof r.second_spot);
    rad__race_tell(k, &r);
}
