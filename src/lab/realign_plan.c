/* realign_plan.c — compares a run with the recording as diff compares texts: who is who, and which step is which.
 *
 * An actor keeps its name unless less than half of what it does is what the recorded one of that name did; the others
 * are paired by how much they have in common. Within a pair the longest common subsequence of sites decides, which is
 * quadratic: actors with more than LONGEST steps are left to the rules of the policy. Where a step was renamed and
 * another added beside it, either may be the recorded one: pairs are made as early, or as late, as possible. */
#include "base/alloc.h"
#include "lab/realign.h"

#include <string.h>

enum { LONGEST = 2000, ACTORS_MOST = 128, CELLS_MOST = 50 * 1000 * 1000 };

typedef struct planner {
    const rad_path *recorded, *run;
    const bool *vanished; /* recorded sites that the machine has no more */
    rad_realign_plan *plan;
    uint32_t *order, *from; /* of the recording, as in the plan */
    uint32_t *site_of;      /* site of the run -> recorded one, or RAD_NONE */
    uint16_t *table;        /* (LONGEST + 1)² */
    uint32_t *common;       /* recorded actor × actor of the run */
    bool *taken;            /* recorded actors */
    bool by_name;           /* as in rad_realign_options */
    bool late;              /* pairs as late as possible: both lists are read backwards */
} planner;

/* Steps by actor: `from` has actor_count + 1 entries. */
static void sort_steps(const rad_path *p, uint32_t *order, uint32_t *from)
{
    for (uint32_t i = 0; i < p->step_count; i++) from[p->steps[i].actor + 1]++;
    for (uint32_t i = 0; i < p->actor_count; i++) from[i + 1] += from[i];
    for (uint32_t i = 0; i < p->step_count; i++) order[from[p->steps[i].actor]++] = i;
    for (uint32_t i = p->actor_count; i > 0; i--) from[i] = from[i - 1];
    if (p->actor_count) from[0] = 0;
}

static uint32_t count_of(const uint32_t *from, uint32_t actor)
{
    return from[actor + 1] - from[actor];
}

static bool is_equal(const planner *p, uint32_t recorded_step, uint32_t run_step)
{
    const rad_path_step *one = &p->recorded->steps[recorded_step], *two = &p->run->steps[run_step];
    uint32_t now = p->site_of[two->site];
    bool same = rad__path_same_object(p->recorded->objects[one->object], p->run->objects[two->object]);
    if (now != RAD_NONE) return now == one->site && (same || !p->by_name);
    /* A site that is new, and one that is no more, about one object: renamed. */
    return p->vanished[one->site] && same;
}

/* Two actors, and their steps in the order in which they are compared. */
typedef struct couple {
    const uint32_t *one, *two;
    uint32_t rows, columns;
    bool late;
} couple;

static couple couple_of(const planner *p, uint32_t recorded, uint32_t now)
{
    return (couple){
        .one = p->order + p->from[recorded],
        .two = p->plan->order + p->plan->from[now],
        .rows = count_of(p->from, recorded),
        .columns = count_of(p->plan->from, now),
        .late = p->late,
    };
}

static uint32_t recorded_at(const couple *c, uint32_t i)
{
    return c->one[c->late ? c->rows - 1 - i : i];
}

static uint32_t now_at(const couple *c, uint32_t j)
{
    return c->two[c->late ? c->columns - 1 - j : j];
}

/* How many steps the two have in common, in order; the table is filled from the end, so that pairs come as early as
 * possible. */
static uint32_t common_steps(planner *p, uint32_t recorded, uint32_t now)
{
    couple c = couple_of(p, recorded, now);
    if (c.rows > LONGEST || c.columns > LONGEST) return 0;
    uint32_t width = c.columns + 1;
    for (uint32_t j = 0; j <= c.columns; j++) p->table[(size_t)c.rows * width + j] = 0;
    for (uint32_t i = c.rows; i-- > 0;) {
        uint16_t *row = p->table + (size_t)i * width, *below = row + width;
        row[c.columns] = 0;
        for (uint32_t j = c.columns; j-- > 0;)
            if (is_equal(p, recorded_at(&c, i), now_at(&c, j)))
                row[j] = (uint16_t)(below[j + 1] + 1);
            else
                row[j] = below[j] > row[j + 1] ? below[j] : row[j + 1];
    }
    return p->table[0];
}

/* Pairs the steps of two actors whose table was just filled. */
static void pair_steps(planner *p, uint32_t recorded, uint32_t now)
{
    couple c = couple_of(p, recorded, now);
    uint32_t width = c.columns + 1;
    if (c.rows > LONGEST || c.columns > LONGEST) return;
    for (uint32_t i = 0, j = 0; i < c.rows && j < c.columns;) {
        const uint16_t *row = p->table + (size_t)i * width, *below = row + width;
        if (is_equal(p, recorded_at(&c, i), now_at(&c, j)))
            p->plan->step_of[now_at(&c, j++)] = recorded_at(&c, i++);
        else if (below[j] >= row[j + 1])
            i++;
        else
            j++;
    }
}

static void pair(planner *p, uint32_t recorded, uint32_t now)
{
    p->plan->actor_of[now] = recorded;
    p->taken[recorded] = true;
}

/* Whether at least half of what the shorter of the two does is common. The other one may have been cut short. */
static bool is_like(const planner *p, uint32_t recorded, uint32_t now)
{
    uint32_t one = count_of(p->from, recorded), two = count_of(p->plan->from, now);
    uint32_t shorter = one < two ? one : two;
    return 2 * p->common[recorded * p->run->actor_count + now] >= shorter;
}

static void pair_actors(planner *p)
{
    uint32_t many = p->run->actor_count;
    for (uint32_t i = 0; i < many; i++) {
        uint32_t same = rad__path_find_actor(p->recorded, p->run->actors[i]);
        if (same != RAD_NONE && is_like(p, same, i)) pair(p, same, i);
    }
    for (;;) {
        uint32_t best = 0, recorded = 0, now = 0;
        for (uint32_t i = 0; i < p->recorded->actor_count; i++)
            for (uint32_t j = 0; j < many && !p->taken[i]; j++) {
                uint32_t common = p->common[i * many + j];
                if (p->plan->actor_of[j] != RAD_NONE || common <= best) continue;
                best = common;
                recorded = i;
                now = j;
            }
        if (best == 0) return;
        pair(p, recorded, now);
    }
}

static void compare(planner *p)
{
    uint32_t many = p->run->actor_count;
    for (uint32_t i = 0; i < p->run->site_count; i++)
        p->site_of[i] = rad__path_find_site(p->recorded, p->run->sites[i]);
    sort_steps(p->recorded, p->order, p->from);
    sort_steps(p->run, p->plan->order, p->plan->from);
    for (uint32_t i = 0; i < p->run->step_count; i++) p->plan->step_of[i] = RAD_NONE;
    for (uint32_t i = 0; i < many; i++) p->plan->actor_of[i] = RAD_NONE;
    bool few = many <= ACTORS_MOST && p->recorded->actor_count <= ACTORS_MOST &&
               (uint64_t)p->recorded->step_count * p->run->step_count <= CELLS_MOST;
    for (uint32_t i = 0; few && i < p->recorded->actor_count; i++)
        for (uint32_t j = 0; j < many; j++) p->common[i * many + j] = common_steps(p, i, j);
    if (few) pair_actors(p);
    for (uint32_t j = 0; j < many; j++) {
        if (!few) p->plan->actor_of[j] = rad__path_find_actor(p->recorded, p->run->actors[j]);
        if (p->plan->actor_of[j] == RAD_NONE) continue;
        common_steps(p, p->plan->actor_of[j], j);
        pair_steps(p, p->plan->actor_of[j], j);
    }
}

void rad__realign_plan_free(rad_realign_plan *plan)
{
    rad__free(plan->actor_of);
    rad__free(plan->step_of);
    rad__free(plan->order);
    rad__free(plan->from);
    *plan = (rad_realign_plan){.run = NULL};
}

int rad__realign_plan(rad_realign_plan *plan, const rad_realign_options *o, const rad_path *run, bool late,
                      rad_error *error)
{
    const rad_path *recorded = o->recorded;
    planner p = {
        .recorded = recorded, .vanished = o->vanished, .run = run, .plan = plan, .by_name = o->by_name, .late = late};
    size_t pairs = (size_t)recorded->actor_count * run->actor_count;
    if (pairs > (size_t)ACTORS_MOST * ACTORS_MOST) pairs = 1;
    *plan = (rad_realign_plan){
        .run = run,
        .actor_of = rad__alloc(run->actor_count, sizeof *plan->actor_of),
        .step_of = rad__alloc(run->step_count, sizeof *plan->step_of),
        .order = rad__alloc(run->step_count, sizeof *plan->order),
        .from = rad__alloc((size_t)run->actor_count + 1, sizeof *plan->from),
    };
    p.order = rad__alloc(recorded->step_count, sizeof *p.order);
    p.from = rad__alloc((size_t)recorded->actor_count + 1, sizeof *p.from);
    p.site_of = rad__alloc(run->site_count, sizeof *p.site_of);
    p.table = rad__alloc_later((size_t)(LONGEST + 1) * (LONGEST + 1), sizeof *p.table);
    p.common = rad__alloc(pairs, sizeof *p.common);
    p.taken = rad__alloc(recorded->actor_count, sizeof *p.taken);
    bool done = plan->actor_of && plan->step_of && plan->order && plan->from && p.order && p.from && p.site_of &&
                p.table && p.common && p.taken;
    if (done) compare(&p);
    void *const lists[] = {p.order, p.from, p.site_of, p.table, p.common, p.taken};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) rad__free(lists[i]);
    if (done) return 0;
    rad__realign_plan_free(plan);
    return rad__error_memory(error);
}
