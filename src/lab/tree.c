/* tree.c — depth-first search over choice lists, without keeping a tree.
 *
 * A run records (chosen, count) per decision. The next run of the search takes the deepest decision that
 * has another alternative, takes it, and leaves the rest to the baseline. In this order every list of
 * choices comes exactly once, and what has been done is always "everything to the left of the path". So
 * the path is the whole state of the search: it can stop, go on in another process, or be cut in two.
 *
 * Bounds: the cost of a list is the sum of its choices' costs; lists above the limit are left out.
 *   preemptions   1 for leaving an actor that could go on
 *   delays        the index itself: how many candidates are passed over */
#include "base/alloc.h"
#include "lab/batch.h"

#include <string.h>

uint64_t rad__tree_cost(enum rad_bound bound, const rad_choice *c, uint32_t chosen)
{
    if (c->kind != RAD_PICK_ACTION) return 0;
    if (bound == RAD_BOUND_PREEMPTIONS) return chosen != 0 && (c->flags & RAD_CHOICE_PREEMPTIBLE);
    if (bound == RAD_BOUND_DELAYS) return chosen;
    return 0;
}

static uint64_t tree_cost_before(const rad_choice *run, uint64_t count, enum rad_bound bound)
{
    uint64_t cost = 0;
    if (bound == RAD_BOUND_NONE) return 0;
    for (uint64_t i = 0; i < count; i++) cost += rad__tree_cost(bound, &run[i], run[i].chosen);
    return cost;
}

/* Costs never fall with the index, so if the next alternative is too dear, all later ones are. */
static bool tree_affordable(const rad_choice *c, uint64_t spent, enum rad_bound bound, uint64_t limit)
{
    return bound == RAD_BOUND_NONE || spent + rad__tree_cost(bound, c, c->chosen + 1) <= limit;
}

bool rad__tree_advance(rad_choice *run, uint64_t *count, uint64_t floor, enum rad_bound bound, uint64_t limit,
                       bool *pruned)
{
    uint64_t spent = tree_cost_before(run, *count, bound);
    for (uint64_t i = *count; i-- > floor;) {
        rad_choice *c = &run[i];
        spent -= rad__tree_cost(bound, c, c->chosen);
        if (c->chosen + 1 >= c->count) continue;
        if (!tree_affordable(c, spent, bound, limit)) {
            *pruned = true;
            continue;
        }
        c->chosen++;
        *count = i + 1;
        return true;
    }
    *count = 0;
    return false;
}

bool rad__tree_split(rad_batch *u, rad_batch *other)
{
    uint64_t spent = tree_cost_before(u->path, u->floor, u->bound);
    for (uint64_t d = u->floor; d < u->path_count; d++) {
        const rad_choice *c = &u->path[d];
        if (c->chosen + 1 < c->count && tree_affordable(c, spent, u->bound, u->bound_limit)) {
            rad_choice *path = rad__alloc(d + 1, sizeof *path);
            if (path == NULL) return false;
            memcpy(path, u->path, (d + 1) * sizeof *path);
            path[d].chosen++;
            *other = *u;
            other->path = path;
            other->path_count = d + 1; /* it keeps the floor: what is too dear above d is its to see */
            u->floor = d + 1;
            return true;
        }
        spent += rad__tree_cost(u->bound, c, c->chosen);
    }
    return false;
}
