/* test_judge_exec_case.c — the lab's machine `exec` and the reference agree on random cases.
 *
 * RADDLE_STRESS multiplies the number of cases, RADDLE_STRESS_SEED makes other ones. A failure prints the seed,
 * the smallest case that still fails, and the first difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec_generate.h"
#include "exec_lockstep.h"
#include "exec_shrink.h"
#include "exec_watch.h"
#include "storm_support.h"

#include <stdio.h>
#include <string.h>

enum {
    STEPPED = 500, /* cases, one run each, followed step by step */
    LOOPING = 60,  /* the same with loops */
    SAMPLED = 120, /* cases, SAMPLES runs each */
    SAMPLES = 20,
    EXPLORED = 24, /* cases with several results, as many runs as they take */
    EXPLORED_RUNS = 800,
    MOST_STATES = 20000
};

typedef unsigned long long ull;

static const char *const policies[] = {"random", "pct:3", "random", "fair", "first", "random"};
enum { POLICIES = sizeof policies / sizeof *policies };

static uint64_t first_seed(uint64_t n)
{
    rad_prng r = storm_prng(n);
    return rad__prng_next(&r) >> 20;
}

static void at_least(uint64_t count, uint64_t least, const char *what)
{
    if (count < least) fail_msg("%s: %llu, not %llu", what, (ull)count, (ull)least);
}

/* ---- One thing that may be wrong with a case ------------------------------------------------------------ */

typedef struct trial {
    bool (*judge)(struct trial *t, const exec_case *c); /* false: `difference` says why */
    uint64_t seed;
    const char *policy;
    uint64_t most_runs;
    exec_lockstep_seen stepped;
    char difference[EXEC_DIFFERENCE];
    /* Sums over cases. */
    uint64_t runs, complete, results, reached, unreached;
} trial;

static bool is_bad(const exec_case *c, void *context)
{
    trial copy = *(trial *)context;
    return !copy.judge(&copy, c);
}

static void check(trial *t, const exec_case *c)
{
    char text[CASE_TEXT];
    if (t->judge(t, c)) return;
    exec_case small = *c;
    exec_shrink(&small, is_bad, t);
    exec_case_json(c, "exec", text);
    print_message("seed %llu, policy %s: %s\n%s", (ull)t->seed, t->policy, t->difference, text);
    RAD_IGNORE(t->judge(t, &small));
    exec_case_json(&small, "exec", text);
    print_message("the smallest case: %s\n%s", t->difference, text);
    fail();
}

/* ---- Step by step ------------------------------------------------------------------------------------------ */

static bool judge_steps(trial *t, const exec_case *c)
{
    return exec_lockstep(c, t->policy, t->seed, &t->stepped, t->difference);
}

static void cover_language(const exec_coverage *v)
{
    static const char *const ops[CASE_OPS] = {
        "yield local", "yield global", "yield external", "spawn local", "spawn global", "spawn external", "spawn to",
        "sleep",       "wait-io",      "try-acquire",    "release",     "jump",         "complete",       "panic"};
    uint64_t least = v->cases / 6;
    for (uint32_t i = 0; i < CASE_OPS; i++) at_least(v->ops[i], least, ops[i]);
    for (uint32_t i = 0; i < CASE_EVENT_KINDS; i++) at_least(v->events[i], least, "events of a kind");
    for (uint32_t i = 1; i <= CASE_WORKERS; i++)
        at_least(v->workers[i], v->cases / 25, "cases with this number of workers");
    for (uint32_t i = 0; i < CASE_EXPECTS; i++) at_least(v->expects[i], v->cases / 40, "cases with this expectation");
    at_least(v->eager, v->cases / 6, "eager");
    at_least(v->stop, v->cases / 8, "stop");
    at_least(v->round_robin, v->cases / 8, "round robin");
    at_least(v->begun_inside, v->cases / 8, "tasks that begin inside");
    at_least(v->waits_with_else, v->cases / 8, "wait-io … else");
}

static void cover_runs(const exec_lockstep_seen *s)
{
    uint64_t least = s->runs / 20;
    for (uint32_t i = MOVE_EVENT; i <= MOVE_EXECUTE; i++) at_least(s->moves[i], 4 * least, "moves");
    at_least(s->sources[PLACE_DEQUE], 4 * least, "taken from a deque");
    at_least(s->sources[PLACE_LATER], 4 * least, "taken from behind");
    at_least(s->sources[PLACE_INBOX], least, "taken from an inbox");
    at_least(s->sources[PLACE_INJECTOR], 10 * least, "taken from the injector");
    at_least(s->stolen, least, "stolen");
    at_least(s->stolen_later, least / 2, "stolen from behind");
    at_least(s->batches, 8 * least, "batches");
    for (uint32_t i = 0; i < OUTCOMES; i++) at_least(s->outcomes[i], least / 2, exec_ref_outcomes[i]);
    for (uint32_t i = 0; i < EXEC_REF_KINDS; i++) at_least(s->kinds[i], least / 2, exec_ref_kinds[i]);
}

static void each_step_is_a_move_of_the_reference(void **state)
{
    (void)state;
    static const exec_bounds small = {3, 3, 4, 3, 4, false}, large = {4, 4, 8, 6, 5, false};
    trial t = {.judge = judge_steps};
    exec_coverage coverage = {.cases = 0};
    uint64_t seed = first_seed(1), count = storm_amount(storm_size(STEPPED / 3, STEPPED));
    for (uint64_t i = 0; i < count; i++) {
        exec_case c;
        t.seed = seed + i;
        t.policy = policies[i % POLICIES];
        exec_generate(t.seed, i % 2 ? &small : &large, &c);
        exec_cover(&coverage, &c);
        check(&t, &c);
    }
    assert_int_equal(t.stepped.refused_cases, 0);
    if (count >= STEPPED / 4) { /* a thread sanitizer leaves too few */
        cover_language(&coverage);
        cover_runs(&t.stepped);
    }
    print_message("# %llu cases from seed %llu, %llu steps, %llu takes out of order\n", (ull)count, (ull)seed,
                  (ull)t.stepped.steps, (ull)t.stepped.ticks);
}

static void a_loop_runs_to_the_step_limit(void **state)
{
    (void)state;
    static const exec_bounds loops = {3, 3, 5, 3, 3, true};
    trial t = {.judge = judge_steps};
    uint64_t seed = first_seed(2), count = storm_amount(LOOPING);
    for (uint64_t i = 0; i < count; i++) {
        exec_case c;
        t.seed = seed + i;
        t.policy = policies[i % POLICIES];
        exec_generate(t.seed, &loops, &c);
        check(&t, &c);
    }
    at_least(t.stepped.cut, count / 30, "runs that were cut off");
    at_least(t.stepped.outcomes[OUTCOME_COMPLETED], count / 10, "runs that ended");
    print_message("# %llu of %llu runs were cut off\n", (ull)t.stepped.cut, (ull)count);
}

/* ---- Sets of results ----------------------------------------------------------------------------------------- */

/* Does the clock have to move while several workers sleep? Then who is woken is one worker's turn, not anybody's. */
static bool wakes_one_in_turn(const exec_case *c)
{
    bool waits = false;
    for (uint8_t i = 0; i < c->event_count; i++) waits |= c->events[i].time > 0;
    for (uint8_t p = 0; p < c->program_count; p++)
        for (uint8_t i = 0; i < c->programs[p].length; i++) {
            const case_instruction *x = &c->programs[p].code[i];
            waits |= x->op == CASE_SLEEP && x->a > 0;
        }
    return waits && !c->eager && c->workers > 1;
}

static uint32_t count_missing(const judge_set *from, const judge_set *in)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < from->count; i++) missing += !judge_set_has(in, from->items[i]);
    return missing;
}

static bool differs(trial *t, const char *what, uint32_t count, uint32_t of)
{
    snprintf(t->difference, sizeof t->difference, "%s: %u of %u", what, count, of);
    return false;
}

/* Outcomes and failures: none that cannot be; if every schedule was tried, all that must be. */
static bool compare_ends(trial *t, const exec_case *c, const exec_watched *w, const exec_ref_runs *may,
                         const exec_ref_runs *must)
{
    bool all = w->complete && !wakes_one_in_turn(c);
    for (uint32_t i = 0; i < EXEC_REF_KINDS; i++)
        if (w->kinds[i] > may->kinds[i] || (all && w->kinds[i] < must->kinds[i]))
            return differs(t, exec_ref_kinds[i], w->kinds[i], may->kinds[i]);
    for (uint32_t i = 0; i < OUTCOMES; i++)
        if (w->outcomes[i] > may->outcomes[i] || (all && w->outcomes[i] < must->outcomes[i]))
            return differs(t, exec_ref_outcomes[i], w->outcomes[i], may->outcomes[i]);
    return true;
}

/* What was seen is among what may be; if all was seen, what must be is among it. */
static bool compare_sets(trial *t, const exec_case *c, const exec_watched *w, const exec_ref_runs *may,
                         const exec_ref_runs *must)
{
    uint32_t strange = count_missing(&w->results, &may->results);
    if (strange > 0) return differs(t, "results that cannot be", strange, w->results.count);
    if (!compare_ends(t, c, w, may, must)) return false;
    if (!w->complete) return true;
    uint32_t missing = count_missing(&must->results, &w->results);
    if (missing > 0 && !wakes_one_in_turn(c))
        return differs(t, "results that no schedule has", missing, must->results.count);
    t->complete++;
    t->results += may->results.count;
    t->reached += w->results.count;
    t->unreached += may->results.count - w->results.count;
    return true;
}

static bool judge_results(trial *t, const exec_case *c)
{
    exec_ref_runs may, must;
    exec_watched w;
    bool same = true;
    exec_ref_enumerate(c, false, MOST_STATES, &may);
    exec_ref_enumerate(c, true, MOST_STATES, &must);
    exec_watch(c, t->policy, t->seed, t->most_runs, &w);
    if (w.trouble[0] != 0) {
        snprintf(t->difference, sizeof t->difference, "%s", w.trouble);
        same = false;
    } else if (!w.refused && !may.cut) {
        same = compare_sets(t, c, &w, &may, &must);
    }
    if (same && !w.refused && !may.cut && strcmp(t->policy, "dedup") == 0) {
        exec_watched plain;
        exec_unwatched(c, 10 * t->most_runs, &plain);
        same = compare_ends(t, c, &plain, &may, &must);
        exec_watched_free(&plain);
    }
    t->runs += w.runs;
    exec_ref_runs_free(&may);
    exec_ref_runs_free(&must);
    exec_watched_free(&w);
    return same;
}

static bool has_several_results(const exec_case *c, uint32_t most_states)
{
    exec_ref_runs may;
    exec_ref_enumerate(c, false, most_states, &may);
    bool several = !may.cut && may.results.count > 2;
    exec_ref_runs_free(&may);
    return several;
}

static void each_result_is_one_of_the_reference(void **state)
{
    (void)state;
    static const exec_bounds small = {3, 3, 3, 3, 3, false};
    trial t = {.judge = judge_results, .most_runs = SAMPLES};
    uint64_t count = storm_amount(storm_size(SAMPLED / 3, SAMPLED)), judged = 0;
    uint64_t begin = first_seed(3);
    for (t.seed = begin; judged < count; t.seed++) {
        exec_case c;
        exec_generate(t.seed, &small, &c);
        if (!has_several_results(&c, 2000)) continue;
        t.policy = judged++ % 2 ? "pct:3" : "random";
        check(&t, &c);
    }
    at_least(t.runs, judged * SAMPLES, "runs");
    print_message("# %llu cases from seed %llu, %llu runs\n", (ull)judged, (ull)begin, (ull)t.runs);
}

static void each_result_of_the_reference_is_reached(void **state)
{
    (void)state;
    static const exec_bounds one = {1, 2, 3, 3, 3, false}, two = {2, 2, 3, 2, 1, false};
    trial t = {.judge = judge_results, .policy = "dedup"};
    bool is_long = storm_is_long(); /* fewer and larger cases */
    uint64_t count = storm_amount(EXPLORED) / (is_long ? 5 : 1) + 1, judged = 0;
    uint64_t begin = first_seed(4);
    t.most_runs = is_long ? 5 * EXPLORED_RUNS : EXPLORED_RUNS;
    for (t.seed = begin; judged < count; t.seed++) {
        exec_case c;
        exec_generate(t.seed, t.seed % 3 ? &one : &two, &c);
        if (!has_several_results(&c, is_long ? 300 : 120)) continue;
        judged++;
        check(&t, &c);
    }
    at_least(t.complete, count / 3, "cases of which every schedule was tried");
    at_least(t.reached, 2 * t.complete, "results");
    at_least(t.reached, 4 * t.unreached, "results reached");
    print_message("# %llu cases from seed %llu, %llu complete in %llu runs: %llu of %llu results reached\n",
                  (ull)judged, (ull)begin, (ull)t.complete, (ull)t.runs, (ull)t.reached, (ull)t.results);
}

/* ---- Cases of which results are easily lost ------------------------------------------------------------------ */

static const exec_case known[] = {
    /* Which of two that wake at the same time fell asleep first was not part of the state. */
    {.workers = 1,
     .steal_tries = 1,
     .hoard = 32,
     .ring = 2,
     .eager = true,
     .resource_count = 1,
     .resources = {1},
     .program_count = 1,
     .programs = {{4,
                   {{CASE_SLEEP, 1, 0, 0, 0},
                    {CASE_TRY_ACQUIRE, 0, 1, 2, 4},
                    {CASE_YIELD_LOCAL, 0, 0, 0, 0},
                    {CASE_RELEASE, 0, 1, 0, 0}}}},
     .task_count = 2,
     .event_count = 2,
     .events = {{0, CASE_START, 0}, {0, CASE_START, 1}}},
    /* A sleeper that is due holds the clock: task 1 cannot come before it. */
    {.workers = 1,
     .steal_tries = 1,
     .hoard = 32,
     .ring = 2,
     .eager = true,
     .resource_count = 1,
     .resources = {1},
     .program_count = 2,
     .programs = {{4,
                   {{CASE_SLEEP, 1, 0, 0, 0},
                    {CASE_TRY_ACQUIRE, 0, 1, 2, 4},
                    {CASE_YIELD_LOCAL, 0, 0, 0, 0},
                    {CASE_RELEASE, 0, 1, 0, 0}}},
                  {3, {{CASE_TRY_ACQUIRE, 0, 1, 1, 3}, {CASE_YIELD_LOCAL, 0, 0, 0, 0}, {CASE_RELEASE, 0, 1, 0, 0}}}},
     .task_count = 2,
     .tasks = {{0, 0}, {1, 0}},
     .runnable_count = 1,
     .event_count = 1,
     .events = {{2, CASE_START, 1}}},
    /* The order in the injector, and of those who wait for a token, is part of the state. */
    {.workers = 1,
     .steal_tries = 1,
     .hoard = 32,
     .ring = 2,
     .program_count = 1,
     .programs = {{2, {{CASE_WAIT_IO, 0, CASE_NO_PLACE, 0, 0}, {CASE_YIELD_LOCAL, 0, 0, 0, 0}}}},
     .task_count = 2,
     .event_count = 3,
     .events = {{0, CASE_START, 0}, {0, CASE_START, 1}, {0, CASE_IO, 0}}},
    /* Which of two events of a token came first, too. */
    {.workers = 1,
     .steal_tries = 1,
     .hoard = 32,
     .ring = 2,
     .program_count = 1,
     .programs = {{2, {{CASE_WAIT_IO, 0, 2, 0, 0}, {CASE_YIELD_LOCAL, 0, 0, 0, 0}}}},
     .task_count = 1,
     .runnable_count = 1,
     .event_count = 3,
     .events = {{0, CASE_IO, 0}, {0, CASE_FAIL_IO, 0}, {0, CASE_IO, 1}}},
};

static void known_cases_reach_all_their_results(void **state)
{
    (void)state;
    trial t = {.judge = judge_results, .policy = "dedup", .most_runs = 20000};
    for (uint32_t i = 0; i < sizeof known / sizeof *known; i++) check(&t, &known[i]);
    assert_int_equal(t.complete, sizeof known / sizeof *known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_is_a_move_of_the_reference),
        cmocka_unit_test(a_loop_runs_to_the_step_limit),
        cmocka_unit_test(each_result_is_one_of_the_reference),
        cmocka_unit_test(each_result_of_the_reference_is_reached),
        cmocka_unit_test(known_cases_reach_all_their_results),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
