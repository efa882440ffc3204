#include "base/sort.h"

#include "base/alloc.h"

#include <string.h>

/* Swaps neighbours: what is in the way goes up one place, and nothing is ever kept aside. */
static void insert_all(char *items, size_t count, size_t size, rad_is_after *is_after, const void *context)
{
    for (size_t i = 1; i < count; i++) {
        for (char *at = items + i * size; at > items && is_after(context, at - size, at); at -= size) {
            for (size_t k = 0; k < size; k++) {
                char swap = at[k];
                at[k] = at[k - size];
                at[k - size] = swap;
            }
        }
    }
}

void rad__sort(void *items, size_t count, size_t size, rad_is_after *is_after, const void *context)
{
    if (count < 2) return;
    char *other = rad__alloc(count, size), *from = items, *to = other;
    if (other == NULL) {
        insert_all(items, count, size, is_after, context);
        return;
    }
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * run) {
            size_t middle = begin + run < count ? begin + run : count;
            size_t end = middle + run < count ? middle + run : count, a = begin, b = middle;
            for (size_t i = begin; i < end; i++) {
                bool left = b == end || (a < middle && !is_after(context, from + a * size, from + b * size));
                memcpy(to + i * size, from + (left ? a++ : b++) * size, size);
            }
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, count * size);
    rad__free(other);
}
