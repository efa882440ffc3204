/* test_calls.c — checks and choices of tests (raddle/test.h) under test: failures of the run, and decisions of the
 * kernel. In the place of rt/test_calls.c. */
#include "rt/test.h"

#include "lab/programs/fibers/stage.h"
#include "lab/programs/fibers/tell.h"

#include <stdarg.h>
#include <string.h>

enum { SEEDS = 1024, LOOKS_MANY = 1000, FAULT_NAMES_MAX = 64 };

bool rad__test_is_explored(void)
{
    return true;
}

bool rad__test_is_listed(void)
{
    return rad__stage.listed;
}

/* The test itself counts as an operation: one that makes no other has passed, or failed, all the same. */
void rad__test_begins(void)
{
    rad__goals_number();
    rad__stage.testing = true;
    rad__stage.points++;
}

void rad__test_ends(void)
{
    rad__stage.testing = false;
}

void rad__test_refuses(const char *why)
{
    rad__program_unfit(why);
}

void rad__test_stress(rad_stress *s)
{
    (void)s;
}

/* ---- Choices --------------------------------------------------------------------------------------------- */

/* There is no kernel before the first decision, so that ends here. Otherwise a choice is part of the step that it is
 * made in: nobody else can tell when it was made. */
static uint32_t pick(enum rad_pick_kind kind, uint32_t site, uint32_t count)
{
    if (!rad__stage.running) return 0;
    if (rad__stage.prefix) rad__point(site, NULL);
    return rad__tell_pick(kind, site, count);
}

uint32_t rad_choose(uint32_t n)
{
    if (n == 0)
        rad__program_fails(RAD_ORACLE_MISUSE, "rad_choose", "rad_choose: there is nothing to choose from: n is 0");
    return n == 1 ? 0 : pick(RAD_PICK_VALUE, RAD_AT_CHOOSE, n);
}

uint64_t rad_random(void)
{
    rad_stage *s = &rad__stage;
    if (!s->is_seeded) {
        s->random = pick(RAD_PICK_VALUE, RAD_AT_RANDOM, SEEDS) * UINT64_C(0x9e3779b97f4a7c15);
        s->is_seeded = true;
    }
    uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* What fails is an object of the run, so that stories name it. */
static uint32_t fault_object(const char *what)
{
    static const char *names[FAULT_NAMES_MAX];
    uint32_t i = 0;
    while (i < FAULT_NAMES_MAX - 1 && names[i] != NULL && strcmp(names[i], what) != 0) i++;
    if (names[i] == NULL) {
        names[i] = what;
        rad__object_begins(&names[i], RAD_AT_FAULT, what, NULL);
    }
    return rad__object_at(&names[i], RAD_AT_FAULT);
}

bool rad_fault(const char *what)
{
    if (!rad__stage.running || pick(RAD_PICK_FAULT, RAD_AT_FAULT, 2) == 0) return false;
    rad__tell_note(RAD_NOTE_FAULT, fault_object(what), 0);
    return true;
}

/* ---- Checks ---------------------------------------------------------------------------------------------- */

void rad_goal_met(rad_goal *goal, bool holds)
{
    if (goal->number >= RAD_GOALS_MAX || !rad__stage.running) return;
    uint8_t bits = (uint8_t)(RAD_GOAL_CAME | (holds ? RAD_GOAL_HELD : 0));
    if ((rad__stage.goals[goal->number] & bits) == bits) return;
    rad__stage.goals[goal->number] |= bits;
    if (goal->number >= rad__stage.goal_count) rad__stage.goal_count = goal->number + 1;
    if (!rad__stage.prefix) rad__goals_tell();
}

void rad__goals_tell(void)
{
    for (uint32_t i = 0; i < rad__stage.goal_count; i++) {
        if (rad__stage.goals[i] & RAD_GOAL_CAME) rad__tell_reached(RAD_AT_GOALS + 2 * i);
        if (rad__stage.goals[i] & RAD_GOAL_HELD) rad__tell_reached(RAD_AT_GOALS + 2 * i + 1);
    }
}

static uint32_t oracle_of(enum rad_test_kind kind)
{
    return RAD_ORACLE_CHECK + (uint32_t)kind;
}

void rad_check_holds(enum rad_test_kind kind)
{
    if (rad__stage.running && !rad__stage.prefix) rad__tell_evaluated(oracle_of(kind));
}

typedef struct place {
    const char *file, *function;
    unsigned line;
} place;

static place place_of(const char *file, unsigned line, const char *function)
{
    static const char begin[] = "rad_test_of_";
    const char *slash = strrchr(file, '/');
    bool is_test = strncmp(function, begin, sizeof begin - 1) == 0;
    return (place){slash ? slash + 1 : file, is_test ? function + sizeof begin - 1 : function, line};
}

void rad_check_fails(enum rad_test_kind kind, const char *condition, const char *file, unsigned line,
                     const char *function)
{
    char at[200];
    place p = place_of(file, line, function);
    snprintf(at, sizeof at, "%.120s in %.60s", condition, p.function);
    rad__program_fails(oracle_of(kind), at, "%s:%u: %s: check failed: %s", p.file, p.line, p.function, condition);
}

void rad_always_fails(const char *condition, const char *file, unsigned line, const char *function, const char *format,
                      ...)
{
    char what[200], at[200];
    place p = place_of(file, line, function);
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(at, sizeof at, "%.120s in %.60s", format, p.function);
    rad__program_fails(RAD_ORACLE_ALWAYS, at, "%s:%u: %s: not always: %s (%s)", p.file, p.line, p.function, what,
                       condition);
}

/* Looks at something that others will change, or the time: if all others wait, the clock moves. */
void rad_eventually_waits(uint64_t *taken, uint64_t most, const char *condition, const char *file, unsigned line,
                          const char *function)
{
    char at[200];
    place p = place_of(file, line, function);
    if ((*taken)++ < most) {
        if (rad__stage.running) {
            rad__stage.current->looks = LOOKS_MANY;
            rad__stage.current->fair = true;
        }
        rad_yield();
        return;
    }
    snprintf(at, sizeof at, "%.120s in %.60s", condition, p.function);
    rad__program_fails(RAD_ORACLE_EVENTUALLY, at, "%s:%u: %s: not within %llu fair steps: %s", p.file, p.line,
                       p.function, (unsigned long long)most, condition);
}
