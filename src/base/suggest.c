#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

enum { LENGTH_MAX = 60 };

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* How many characters have to be put in, taken out, replaced, or swapped with their neighbour. */
static uint32_t distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
    uint32_t rows[3][LENGTH_MAX + 1];
    for (size_t j = 0; j <= b_length; j++) rows[0][j] = (uint32_t)j;
    for (size_t i = 1; i <= a_length; i++) {
        uint32_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = (uint32_t)i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(least(row[j - 1], above[j]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

void rad__suggest_begin(rad_suggest *s, const char *wanted, size_t length)
{
    *s = (rad_suggest){.wanted = wanted, .length = length, .distance = UINT32_MAX};
}

static void add_name(rad_suggest *s, const char *name)
{
    size_t used = strlen(s->names), room = sizeof s->names - used;
    int size = snprintf(s->names + used, room, "%s%s", used == 0 ? "; use " : ", ", name);
    s->are_too_many |= (size_t)size >= room;
}

/* One mistake in a short word, two in a longer one, then one in three characters: what is farther off is a guess. A
 * name that begins with the word is as near as one mistake. The first of equals is kept. The word itself is in the
 * wrong place: it is no suggestion. */
void rad__suggest_consider(rad_suggest *s, const char *name)
{
    size_t length = strlen(name);
    add_name(s, name);
    if (length > LENGTH_MAX || s->length > LENGTH_MAX) return;
    uint32_t distance = distance_of(s->wanted, s->length, name, length);
    uint32_t allowed = s->length < 3 ? 0 : s->length < 5 ? 1 : s->length < 9 ? 2 : (uint32_t)s->length / 3;
    bool begins = s->length > 1 && length > s->length && memcmp(name, s->wanted, s->length) == 0;
    if (begins) distance = allowed = 1;
    if (distance == 0 || distance > allowed || distance >= s->distance) return;
    s->distance = distance;
    s->best = name;
}

const char *rad__suggest_text(rad_suggest *s, const char *prefix)
{
    s->text[0] = 0;
    if (s->best != NULL) snprintf(s->text, sizeof s->text, "; did you mean '%s%s'?", prefix, s->best);
    return s->text;
}

const char *rad__suggest_or_all(rad_suggest *s)
{
    return s->best != NULL ? rad__suggest_text(s, "") : s->are_too_many ? "" : s->names;
}
