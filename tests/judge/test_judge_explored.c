/* test_judge_explored.c — random programs of fibers under `raddle explore`: no result but those that the reference
 * allows, and each of those that the firm reference has, if every schedule was tried.
 *
 * The programs of CHOSEN are small enough for that, and together they do everything. Of larger ones the share of
 * results that was reached is printed. RADDLE_STRESS=N tries 200 N others, RADDLE_STRESS_SEED makes other ones
 * (tests/nightly), RADDLE_JUDGE_PROGRAM=N tries program N alone, and shows what its runs reached;
 * RADDLE_JUDGE_CENSUS=1 prints a line per program: CHOSEN is a cover with few runs of such a list.
 * RADDLE_JUDGE_RUNS=N gives up after so many runs. What is wrong is printed with the smallest program that is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fibers_explored.h"
#include "fibers_generate.h"
#include "fibers_hunt.h"
#include "fibers_text.h"
#include "storm_support.h"

#include <raddle.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUNS = 4000, /* for each order of the deadlines, to the end */
    SMALL_STATES = 300,
    SAMPLED = 3,
    SAMPLED_RUNS = 24,
    SAMPLED_STATES = 2000,
    NIGHT_RUNS = 400000,
    LARGE_RUNS = 2000,
    OTHERS = 200,
    OTHERS_RUNS = 500,
    APART = 100000000
};

static const uint32_t CHOSEN[] = {750000006, 750000318, 50000175, 750000071, 750000486, 50000235,  750000568, 50000191,
                                  750000792, 50000339,  50000926, 50000198,  750000198, 50000299,  50000890,  750000571,
                                  50000311,  50000641,  50000728, 50000936,  50000308,  50000344,  750000258, 750000538,
                                  50000630,  50000017,  50000278, 50000799,  750000064, 50000772,  50000016,  50000539,
                                  50000844,  750000145, 50000383, 50000824,  750000894, 750000162, 750000531, 50000730};

/* What small random programs seldom do. */
static const char *const SCENES[] = {
    "spawn f1; note; join f1 now | note",
    "spawn f1; recv_many c1 2 now | send c1 never; count c1; send c1 never",
    "spawn f1; note; signal | lock m0; note; cond_wait never",
    "open soon; nursery_go n0 1 | sleep soon; is_canceled",
    "open soon; nursery_go n0 1 | sleep passed",
    "open now; nursery_go n0 1 | sleep passed",
    "open soon; nursery_go n0 1 | acquire s0 2 passed",
    "open passed; nursery_go n0 1 | tick 1 soon",
    "open soon; nursery_go n0 1 | tick 1 soon",
    "open passed; nursery_go n0 1 | lock m0; cond_wait passed",
    "spawn f1; send c0 never | select {recv c0, recv c0} never",
    "spawn f1; send_many c2 3 never | recv c2 now",
    "spawn f1; lock m0; note | lock m0; note",
    "select {sleep soon, off} now",
    "lock m0; spawn f1; cancel f1; join f1 never | lock_until m0 never",
    "lock m0; spawn f1; cond_wait never | lock m0; broadcast; unlock m0",
    "read l0; spawn f1; cancel f1; join f1 never | write_until l0 never",
    "spawn f1; group_wait g0 never | group_done g0",
    "spawn f1; cancel f1 | barrier never",
    "write l0; spawn f1; cancel f1; join f1 never | read_until l0 never",
    "open soon; nursery_go n0 1 | recv c0 never",
    "spawn f1; recv_many c1 2 never | send c1 never; send c1 never",
    "spawn f1; cancel f1 | lock m0; cond_wait never",
    "spawn f1; cancel f1 | tick 0 soon",
    "spawn f1; release f1; join f1 never | note",
    "spawn f1; barrier never | barrier never",
    "spawn f1; cancel f1 | send c0 never",
    "spawn f1; cancel f1 | send_many c0 2 never",
    "spawn f1; cancel f1 | timer_wait never",
    "spawn f1; cancel f1 | group_wait g0 never",
    "open never; nursery_go n0 1; nursery_cancel n0 0 | recv c0 never",
    "spawn f1; cancel f1 | task_join never",
    "spawn f1; recv c0 never | select {send c0, recv c1} never",
    "spawn f1; cancel f1 | select {recv c0, on_cancel} never",
    "spawn f1; send c2 never; recv c2 never | send c2 never",
    "timer_start soon; timer_wait never",
    "acquire s0 1 never; spawn f1; cancel f1; post s0 1 | acquire s0 1 never",
    "take never; spawn f1; cancel f1; put | take never",
    "alarm_start soon; alarm_stop",
    "spawn f1; select {recv c0, recv c1} never | select {send c0, send c1} never",
    "lock m0; spawn f1; cancel f1; unlock m0 | lock m0",
    "spawn f1; cancel f1; once 0 never | once 0 never",
    "spawn f1; recv c1 never; recv c1 never | send_many c1 3 never; close c1 2",
    "limit 2 waits: spawn f1; release f1; spawn f2; join f2 never | note | note",
    "spawn f1; lock m0; unlock m0; lock_until m0 now | lock m0",
    "spawn f1; blocking c0 0 never | blocking c0 0 now",
    "spawn f1; cancel f1 | spawn f2; join f2 never | recv c0 never",
    "open never; nursery_go n0 1; nursery_close n0 | send c0 never",
};

/* … and what needs more runs: at night, to the end. */
static const char *const NIGHT_SCENES[] = {
    "threads 2: spawn f1; blocking c0 0 never | blocking c0 0 never",
    "spawn f1; cancel f1; blocking c0 0 never | blocking c0 0 never",
    "spawn f2; spawn f1; join f2 never | join f2 never | yield",
    "timer_start soon; timer_start never; timer_stop",
    "timer_start soon; timer_wait soon",
    "alarm_start soon; recv c0 soon",
    "quiet: spawn f1; sleep soon; spawn f2; sleep soon; signal | lock m0; cond_wait never | lock m0; cond_wait never",
    "quiet: write l0; spawn f1; sleep soon; spawn f2; sleep soon | read l0 | read l0",
    "quiet: read l0; spawn f1; sleep soon; spawn f2; sleep soon | write l0 | read l0",
    "quiet: spawn f1; select {write_until l0, recv c0} soon | read l0; spawn f2; sleep soon | read l0",
    "quiet: task f1 never; task f2 never; task_join never | sleep soon | note",
    "quiet: open never; nursery_go n0 1; sleep soon; nursery_cancel n0 9 | open never; nursery_go n1 2 | recv c0 never",
    ("quiet: spawn f1; sleep soon; spawn f2; sleep soon; broadcast | lock m0; cond_wait never | lock m0; cond_wait "
     "never"),
    "quiet: spawn f1; sleep soon; cancel f1 | open never; nursery_go n1 2 | recv c0 never",
};

/* … and what needs too many: no wrong result in some of them; the share of results that was reached is printed. */
static const char *const LARGE_SCENES[] = {
    "spawn f1; cancel f1 | task f2 never; task_join never | recv c0 soon",
    "spawn f1; cancel f1 | open never; nursery_go n1 2; nursery_wait | sleep soon; note",
    "open never; nursery_go n0 1; nursery_cancel n0 9 | open never; nursery_go n1 2 | recv c0 "
    "never",
    "spawn f1; cancel f1 | open never; nursery_go n1 2 | sleep soon",
    "task f1 never; task f2 never; task_join never | note | note",
    "spawn f1; spawn f2; lock m0; broadcast | lock m0; cond_wait never | lock m0; cond_wait never",
    "spawn f1; spawn f2; lock m0; signal | lock m0; cond_wait never | lock m0; cond_wait never",
    "write l0; spawn f1; spawn f2; rw_unlock l0 | read l0 | read l0",
    "read l0; spawn f1; spawn f2; rw_unlock l0 | write l0 | read l0",
    "write l0; spawn f1; spawn f2; rw_unlock l0 | write l0 | read l0",
    "read l0; spawn f1; spawn f2; cancel f1; join f2 never | select {write_until l0, recv c0} "
    "never | read l0",
};

/* ---- One program ----------------------------------------------------------------------------------------------- */

typedef struct sums {
    uint32_t programs, too_large, complete, runs;
    uint32_t possible, reached; /* results, of those that were not complete */
    uint32_t firm;              /* results of those that were: all reached */
    uint32_t deadlocks, mistakes;
    uint32_t seen[FIBERS_SEEN_COUNT];
    uint32_t answers[FIBERS_OP_KINDS][FIBERS_CODES];
} sums;

typedef struct trial {
    fibers_program p;
    fibers_set set, firm;
    fibers_explored found;
    uint32_t missing;
    bool is_quiet; /* the clock */
} trial;

static void trial_free(trial *t)
{
    fibers_set_free(&t->set);
    fibers_set_free(&t->firm);
    free(t->found.was_reached);
    t->found.was_reached = NULL;
}

/* False: it is too large. */
static bool trial_run(fibers_explorer *e, trial *t, uint32_t states, const char *strategy, uint32_t runs)
{
    t->p.is_main = 1;
    t->found = (fibers_explored){.is_right = true};
    if (t->is_quiet)
        fibers_enumerate_quiet(&t->p, states, &t->set);
    else
        fibers_enumerate(&t->p, states, &t->set);
    fibers_enumerate_firm(&t->p, states, t->is_quiet, &t->firm);
    if (!t->set.is_whole || !t->firm.is_whole) return false;
    fibers_explore(e, &t->p, &t->set, strategy, t->is_quiet, runs, &t->found);
    bool all = t->found.is_right && t->found.is_complete;
    t->missing = all ? fibers_missing(&t->p, &t->set, &t->firm, &t->found, NULL) : 0;
    return true;
}

static bool is_bad(const trial *t)
{
    return !t->found.is_right || t->missing > 0;
}

static void trial_print(const trial *t)
{
    fprintf(stderr, "with a %s clock:\n", t->is_quiet ? "quiet" : "free");
    fibers_program_print(stderr, &t->p);
    if (t->missing > 0) {
        fprintf(stderr, "after %u runs, all there are, these results are missing:\n", t->found.runs);
        fibers_missing(&t->p, &t->set, &t->firm, &t->found, stderr);
    } else if (t->found.strange[0]) {
        fprintf(stderr, "strange: %s\n", t->found.strange);
    } else if (!t->found.is_right) {
        fputs("a result that the reference does not have:\n", stderr);
        fibers_result_print(stderr, &t->p, &t->found.wrong);
    }
}

/* Deletes operations as long as something is wrong. */
static void trial_shrink(fibers_explorer *e, trial *t, uint32_t states)
{
    for (uint32_t f = 0, i = 0; f < t->p.fiber_count;) {
        trial smaller = {.p = t->p, .is_quiet = t->is_quiet};
        bool goes =
            fibers_delete_op(&smaller.p, f, i) && trial_run(e, &smaller, states, NULL, RUNS) && is_bad(&smaller);
        if (goes) {
            trial_free(t);
            *t = smaller;
            f = i = 0;
            continue;
        }
        trial_free(&smaller);
        if (++i >= t->p.fibers[f].op_count) {
            f++;
            i = 0;
        }
    }
}

/* ---- What was covered ------------------------------------------------------------------------------------------ */

static void add_reached(sums *sum, const trial *t)
{
    for (uint32_t i = 0; i < t->set.count; i++) {
        const fibers_result *r = &t->set.results[i];
        if (!t->found.was_reached[i]) continue;
        sum->deadlocks += r->end == FIBERS_DEADLOCK;
        sum->mistakes += r->end == FIBERS_ABORTED;
        for (uint32_t f = 0; f < FIBERS_MOST; f++)
            for (uint32_t k = 0; k < r->counts[f]; k++) {
                const fibers_fiber *fiber = &t->p.fibers[f];
                uint8_t kind = k < fiber->op_count ? fiber->ops[k].kind : FIBERS_NURSERY_WAIT;
                sum->answers[kind][fibers_code_index(r->log[f][k].code)]++;
            }
    }
}

static void add_trial(sums *sum, const trial *t)
{
    sum->programs++;
    sum->complete += t->found.is_complete;
    sum->runs += t->found.runs;
    add_reached(sum, t);
    if (t->found.is_complete) {
        sum->firm += t->firm.count;
        for (uint32_t i = 0; i < FIBERS_SEEN_COUNT; i++) sum->seen[i] += t->firm.seen[i];
    } else {
        sum->possible += t->set.count;
        sum->reached += t->found.reached;
    }
}

static void print_census(const char *name, const trial *t)
{
    print_message("census %s %u %s:", name, t->found.runs, t->found.is_complete ? "complete" : "cut");
    for (uint32_t i = 0; i < FIBERS_SEEN_COUNT; i++)
        if (t->firm.seen[i]) print_message(" s%u", i);
    static sums own;
    memset(&own, 0, sizeof own);
    add_reached(&own, t);
    for (uint32_t k = 0; k < FIBERS_OP_KINDS; k++)
        for (uint32_t c = 0; c < FIBERS_CODES; c++)
            if (own.answers[k][c]) print_message(" a%u.%u", k, c);
    print_message("\n");
}

static void print_sums(const char *what, const sums *sum)
{
    print_message("# %s: %u programs and clocks, %u too large, %u runs; every schedule of %u was tried: all "
                  "of their %u results reached; "
                  "of the others %u of %u; %u results are deadlocks, %u mistakes\n",
                  what, sum->programs, sum->too_large, sum->runs, sum->complete, sum->firm, sum->reached, sum->possible,
                  sum->deadlocks, sum->mistakes);
}

static bool try_clock(fibers_explorer *e, const char *name, trial *t, uint32_t states, const char *strategy,
                      uint32_t runs, sums *sum)
{
    if (!trial_run(e, t, states, strategy, runs)) {
        sum->too_large++;
        trial_free(t);
        return true;
    }
    bool bad = is_bad(t);
    if (bad) {
        fprintf(stderr, "program %s:\n", name);
        trial_print(t);
        trial_shrink(e, t, states);
        fputs("smaller:\n", stderr);
        trial_print(t);
    } else {
        add_trial(sum, t);
        if (getenv("RADDLE_JUDGE_CENSUS")) print_census(name, t);
    }
    trial_free(t);
    return !bad;
}

/* With a free clock, and with a quiet one; where no deadline comes they are the same. */
static bool try_program(fibers_explorer *e, const char *name, const fibers_program *p, uint32_t states,
                        const char *strategy, uint32_t runs, sums *sum)
{
    trial quiet = {.p = *p, .is_quiet = true}, free = {.p = *p};
    bool well = try_clock(e, name, &quiet, states, strategy, runs, sum);
    if (fibers_soons_before(p, FIBERS_MOST, 0, 0) == 0) return well;
    return try_clock(e, name, &free, states, strategy, runs, sum) && well;
}

/* Without a strategy: a small program, of which every schedule is tried. */
static bool try_seed(fibers_explorer *e, uint64_t seed, uint32_t states, const char *strategy, uint32_t runs, sums *sum)
{
    fibers_program p;
    char name[24];
    snprintf(name, sizeof name, "%llu", (unsigned long long)seed);
    if (strategy)
        fibers_generate(seed, &p);
    else
        fibers_generate_small(seed, &p);
    return try_program(e, name, &p, states, strategy, runs, sum);
}

/* ---- Tests ----------------------------------------------------------------------------------------------------- */

static fibers_explorer explorer;

/* What the scenes of the night are for. */
static bool is_for_the_night(uint32_t seen)
{
    static const uint8_t late[] = {
        FIBERS_SEEN_BROADCAST_WAKES,     FIBERS_SEEN_CANCEL_BELOW,  FIBERS_SEEN_JOIN_MANY,
        FIBERS_SEEN_OWNER_CANCELED,      FIBERS_SEEN_READERS_IN,    FIBERS_SEEN_SELECT_LEAVES,
        FIBERS_SEEN_SIGNAL_WAKES,        FIBERS_SEEN_TASK_IN_ORDER, FIBERS_SEEN_TIMER_IN_TIME,
        FIBERS_SEEN_WRITER_AFTER_WRITER, FIBERS_SEEN_WRITER_FIRST};
    return memchr(late, (int)seen, sizeof late) != NULL;
}

static void check_seen(const sums *sum, bool night)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < FIBERS_SEEN_COUNT; i++) {
        if (sum->seen[i] > 0 || is_for_the_night(i) != night) continue;
        print_message("# in no program: %s\n", fibers_seen_text(i));
        missing++;
    }
    assert_int_equal(missing, 0);
}

/* Every call was made, and every one that waits has also timed out, and was cancelled. */
static void check_answers(const sums *sum)
{
    uint32_t missing = 0;
    for (uint32_t k = 0; k < FIBERS_OP_KINDS; k++) {
        uint32_t all = 0, timeouts = sum->answers[k][fibers_code_index(RAD_ETIMEOUT)];
        uint32_t cancels = sum->answers[k][fibers_code_index(RAD_ECANCELED)];
        bool starts = k == FIBERS_TIMER_START || k == FIBERS_ALARM_START || k == FIBERS_OPEN;
        bool waits = fibers_op_waits((uint8_t)k) && !starts;
        for (uint32_t c = 0; c + 1 < FIBERS_CODES; c++) all += sum->answers[k][c];
        bool is_op = k != FIBERS_ON_CANCEL && k != FIBERS_OFF && k != FIBERS_MISTAKE;
        bool well = !is_op || (all > 0 && (!waits || ((timeouts > 0 || k == FIBERS_SLEEP) &&
                                                      (cancels > 0 || k == FIBERS_TASK || k == FIBERS_BLOCKING))));
        if (well) continue;
        print_message("# %s: %u answers, %u time-outs, %u cancellations\n", fibers_op_name((uint8_t)k), all, timeouts,
                      cancels);
        missing++;
    }
    assert_int_equal(missing, 0);
}

/* "quiet: …" is one for the quiet clock alone: a fiber that sleeps lets the others get to where they wait. */
static bool try_scene(const char *text, uint32_t runs, sums *sum)
{
    static const char quiet[] = "quiet: ";
    bool is_quiet = strncmp(text, quiet, sizeof quiet - 1) == 0;
    trial t = {.is_quiet = true};
    const char *wrong = fibers_parse(is_quiet ? text + sizeof quiet - 1 : text, &t.p);
    if (wrong) fail_msg("%s: here: %s", text, wrong);
    if (!is_quiet) return try_program(&explorer, text, &t.p, SMALL_STATES, NULL, runs, sum);
    explorer.in_order = true;
    bool well = try_clock(&explorer, text, &t, SMALL_STATES, NULL, runs, sum);
    explorer.in_order = false;
    return well;
}

static void every_schedule_of_the_chosen_programs(void **state)
{
    (void)state;
    static sums sum;
    bool well = true;
    uint32_t scenes = sizeof SCENES / sizeof *SCENES, count = sizeof CHOSEN / sizeof *CHOSEN;
    for (uint32_t i = 0; i < scenes; i++) well = try_scene(SCENES[i], RUNS, &sum) && well;
    for (uint32_t i = 0; i < count; i++) well = try_seed(&explorer, CHOSEN[i], SMALL_STATES, NULL, RUNS, &sum) && well;
    print_sums("chosen", &sum);
    assert_true(well);
    assert_int_equal(sum.complete, sum.programs); /* and with both clocks */
    assert_true(sum.programs > scenes + count);
    check_seen(&sum, false);
    check_answers(&sum);
}

static void every_schedule_of_the_scenes_of_the_night(void **state)
{
    (void)state;
    static sums sum;
    bool well = true;
    uint32_t scenes = sizeof NIGHT_SCENES / sizeof *NIGHT_SCENES;
    if (!storm_is_long()) skip();
    for (uint32_t i = 0; i < scenes; i++) well = try_scene(NIGHT_SCENES[i], NIGHT_RUNS, &sum) && well;
    print_sums("at night", &sum);
    assert_true(well);
    assert_int_equal(sum.complete, sum.programs);
    check_seen(&sum, true);
}

static void some_schedules_of_large_scenes(void **state)
{
    (void)state;
    static sums sum;
    bool well = true;
    uint32_t scenes = sizeof LARGE_SCENES / sizeof *LARGE_SCENES;
    if (!storm_is_long()) skip();
    for (uint32_t i = 0; i < scenes; i++) well = try_scene(LARGE_SCENES[i], LARGE_RUNS, &sum) && well;
    print_sums("large", &sum);
    assert_true(well);
}

static uint32_t runs_most(void)
{
    const char *text = getenv("RADDLE_JUDGE_RUNS");
    return text ? (uint32_t)strtoul(text, NULL, 10) : OTHERS_RUNS;
}

static uint64_t first_seed(void)
{
    const char *text = getenv("RADDLE_STRESS_SEED");
    return (text ? strtoull(text, NULL, 10) : 1) * APART;
}

static void some_schedules_of_larger_programs(void **state)
{
    (void)state;
    static sums sum;
    uint64_t seed = first_seed();
    bool well = true;
    for (uint64_t i = 0; i < storm_amount(SAMPLED); i++)
        well = try_seed(&explorer, seed + i, SAMPLED_STATES, "auto", SAMPLED_RUNS, &sum) && well;
    print_sums("larger", &sum);
    assert_true(well);
}

/* The fiber that ends last stops the timers: one that has ended before its spawn returned is not the last. */
static void who_ends_before_its_spawn_returns(void **state)
{
    (void)state;
    static sums sum;
    trial t = {.is_quiet = true};
    const char *text = "spawn f1; timer_start never | timer_start never";
    assert_null(fibers_parse(text, &t.p));
    assert_true(try_clock(&explorer, text, &t, SMALL_STATES, "preempt:1", RUNS, &sum));
}

static void every_schedule_of_others(void **state)
{
    (void)state;
    static sums sum;
    uint64_t seed = first_seed() + APART / 2;
    bool well = true;
    if (!storm_is_long()) skip();
    for (uint64_t i = 0; i < storm_amount(OTHERS); i++)
        well = try_seed(&explorer, seed + i, SMALL_STATES, NULL, runs_most(), &sum) && well;
    print_sums("others", &sum);
    assert_true(well);
}

static void one_program(void **state)
{
    (void)state;
    const char *number = getenv("RADDLE_JUDGE_PROGRAM");
    static sums sum;
    if (number == NULL) skip();
    bool well = try_seed(&explorer, strtoull(number, NULL, 10), SAMPLED_STATES, NULL, RUNS, &sum);
    print_sums("it", &sum);
    assert_true(well);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_schedule_of_the_chosen_programs),
        cmocka_unit_test(every_schedule_of_the_scenes_of_the_night),
        cmocka_unit_test(some_schedules_of_large_scenes),
        cmocka_unit_test(some_schedules_of_larger_programs),
        cmocka_unit_test(who_ends_before_its_spawn_returns),
        cmocka_unit_test(every_schedule_of_others),
        cmocka_unit_test(one_program),
    };
    storm_choose();
    if (STORM_IS_SANITIZED || !fibers_explorer_open(&explorer)) {
        print_message("1..0 # SKIP this build cannot explore programs\n");
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fibers_explorer_close(&explorer);
    return failed;
}
