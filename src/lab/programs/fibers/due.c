/* due.c — runners that wait for the clock: a heap of their numbers, by time and then by number.
 *
 * base/heap.h takes the lab's memory, which stays as it is when a run has ended; this is the run's. */
#include "lab/programs/fibers/stage.h"

static bool is_before(const rad_runner *a, const rad_runner *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->number < b->number;
}

static rad_runner *due_at(uint32_t place)
{
    return &rad__stage.runners[rad__stage.due[place]];
}

static void put(rad_runner *r, uint32_t place)
{
    rad__stage.due[place] = r->number;
    r->due_at = place;
}

static void rise(rad_runner *r, uint32_t place)
{
    while (place > 0 && is_before(r, due_at((place - 1) / 2))) {
        put(due_at((place - 1) / 2), place);
        place = (place - 1) / 2;
    }
    put(r, place);
}

static void sink(rad_runner *r, uint32_t place)
{
    uint32_t count = rad__stage.due_count, child;
    while ((child = 2 * place + 1) < count) {
        if (child + 1 < count && is_before(due_at(child + 1), due_at(child))) child++;
        if (!is_before(due_at(child), r)) break;
        put(due_at(child), place);
        place = child;
    }
    put(r, place);
}

static void take_out(const rad_runner *r)
{
    rad_runner *last = due_at(--rad__stage.due_count);
    if (last == r) return;
    sink(last, r->due_at);
    rise(last, last->due_at);
}

void rad__due_set(rad_runner *r, uint64_t ns)
{
    if (r->due_ns == ns) return;
    if (r->due_ns != UINT64_MAX) take_out(r);
    r->due_ns = ns;
    if (ns != UINT64_MAX) rise(r, rad__stage.due_count++);
}

rad_runner *rad__due_first(void)
{
    return rad__stage.due_count > 0 ? due_at(0) : NULL;
}
