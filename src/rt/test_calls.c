/* test_calls.c — checks and choices in production: those of a stress on threads (test_main.c), or of a program without
 * tests. See test.h. */
#include "rt/test.h"

#include "base/readable.h"
#include "os/trial.h"

#include <stdatomic.h>
#include <string.h>

enum { FAULT_ONCE_IN = 8 };

static rad_stress *stress; /* NULL: none is under way */

void rad__test_stress(rad_stress *s)
{
    stress = s;
}

bool rad__test_is_explored(void)
{
    return false;
}

bool rad__test_is_listed(void)
{
    return false;
}

void rad__test_begins(void)
{
}

void rad__test_ends(void)
{
}

void rad__test_refuses(const char *why)
{
    rad__misuse("rad_test_main", why);
}

/* ---- Choices ------------------------------------------------------------------------------------------- */

/* A number for each draw: threads that draw at the same time get different ones. */
static uint64_t draw(void)
{
    static _Atomic uint64_t others;
    _Atomic uint64_t *draws = stress ? &stress->draws : &others;
    uint64_t z = (stress ? stress->seed : 0) +
                 atomic_fetch_add_explicit(draws, 1, memory_order_relaxed) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t rad_choose(uint32_t n)
{
    if (n == 0) rad__misuse("rad_choose", "there is nothing to choose from: n is 0");
    return stress ? (uint32_t)(draw() % n) : 0;
}

uint64_t rad_random(void)
{
    return draw();
}

bool rad_fault(const char *what)
{
    (void)what;
    return stress && draw() % FAULT_ONCE_IN == 0;
}

/* ---- Checks -------------------------------------------------------------------------------------------- */

void rad_goal_met(rad_goal *goal, bool holds)
{
    if (stress == NULL || goal->number >= RAD_GOALS_MAX) return;
    _Atomic uint8_t *state = &stress->goals[goal->number];
    uint8_t bits = (uint8_t)(RAD_GOAL_CAME | (holds ? RAD_GOAL_HELD : 0));
    if ((atomic_load_explicit(state, memory_order_relaxed) & bits) != bits)
        atomic_fetch_or_explicit(state, bits, memory_order_relaxed);
}

void rad_check_holds(enum rad_test_kind kind)
{
    (void)kind;
}

static _Noreturn void fails(const char *text)
{
    if (stress == NULL) rad__misuse("rad_check", text);
    if (atomic_fetch_add_explicit(&stress->failed, 1, memory_order_relaxed) == 0) {
        rad__readable_text(stress->text, sizeof stress->text, "%s", text);
        rad__os_trial_ends(1);
    }
    for (;;) rad__os_trial_rests(); /* another fiber has failed first, and ends the process */
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void rad_check_fails(enum rad_test_kind kind, const char *condition, const char *file, unsigned line,
                     const char *function)
{
    char text[500];
    (void)kind;
    rad__readable_text(text, sizeof text, "%s:%u: %s: check failed: %s", file_name(file), line, function, condition);
    fails(text);
}

void rad_always_fails(const char *condition, const char *file, unsigned line, const char *function, const char *format,
                      ...)
{
    char text[500], what[200];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    rad__readable_text(text, sizeof text, "%s:%u: %s: not always: %s (%s)", file_name(file), line, function, what,
                       condition);
    fails(text);
}

void rad_eventually_waits(uint64_t *taken, uint64_t most, const char *condition, const char *file, unsigned line,
                          const char *function)
{
    char text[500];
    if ((*taken)++ < most) {
        RAD_IGNORE(rad_sleep(1000000));
        return;
    }
    rad__readable_text(text, sizeof text, "%s:%u: %s: not within %llu steps: %s", file_name(file), line, function,
                       (unsigned long long)most, condition);
    fails(text);
}
