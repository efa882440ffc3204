/* shrink_list.c — smaller choice lists: zero (which cuts tails), delete, lower.
 *
 * Chunk sizes follow a fixed schedule (half of the list, a quarter, … 1), each pass goes from the end to
 * the front: late choices depend on early ones, not the other way round. Zeroing comes before deleting
 * because it keeps the meaning of what follows. */
#include "base/alloc.h"
#include "lab/shrink.h"

#include <string.h>

enum edit { EDIT_ZERO, EDIT_DELETE };

static bool draft_room(rad_shrinker *s, uint64_t count)
{
    if (RAD_GROW(&s->draft, &s->draft_capacity, (uint32_t)count + 1)) return true;
    rad__error_memory(s->error);
    return false;
}

/* Length of the best list without its baseline tail. */
static uint64_t list_length(const rad_shrinker *s)
{
    return s->measure.choices;
}

static bool chunk_is_zero(const rad_choice *list, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        if (list[i].chosen != 0) return false;
    return true;
}

static bool list_edit(rad_shrinker *s, enum edit edit, uint64_t from, uint64_t to)
{
    uint64_t count = list_length(s);
    if (!draft_room(s, count)) return false;
    memcpy(s->draft, s->best.choices, count * sizeof *s->draft);
    if (edit == EDIT_ZERO) {
        if (chunk_is_zero(s->draft, from, to)) return false;
        for (uint64_t i = from; i < to; i++) s->draft[i].chosen = 0;
    } else {
        memmove(s->draft + from, s->draft + to, (count - to) * sizeof *s->draft);
        count -= to - from;
    }
    return rad__shrink_try_list(s, s->draft, count);
}

static void list_chunks(rad_shrinker *s, enum edit edit)
{
    for (uint64_t size = list_length(s); size > 0; size /= 2) {
        uint64_t end = list_length(s);
        while (end > 0 && rad__shrink_goes_on(s)) {
            uint64_t from = end > size ? end - size : 0;
            list_edit(s, edit, from, end);
            end = from < list_length(s) ? from : list_length(s);
        }
    }
}

static void list_lower(rad_shrinker *s)
{
    for (uint64_t i = list_length(s); i-- > 0 && rad__shrink_goes_on(s);) {
        if (i >= list_length(s)) continue;
        uint32_t low = 1, high = s->best.choices[i].chosen;
        while (low < high && i < list_length(s) && rad__shrink_goes_on(s)) {
            uint32_t middle = low + (high - low) / 2;
            if (!draft_room(s, list_length(s))) return;
            memcpy(s->draft, s->best.choices, list_length(s) * sizeof *s->draft);
            s->draft[i].chosen = middle;
            if (rad__shrink_try_list(s, s->draft, list_length(s)))
                high = i < list_length(s) ? s->best.choices[i].chosen : 0;
            else
                low = middle + 1;
        }
    }
}

void rad__shrink_list(rad_shrinker *s)
{
    list_chunks(s, EDIT_ZERO);
    list_chunks(s, EDIT_DELETE);
    list_lower(s);
}
