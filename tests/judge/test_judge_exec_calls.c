/* test_judge_exec_calls.c — random programs over the executor's public calls, on real threads: what they show is
 * among what the reference says they may show.
 *
 * RADDLE_STRESS multiplies the number of programs, RADDLE_STRESS_SEED makes other ones. A failure prints the seed,
 * the smallest program that still fails, and its result. A program that hangs is printed when nothing has ended
 * for RADDLE_JUDGE_PATIENCE seconds (300). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calls_generate.h"
#include "calls_reference.h"
#include "calls_run.h"
#include "storm_support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROGRAMS = 400, REPEATS = 4, SHRINK_REPEATS = 200, KNOWN_REPEATS = 3000, MOST_STATES = 20000 };

typedef unsigned long long ull;

/* ---- A program that hangs ----------------------------------------------------------------------------------- */

static char running[CALLS_TEXT];

static void hangs(int signal_number)
{
    (void)signal_number;
    static const char text[] = "this program does not end:\n";
    RAD_IGNORE(write(STDERR_FILENO, text, sizeof text - 1));
    RAD_IGNORE(write(STDERR_FILENO, running, strlen(running)));
    _exit(1);
}

static unsigned patience(void)
{
    const char *text = getenv("RADDLE_JUDGE_PATIENCE");
    return text ? (unsigned)strtoul(text, NULL, 10) : 300;
}

/* ---- Judging -------------------------------------------------------------------------------------------------- */

/* The seed of the first of `repeats` runs that shows something else; 0: none does. */
static uint64_t first_bad(const calls_program *p, const calls_runs *may, uint64_t seed, uint32_t repeats,
                          judge_set *seen, calls_result *r, char broken[160])
{
    calls_text(p, running);
    for (uint64_t i = 1; i <= repeats; i++) {
        alarm(patience());
        calls_run(p, seed * 1000 + i, r, broken);
        alarm(0);
        if (broken[0] != 0 || !judge_set_has(&may->results, calls_digest(r))) return seed * 1000 + i;
        if (seen != NULL) judge_set_add(seen, calls_digest(r));
    }
    return 0;
}

static bool is_bad(const calls_program *p, uint64_t seed)
{
    calls_runs may;
    calls_result r;
    char broken[160];
    calls_enumerate(p, MOST_STATES, &may);
    bool bad = !may.cut && first_bad(p, &may, seed, SHRINK_REPEATS, NULL, &r, broken) != 0;
    calls_runs_free(&may);
    return bad;
}

static void shrink(calls_program *p, uint64_t seed)
{
    calls_program smaller;
    for (uint32_t n = 0; calls_cut(p, n, &smaller); n++) {
        if (memcmp(&smaller, p, sizeof smaller) == 0 || !is_bad(&smaller, seed)) continue;
        *p = smaller;
        n = UINT32_MAX;
    }
}

static void complain(const calls_program *p, uint64_t seed, const calls_result *r, const char *broken)
{
    char text[CALLS_TEXT];
    calls_program small = *p;
    calls_text(p, text);
    print_message("seed %llu: %s\n%s", (ull)seed, broken[0] ? broken : "this result cannot be", text);
    for (uint8_t t = 0; t < p->task_count; t++) print_message("  task %d: fate %d\n", t, r->fate[t]);
    print_message("  counters %d %d, scratch %d, ended %d, runs %d, join %lld\n", r->counters[0], r->counters[1],
                  r->scratch, r->ended, r->runs, (long long)r->code);
    shrink(&small, seed / 1000);
    calls_text(&small, text);
    print_message("the smallest program:\n%s", text);
    fail();
}

static void at_least(uint64_t count, uint64_t least, const char *what, uint32_t i)
{
    if (count < least) fail_msg("%s %u: %llu, not %llu", what, i, (ull)count, (ull)least);
}

static void judge(uint8_t workers, uint8_t ops, uint64_t stream)
{
    rad_prng prng = storm_prng(stream);
    uint64_t seed = rad__prng_next(&prng) >> 24, begin = seed, count = storm_amount(PROGRAMS), judged = 0;
    uint64_t possible = 0, reached = 0, several = 0;
    calls_coverage v = {.programs = 0};
    for (; judged < count; seed++) {
        calls_program p;
        calls_runs may;
        calls_result r;
        char broken[160];
        judge_set seen = {.count = 0};
        calls_generate(seed, workers, ops, &p);
        calls_enumerate(&p, MOST_STATES, &may);
        if (!may.cut) {
            judged++;
            calls_cover(&v, &p);
            uint64_t bad = first_bad(&p, &may, seed, REPEATS, &seen, &r, broken);
            if (bad != 0) complain(&p, bad, &r, broken);
            possible += may.results.count;
            reached += seen.count;
            several += seen.count > 1;
        }
        judge_set_free(&seen);
        calls_runs_free(&may);
    }
    uint64_t asked = count >= PROGRAMS / 4 ? count : 0; /* a thread sanitizer leaves too few */
    for (uint32_t i = 0; i < CALLS_OPS; i++) at_least(v.ops[i], asked / 60, "operation", i);
    at_least(v.jobs, asked / 3, "jobs", 0);
    at_least(v.nested, asked / 100, "groups inside jobs", 0);
    at_least(v.stop, asked / 8, "programs that stop", 0);
    print_message("# %u workers: %llu programs from seed %llu, %llu of %llu results reached, %llu "
                  "with several\n",
                  workers, (ull)count, (ull)begin, (ull)reached, (ull)possible, (ull)several);
}

static void one_worker_takes_tasks_in_order(void **state)
{
    (void)state;
    judge(1, 16, 11);
}

static void two_workers_show_what_may_be(void **state)
{
    (void)state;
    judge(2, 12, 12);
}

static void four_workers_show_what_may_be(void **state)
{
    (void)state;
    judge(4, 10, 13);
}

/* ---- Programs that once showed what may not be
 * ------------------------------------------------------------------- */

static const calls_program known[] = {
    /* The job's failure was recorded after its group knew: the waiter, which fails because of it, could be the first.
     * */
    {.workers = 2,
     .task_count = 2,
     .length = {2, 1, [CALLS_OUTSIDE] = 1},
     .code =
         {{{CALLS_FORK, 1, 0}, {CALLS_SCRATCH, 0, 0}}, {{CALLS_FAIL, 2, 0}}, [CALLS_OUTSIDE] = {{CALLS_ENTER, 0, 0}}}},
    /* A group whose job failed is as new after the wait. */
    {.workers = 1,
     .task_count = 3,
     .length = {4, 1, 1, [CALLS_OUTSIDE] = 1},
     .code = {{{CALLS_FORK, 1, 0}, {CALLS_WAIT, 1, 0}, {CALLS_FORK, 2, 0}, {CALLS_WAIT, 1, 0}},
              {{CALLS_FAIL, 2, 0}},
              {{CALLS_TICK, 0, 0}},
              [CALLS_OUTSIDE] = {{CALLS_ENTER, 0, 0}}}},
    /* Tasks 2 and 3 wake each other; after three of them, task 1 is next. */
    {.workers = 1,
     .task_count = 4,
     .length = {2, 2, 5, 4, [CALLS_OUTSIDE] = 3},
     .code = {{{CALLS_WAKE_HERE, 1, 0}, {CALLS_WAKE_HERE, 2, 0}},
              {{CALLS_BLOCK, 0, 0}, {CALLS_TICK, 0, 0}},
              {{CALLS_BLOCK, 0, 0},
               {CALLS_WAKE_HERE, 3, 0},
               {CALLS_BLOCK, 0, 0},
               {CALLS_WAKE_HERE, 3, 0},
               {CALLS_TICK, 0, 0}},
              {{CALLS_BLOCK, 0, 0}, {CALLS_WAKE_HERE, 2, 0}, {CALLS_BLOCK, 0, 0}, {CALLS_TICK, 0, 0}},
              [CALLS_OUTSIDE] = {{CALLS_ENTER_BATCH, 1, 2}, {CALLS_ENTER, 3, 0}, {CALLS_ENTER, 0, 0}}}},
};

static void known_programs_show_what_may_be(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof known / sizeof *known; i++) {
        calls_runs may;
        calls_result r;
        char broken[160];
        uint32_t repeats = (uint32_t)storm_amount(i == 0 ? KNOWN_REPEATS : KNOWN_REPEATS / 10);
        calls_enumerate(&known[i], MOST_STATES, &may);
        assert_false(may.cut);
        uint64_t bad = first_bad(&known[i], &may, 1, repeats, NULL, &r, broken);
        if (bad != 0) complain(&known[i], bad, &r, broken);
        calls_runs_free(&may);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_programs_show_what_may_be),
        cmocka_unit_test(one_worker_takes_tasks_in_order),
        cmocka_unit_test(two_workers_show_what_may_be),
        cmocka_unit_test(four_workers_show_what_may_be),
    };
    signal(SIGALRM, hangs);
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
