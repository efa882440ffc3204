/* test_judge_fibers.c — random programs of fibers: whatever the runtime does is a result that the reference knows.
 *
 * 3,200 programs; RADDLE_STRESS multiplies them, RADDLE_STRESS_SEED makes other ones, RADDLE_JUDGE_PROGRAM=N runs
 * program N alone, a thousand times. A failure prints the number, the program, its result, and the smallest program
 * that still has a wrong one. The coverage that is asserted is that of the programs: schedules do not matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fibers_generate.h"
#include "fibers_hunt.h"
#include "fibers_text.h"
#include "storm_support.h"

#include <stdlib.h>
#include <string.h>

enum {
    WRONG_RUNS = 400,
    PROGRAMS = 3200,
    RUNS = 6,
    STATES = 2000,
    LONG_STATES = 20000,
    PROCESSES = 4,
    APART = 100000000
};

static uint64_t first_seed(void)
{
    const char *text = getenv("RADDLE_STRESS_SEED");
    return (text ? strtoull(text, NULL, 10) : 1) * APART;
}

static void print_sum(const fibers_hunted *sum, uint64_t seed)
{
    print_message("# seed %llu: %llu programs, %llu too large, %llu states, %llu runs: %llu "
                  "deadlocks, %llu mistakes; "
                  "%llu of %llu results reached\n",
                  (unsigned long long)(seed / APART), (unsigned long long)sum->programs,
                  (unsigned long long)sum->too_large, (unsigned long long)sum->states, (unsigned long long)sum->runs,
                  (unsigned long long)sum->deadlocks, (unsigned long long)sum->aborts, (unsigned long long)sum->reached,
                  (unsigned long long)sum->possible);
}

/* At least one program in a thousand can do that; with another seed, any one. */
static void check_coverage(const fibers_hunted *sum)
{
    uint64_t least = getenv("RADDLE_STRESS_SEED") ? 1 : sum->programs / 1000 + 1;
    uint32_t missing = 0;
    for (uint32_t i = 0; i < FIBERS_SEEN_COUNT; i++) {
        if (sum->seen[i] >= least) continue;
        print_message("# only %u programs: %s\n", sum->seen[i], fibers_seen_text(i));
        missing++;
    }
    for (uint32_t k = 0; k < FIBERS_OP_KINDS; k++) {
        uint32_t most = 0;
        for (uint32_t c = 0; c < FIBERS_CODES; c++)
            if (sum->codes[k][c] > most) most = sum->codes[k][c];
        bool is_op = k != FIBERS_ON_CANCEL && k != FIBERS_OFF && k != FIBERS_MISTAKE;
        if (!is_op || most >= 3 * least) continue;
        print_message("# only %u programs: %s\n", most, fibers_op_name((uint8_t)k));
        missing++;
    }
    assert_int_equal(missing, 0);
}

/* Each call that waits can time out and be cancelled, somewhere; others have their own codes. */
static void check_codes(const fibers_hunted *sum)
{
    static const struct {
        uint8_t kind;
        int8_t code;
    } also[] = {{FIBERS_SEND, RAD_ECLOSED},
                {FIBERS_SEND, 1},
                {FIBERS_RECV, RAD_ECLOSED},
                {FIBERS_SEND_MANY, 2},
                {FIBERS_SEND_MANY, RAD_ECLOSED},
                {FIBERS_RECV_MANY, 2},
                {FIBERS_RECV_MANY, RAD_ECLOSED},
                {FIBERS_JOIN, RAD_ESTALE},
                {FIBERS_SPAWN, RAD_ELIMIT},
                {FIBERS_NURSERY_SPAWN, RAD_ECLOSED},
                {FIBERS_TAKE, RAD_ECLOSED},
                {FIBERS_TIMER_START, 1},
                {FIBERS_TIMER_STOP, 1},
                {FIBERS_ALARM_STOP, 1},
                {FIBERS_BARRIER, 1},
                {FIBERS_CLOSE, 0},
                {FIBERS_NURSERY_WAIT, RAD_ECANCELED}};
    uint32_t missing = 0;
    for (uint32_t k = 0; k < FIBERS_OP_KINDS; k++) {
        bool starts = k == FIBERS_TIMER_START || k == FIBERS_ALARM_START || k == FIBERS_OPEN;
        if (!fibers_op_waits((uint8_t)k) || starts) continue;
        uint32_t timeouts = sum->codes[k][fibers_code_index(RAD_ETIMEOUT)];
        uint32_t cancels = sum->codes[k][fibers_code_index(RAD_ECANCELED)];
        if ((timeouts >= 2 || k == FIBERS_SLEEP) && (cancels >= 2 || k == FIBERS_TASK)) continue;
        print_message("# %s: %u time-outs, %u cancellations\n", fibers_op_name((uint8_t)k), timeouts, cancels);
        missing++;
    }
    for (uint32_t i = 0; i < sizeof also / sizeof *also; i++) {
        uint32_t count = sum->codes[also[i].kind][fibers_code_index(also[i].code)];
        if (count >= 2) continue;
        print_message("# %s: %u answers %d\n", fibers_op_name(also[i].kind), count, also[i].code);
        missing++;
    }
    assert_int_equal(missing, 0);
}

static void random_programs_do_what_the_reference_allows(void **state)
{
    (void)state;
    static fibers_hunted sum;
    fibers_hunt_options o = {.seed = first_seed(),
                             .programs = storm_amount(storm_size(PROGRAMS / 4, PROGRAMS)),
                             .workers = {1, 2, 4},
                             .worker_count = 3,
                             .in_turn = !storm_is_long(),
                             .runs = RUNS,
                             .most_states = storm_is_long() ? LONG_STATES : STATES,
                             .processes = PROCESSES};
    bool is_right = fibers_hunt(&o, &sum);
    print_sum(&sum, o.seed);
    assert_true(is_right);
    if (o.programs < PROGRAMS) return; /* a slow build */
    check_coverage(&sum);
    check_codes(&sum);
}

/* Programs that had a wrong result once, smaller than they were found. */

static void check_program(fibers_program *p)
{
    fibers_result wrong;
    p->parties = p->stock_capacity = p->blocking_threads = 1;
    bool is_right = fibers_try(p, storm_amount(WRONG_RUNS), 1, &wrong);
    if (!is_right) fibers_result_print(stderr, p, &wrong);
    assert_true(is_right);
}

/* The owner of a nursery below is told before the reason gets to its nursery, and cancels that itself. */
static void nurseries_below_have_the_same_reason(void **state)
{
    (void)state;
    fibers_program p = {
        .fiber_count = 3,
        .fibers = {{.op_count = 4,
                    .ops = {{.kind = FIBERS_OPEN, .until = FIBERS_NEVER},
                            {.kind = FIBERS_NURSERY_SPAWN, .number = 1},
                            {.kind = FIBERS_RECV, .until = FIBERS_NEVER},
                            {.kind = FIBERS_NURSERY_CANCEL, .number = 9}}},
                   {.op_count = 2,
                    .ops = {{.kind = FIBERS_OPEN, .until = FIBERS_NEVER},
                            {.kind = FIBERS_NURSERY_GO, .object = 1, .number = 2}}},
                   {.op_count = 2, .ops = {{.kind = FIBERS_CLOSE}, {.kind = FIBERS_SLEEP, .until = FIBERS_NEVER}}}}};
    check_program(&p);
}

/* A child was joined, which lets another one end, and that one fails later. */
static void the_first_failure_is_that_of_who_ended_first(void **state)
{
    (void)state;
    fibers_program p = {
        .fiber_count = 3,
        .fibers = {{.op_count = 5,
                    .ops = {{.kind = FIBERS_OPEN, .until = FIBERS_NEVER},
                            {.kind = FIBERS_NURSERY_GO, .number = 1},
                            {.kind = FIBERS_NURSERY_SPAWN, .number = 2},
                            {.kind = FIBERS_JOIN, .object = 2, .until = FIBERS_NEVER},
                            {.kind = FIBERS_CLOSE}}},
                   {.op_count = 1, .returns = 21, .ops = {{.kind = FIBERS_RECV, .until = FIBERS_NEVER}}},
                   {.returns = 22}}};
    check_program(&p);
}

/* On threads a try can meet who has come too late to wait: 612 of 3,000,000 did. In the lab none can. */
static void who_is_too_late_is_in_line_for_a_moment(void **state)
{
    (void)state;
    fibers_program p;
    fibers_set sets[2];
    assert_null(fibers_parse("spawn f1; recv c0 passed | send c0 now", &p));
    fibers_enumerate(&p, STATES, &sets[0]);
    fibers_enumerate_parallel(&p, STATES, &sets[1]);
    for (uint32_t k = 0; k < 2; k++) {
        bool met = false;
        assert_true(sets[k].is_whole);
        for (uint32_t i = 0; i < sets[k].count; i++) met |= sets[k].results[i].log[1][0].code == 0;
        assert_int_equal(met, k == 1);
        fibers_set_free(&sets[k]);
    }
}

static void one_program(void **state)
{
    (void)state;
    const char *number = getenv("RADDLE_JUDGE_PROGRAM");
    if (number == NULL) skip();
    fibers_program p;
    fibers_result wrong;
    fibers_generate(strtoull(number, NULL, 10), &p);
    fibers_program_print(stderr, &p);
    bool is_right = fibers_try(&p, 1000, 1, &wrong);
    if (!is_right) fibers_result_print(stderr, &p, &wrong);
    assert_true(is_right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_do_what_the_reference_allows),
        cmocka_unit_test(nurseries_below_have_the_same_reason),
        cmocka_unit_test(the_first_failure_is_that_of_who_ended_first),
        cmocka_unit_test(who_is_too_late_is_in_line_for_a_moment),
        cmocka_unit_test(one_program),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
