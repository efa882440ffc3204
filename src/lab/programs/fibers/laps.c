/* laps.c — a fiber that waits for ever while others go on: starvation, or a livelock in which nobody yields.
 *
 * Lap       steps that end in the state in which they began (round.c), made by choosing who runs and nothing else, in
 *           which every runner that could run did. So a fair scheduler can repeat it for ever.
 * Starved   is a runner that waits during all of a lap, in which others use what it waits for: a reader that writers
 *           shut out. A lap without one is a livelock: somebody waits for the end of those who go round.
 * Search    A state is dear, so of long runs a part is looked at: from step 64, 128, 256 … of a run the following
 *           steps, a quarter as many, are compared with it. Until somebody waits, and the runner that stepped is to do
 *           what it was to do at the mark, that is a few comparisons a step.
 *
 * fair.c finds the rounds of loops that yield earlier: after their first steps. A lap that counts something is none;
 * for that there is bypass.c. */
#include "lab/programs/fibers/stage.h"

#include "lab/programs/fibers/tell.h"
#include "lab/programs/threads/threads.h"

#include <stdio.h>

enum { FIRST = 64, RUNNERS_MOST = 64, USED_MOST = 64, WHOLES_MOST = 4 };

static struct {
    uint64_t mark, until, next; /* steps; until: compared */
    uint64_t could, did;        /* bits of runners, since the mark */
    uint64_t picks;             /* at the mark */
    bool whole;                 /* the whole state of the mark is known */
    uint32_t wholes;            /* of the marks of a stretch, and of what was compared with them */
    rad_digest part_then, whole_then;
    uint32_t number, site; /* of the runner that made the step of the mark, … */
    const void *object;    /* … and what it does next */
    uint32_t used_count;
    const void *used[USED_MOST]; /* objects of operations since the mark */
} lap;

static uint64_t bit(uint32_t runner)
{
    return UINT64_C(1) << runner;
}

static uint64_t who_can_run(void)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < rad__stage.runner_count; i++)
        if (rad__stage.runners[i].enabled) bits |= bit(i);
    return bits;
}

static void use(const void *object)
{
    for (uint32_t i = 0; i < lap.used_count; i++)
        if (lap.used[i] == object) return;
    if (object != NULL && lap.used_count < USED_MOST) lap.used[lap.used_count++] = object;
}

/* What it waits for, by the address that operations have; NULL: for the end of others, or nothing that is known. */
static const void *waited_by(const rad_runner *r)
{
    return r->site == RAD_AT_join || r->site == RAD_AT_nursery_wait ? NULL : r->object;
}

static bool waits(const rad_runner *r)
{
    bool can = r->kind == RAD_RUNNER_FIBER || rad__thread_is_waiting(r);
    return can && !r->ended && !r->enabled && !(lap.could & bit(r->number));
}

static bool is_starved(const rad_runner *r)
{
    const void *object = waits(r) ? waited_by(r) : NULL;
    for (uint32_t i = 0; object != NULL && i < lap.used_count; i++)
        if (lap.used[i] == object) return true;
    return false;
}

static bool somebody_waits(void)
{
    for (uint32_t i = 0; i < rad__stage.runner_count; i++)
        if (waits(&rad__stage.runners[i])) return true;
    return false;
}

static void mark_here(const rad_runner *r)
{
    rad_stage *s = &rad__stage;
    lap.mark = s->steps;
    lap.could = who_can_run();
    lap.did = 0;
    lap.picks = s->picks;
    lap.number = r->number;
    lap.site = r->site;
    lap.object = r->object;
    lap.used_count = 0;
}

static void lap_begins(const rad_runner *r)
{
    lap.next = 2 * rad__stage.steps;
    lap.until = 0;
    if (rad__stage.runner_count > RUNNERS_MOST) return;
    mark_here(r);
    lap.whole = false;
    lap.wholes = 0;
    if (somebody_waits() && rad__round_state(false, &lap.part_then)) lap.until = lap.mark + lap.mark / 4;
}

static void report(void)
{
    char why[200];
    uint32_t starved[RUNNERS_MOST], waiting[RUNNERS_MOST], starved_count = 0, count = 0;
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        const rad_runner *r = &rad__stage.runners[i];
        if (waits(r)) waiting[count++] = i;
        if (is_starved(r)) starved[starved_count++] = i;
    }
    snprintf(why, sizeof why,
             "Steps %llu to %llu can repeat forever: they end in the state in which they began, "
             "and each that can run does",
             (unsigned long long)lap.mark, (unsigned long long)rad__stage.steps - 1);
    rad__frames_tell_all(false);
    rad__stage.over = true;
    if (starved_count > 0)
        rad__tell_stuck(RAD_ORACLE_STARVED, starved, starved_count, why);
    else
        rad__tell_stuck(RAD_ORACLE_LIVELOCK, waiting, count, why);
}

/* The runner is where that of the mark was, and everybody who could run did. */
static void compare(const rad_runner *r)
{
    rad_digest part, whole;
    if (!somebody_waits()) return;
    rad__tell_evaluated(RAD_ORACLE_STARVED);
    if (!rad__round_state(false, &part) || !rad__digest_equal(part, lap.part_then)) return;
    if (lap.wholes++ == WHOLES_MOST || !rad__round_state(true, &whole)) {
        lap.until = 0;
        return;
    }
    if (lap.whole && rad__digest_equal(whole, lap.whole_then)) {
        report();
        return;
    }
    mark_here(r);
    lap.whole = true;
    lap.whole_then = whole;
}

void rad__laps_look(const rad_runner *r, const void *object)
{
    rad_stage *s = &rad__stage;
    if (s->over || s->enabled_count == 0) return;
    if (lap.next == 0) lap.next = FIRST;
    if (s->steps >= lap.next) {
        lap_begins(r);
    } else if (s->steps < lap.until) {
        if (r->kind == RAD_RUNNER_CLOCK || s->runner_count > RUNNERS_MOST) {
            lap.until = 0;
            return;
        }
        use(object);
        lap.did |= bit(r->number);
        lap.could |= who_can_run();
        bool same = r->number == lap.number && r->site == lap.site && r->object == lap.object;
        if (same && (lap.could & ~lap.did) == 0 && s->picks == lap.picks) compare(r);
    }
    s->next_look = s->steps < lap.until ? s->steps + 1 : lap.next;
}
