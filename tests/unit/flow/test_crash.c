/* test_crash.c — runner and shims over a machine that dies at every single call to it, in every way
 * (double.h). However often it dies, after resuming: the case is done, no command with a receipt ran twice,
 * what is in doubt is reported as such, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "double.h"
#include "flow/run/files.h"
#include "storm_support.h"

#include <stdio.h>
#include <string.h>

enum { LIVES = 40, WORKS = 7 /* commands of FLOW besides quick, slow and flaky */ };

static const char FLOW[] = "flow main {\n"
                           "  data { n : int = 0 }\n"
                           "  task a { run \"a\" } task b { run \"b\" } task c { run \"c\" }\n"
                           "  task flaky { run \"flaky\" retry 1 delay 2s }\n"
                           "  task quick { run \"quick\" } task slow { run \"slow\" }\n"
                           "  task last { run \"last\" reads n }\n"
                           "  do a\n"
                           "  par { do b do c } and { do b } and { do flaky }\n"
                           "  loop 2 { do c set n = n + 1 }\n"
                           "  par { do quick } and { do slow } join first\n"
                           "  do last\n"
                           "}\n";

static rad_flow_program *program;

static int read_flow(void **state)
{
    (void)state;
    program = double_program(FLOW);
    return 0;
}

static int free_flow(void **state)
{
    (void)state;
    rad__flow_program_free(program);
    return 0;
}

/* ---- Lives ---------------------------------------------------------------------------------------------- */

typedef struct life {
    double_world *w;
    const rad_flow_program *program;
    rad_flow_run_options options;
    rad_flow_result result;
    rad_error error;
    int code;
    uint32_t lives, doubts;
    bool kills_shims;
    char keys[8][64];
    rad_flow_settle settles[8];
} life;

static void open_life(life *l, const rad_flow_program *p, uint64_t seed)
{
    *l = (life){.w = double_open(seed), .program = p};
    l->options.given.jobs = 2;
    l->options.given.case_id = "case";
}

/* One runner, from its start to its end, however that comes. */
static void live_once(life *l)
{
    const rad_flow_host *host = double_runner(l->w);
    l->error = (rad_error){0};
    l->lives++;
    l->code = double_has_file(l->w, "journal") ? rad__flow_resume(host, l->program, &l->options, &l->result, &l->error)
                                               : rad__flow_run(host, l->program, &l->options, &l->result, &l->error);
    l->options.given.settle_count = 0;
}

/* "in doubt: KEY (task T), KEY (task T). It was …": each is settled by what is true. */
static void settle_doubts(life *l)
{
    const char *at = l->result.text + strlen("in doubt: ");
    uint32_t count = 0;
    assert_int_equal(strncmp(l->result.text, "in doubt: ", 10), 0);
    for (; count < 8; count++) {
        size_t length = strcspn(at, " ");
        snprintf(l->keys[count], sizeof l->keys[count], "%.*s", (int)length, at);
        const char *key = l->keys[count];
        if (!double_may_doubt(l->w, key)) fail_msg("%s is not in doubt", key);
        bool done = double_count(l->w, key) > 0;
        l->settles[count] = (rad_flow_settle){key, done ? RAD_FLOW_ANSWER_DONE : RAD_FLOW_ANSWER_AGAIN, NULL};
        l->doubts++;
        at = strstr(at, "), ");
        if (at == NULL) break;
        at += 3;
    }
    l->options.given.settles = l->settles;
    l->options.given.settle_count = count + 1;
}

/* Until the case has ended. */
static void live(life *l)
{
    while (l->lives < LIVES) {
        live_once(l);
        if (l->code == 0 && l->result.end == RAD_FLOW_END_IN_DOUBT)
            settle_doubts(l);
        else if (l->code == 0)
            return;
        else if (!double_is_dead(l->w) && !(l->kills_shims && l->code == RAD_EIO))
            fail_msg("%s", l->error.text);
    }
    fail_msg("it does not end: %s", l->error.text);
}

/* slow is asked to end, and may not have begun by then; quick, when slow was in doubt and is said to be done. The first
 * attempt of flaky fails, but nobody can tell when it was in doubt: it was done. */
static void expect_done(const life *l, const char *what, uint64_t n)
{
    uint32_t slow = double_command_count(l->w, "slow"), flaky = double_command_count(l->w, "flaky");
    uint32_t quick = double_command_count(l->w, "quick");
    if (l->result.end != RAD_FLOW_END_DONE)
        fail_msg("%s at call %llu: %s", what, (unsigned long long)n, l->result.text);
    if (double_most(l->w) != 1 || slow > 1 || double_total(l->w) - slow - flaky - quick != WORKS ||
        quick + (l->doubts > 0) < 1 || flaky + (l->doubts > 0) < 2)
        fail_msg("%s at call %llu: %lu commands worked, one of them %lu times", what, (unsigned long long)n,
                 (unsigned long)double_total(l->w), (unsigned long)double_most(l->w));
    assert_string_equal(double_environment(l->w, "last", "n"), "2");
    assert_int_equal(double_living_commands(l->w), 0);
}

static void test_undisturbed(void **state)
{
    (void)state;
    life l;
    open_life(&l, program, 1);
    double_crash_at(l.w, 0, DOUBLE_NONE, 0);
    live(&l);
    assert_int_equal(l.lives, 1);
    expect_done(&l, "nothing", 0);
    assert_string_equal(double_environment(l.w, "last", "RADDLE_CASE"), "case");
    assert_string_equal(double_environment(l.w, "last", "RADDLE_ATTEMPT"), "1");
    assert_int_equal(strncmp(double_environment(l.w, "a", "RADDLE_EFFECT_ID"), "case:0#1", 9), 0);
    assert_true(double_calls(l.w) > 200);
    assert_true(double_now(l.w) > UINT64_C(1700000002000000000)); /* the delay of flaky */
    /* It has ended: resuming says so, and does nothing. */
    live_once(&l);
    assert_int_equal(l.code, 0);
    assert_int_equal(l.result.end, RAD_FLOW_END_DONE);
    expect_done(&l, "nothing", 0);
    double_close(l.w);
}

/* ---- At every call -------------------------------------------------------------------------------------- */

/* Returns how many of the crashes left something in doubt. */
static uint32_t crash_everywhere(enum double_crash what, const char *name, uint32_t seeds)
{
    uint32_t doubts = 0;
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        for (uint64_t n = 1;; n++) {
            life l;
            open_life(&l, program, seed);
            l.kills_shims = what == DOUBLE_KILL_SHIM;
            double_crash_at(l.w, n, what, 0);
            live(&l);
            bool crashed = double_has_crashed(l.w);
            expect_done(&l, name, n);
            doubts += l.doubts;
            double_close(l.w);
            if (!crashed) {
                assert_true(n > 200);
                break;
            }
        }
    }
    return doubts;
}

static void decision_6_killing_the_runner_repeats_nothing(void **state)
{
    (void)state;
    /* Nothing is ever in doubt when only the runner dies. */
    assert_int_equal(crash_everywhere(DOUBLE_KILL_RUNNER, "runner killed", 4), 0);
}

static void decision_6_a_killed_shim_is_doubt(void **state)
{
    (void)state;
    assert_true(crash_everywhere(DOUBLE_KILL_SHIM, "shim killed", 2) > 20);
}

static void test_power_failure_loses_all(void **state)
{
    (void)state;
    assert_true(crash_everywhere(DOUBLE_LOSE, "power failure, all lost", 3) > 20);
}

static void test_power_failure_loses_nothing(void **state)
{
    (void)state;
    assert_true(crash_everywhere(DOUBLE_KEEP, "power failure, nothing lost", 2) > 20);
}

static void test_power_failure_loses_some(void **state)
{
    (void)state;
    assert_true(crash_everywhere(DOUBLE_MIX, "power failure, some lost", 4) > 20);
}

static void test_torn_at_every_byte(void **state)
{
    (void)state;
    uint32_t torn = 0, apart = (uint32_t)storm_size(8, 1); /* by day an eighth of the bytes of each write */
    for (uint64_t n = 1;; n++) {
        uint32_t unsynced = 0;
        bool crashed = false;
        for (uint32_t tear = 0; tear <= unsynced; tear += tear ? apart : 1 + n % apart) {
            life l;
            open_life(&l, program, 1);
            double_crash_at(l.w, n, DOUBLE_TEAR, tear);
            live(&l);
            crashed = double_has_crashed(l.w);
            unsynced = double_unsynced(l.w);
            expect_done(&l, "journal torn", n);
            torn += tear > 0;
            double_close(l.w);
        }
        if (!crashed) break;
    }
    assert_true(torn > 1000 / apart);
}

/* Dying is a habit: several times, in several ways, also while it is resumed. */
static void test_many_crashes(void **state)
{
    (void)state;
    static const enum double_crash kinds[] = {DOUBLE_KILL_RUNNER, DOUBLE_KILL_RUNNER, DOUBLE_KILL_SHIM,
                                              DOUBLE_LOSE,        DOUBLE_KEEP,        DOUBLE_MIX};
    for (uint64_t seed = 1; seed <= storm_size(150, 1500); seed++) {
        life l;
        rad_prng prng = rad__prng(seed, (enum rad_stream)0, 7);
        open_life(&l, program, seed);
        l.kills_shims = true;
        bool over = false;
        for (uint32_t crashes = 0; !over && crashes < 12; crashes++) {
            double_crash_at(l.w, 1 + rad__prng_below(&prng, 150), kinds[rad__prng_below(&prng, 6)], 0);
            live_once(&l);
            if (l.code == 0 && l.result.end == RAD_FLOW_END_IN_DOUBT)
                settle_doubts(&l);
            else
                over = l.code == 0;
            if (l.code != 0 && !double_is_dead(l.w) && l.code != RAD_EIO)
                fail_msg("seed %llu: %s", (unsigned long long)seed, l.error.text);
        }
        double_crash_at(l.w, 0, DOUBLE_NONE, 0);
        if (!over) live(&l);
        expect_done(&l, "many crashes, seed", seed);
        double_close(l.w);
    }
}

/* A branch wins, the other is ended, and nothing begins that would make the win durable by the way: what ended the
 * loser must not be forgotten, or it has failed. */
static void test_the_winner_is_remembered(void **state)
{
    (void)state;
    rad_flow_program *p =
        double_program("flow f { task quick { run \"quick\" } task slow { run \"slow\" }\n"
                       "par { par { do quick } and { do slow } join first wait 30ms }\n"
                       "and { region r { do slow } on cancel { wait 50ms } } and { wait 30ms cancel region r } }");
    for (enum double_crash what = DOUBLE_KILL_RUNNER; what <= DOUBLE_MIX; what++)
        for (uint32_t seed = 1; seed <= storm_size(2, 4); seed++)
            for (uint64_t n = 1;; n++) {
                life l;
                open_life(&l, p, seed);
                l.options.given.jobs = 3;
                l.kills_shims = what == DOUBLE_KILL_SHIM;
                double_crash_at(l.w, n, what, 0);
                live(&l);
                bool crashed = double_has_crashed(l.w);
                if (l.result.end != RAD_FLOW_END_DONE)
                    fail_msg("seed %lu, call %llu: %s", (unsigned long)seed, (unsigned long long)n, l.result.text);
                assert_int_equal(double_living_commands(l.w), 0);
                double_close(l.w);
                if (!crashed) break;
            }
    rad__flow_program_free(p);
}

/* ---- Doubt ---------------------------------------------------------------------------------------------- */

static void crash_with(const char *text, bool counts_once, bool doubts)
{
    rad_flow_program *p = double_program(text);
    uint32_t again = 0, doubted = 0;
    for (enum double_crash what = DOUBLE_KILL_SHIM; what <= DOUBLE_MIX; what++)
        for (uint64_t n = 1;; n++) {
            life l;
            open_life(&l, p, n);
            l.kills_shims = what == DOUBLE_KILL_SHIM;
            double_crash_at(l.w, n, what, 0);
            live(&l);
            bool crashed = double_has_crashed(l.w);
            assert_int_equal(l.result.end, RAD_FLOW_END_DONE);
            assert_true(double_count(l.w, "0#1") >= 1 && double_count(l.w, "0#2") >= 1);
            again += double_most(l.w) > 1;
            doubted += l.doubts;
            double_close(l.w);
            if (!crashed) break;
        }
    assert_int_equal(again == 0, counts_once);
    assert_int_equal(doubted > 0, doubts);
    rad__flow_program_free(p);
}

static void test_on_doubt_retry(void **state)
{
    (void)state;
    crash_with("flow f { task a { run \"a\" on_doubt retry } do a do a }", false, false);
}

static void test_on_doubt_probe(void **state)
{
    (void)state;
    crash_with("flow f { data { x : text } task a { run \"a\" capture x on_doubt probe \"probe\" }\n"
               "do a do a }",
               true, false);
}

static void test_on_doubt_probe_shrugs(void **state)
{
    (void)state;
    crash_with("flow f { task a { run \"a\" on_doubt probe \"shrug\" } do a do a }", true, true);
}

static void decision_6_doubt_stops(void **state)
{
    (void)state;
    crash_with("flow f { task a { run \"a\" } do a do a }", true, true);
}

/* Brings one effect into doubt. */
static void doubt(life *l, const rad_flow_program *p)
{
    for (uint64_t n = 1;; n++) {
        open_life(l, p, 3);
        double_crash_at(l->w, n, DOUBLE_KEEP, 0);
        live_once(l);
        if (l->code != 0 && double_has_file(l->w, "journal")) live_once(l);
        if (l->code == 0 && l->result.end == RAD_FLOW_END_IN_DOUBT) return;
        assert_true(double_has_crashed(l->w));
        double_close(l->w);
    }
}

static void test_answers(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { data { x : text } task a { run \"a\" capture x }\n"
                                         "task b { run \"b\" } region r { do a } on failure { } do b }");
    static const rad_flow_settle settles[] = {{"0#1", RAD_FLOW_ANSWER_DONE, "said"},
                                              {"0#1", RAD_FLOW_ANSWER_FAILED, NULL},
                                              {"0#1", RAD_FLOW_ANSWER_AGAIN, NULL}};
    static const char *const texts[] = {"said", "", "a"};
    for (uint32_t i = 0; i < 3; i++) {
        life l;
        doubt(&l, p);
        assert_non_null(strstr(l.result.text, "0#1 (task a)"));
        assert_non_null(strstr(l.result.text, "--doubt KEY=done"));
        uint32_t before = double_count(l.w, "0#1");
        double_crash_at(l.w, 0, DOUBLE_NONE, 0);
        live_once(&l); /* without an answer nothing changes */
        assert_int_equal(l.code, 0);
        assert_int_equal(l.result.end, RAD_FLOW_END_IN_DOUBT);
        rad_flow_settle unsaid = {"0#1", RAD_FLOW_ANSWER_DONE, NULL};
        l.options.given.settles = &unsaid;
        l.options.given.settle_count = 1;
        live_once(&l);
        assert_int_equal(l.code, RAD_EINPUT);
        assert_non_null(strstr(l.error.text, "add --with-output TEXT"));
        l.options.given.settles = &settles[i];
        l.options.given.settle_count = 1;
        live_once(&l);
        assert_int_equal(l.code, 0);
        assert_int_equal(l.result.end, RAD_FLOW_END_DONE);
        assert_string_equal(double_environment(l.w, "b", "x"), texts[i]);
        assert_int_equal(double_count(l.w, "0#1"), before + (i == 2));
        double_close(l.w);
    }
    rad__flow_program_free(p);
}

/* An answer is about what was left, not about what happens next. */
static void test_an_answer_counts_once(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task a { run \"a\" } do a }");
    static const rad_flow_settle again = {"0#1", RAD_FLOW_ANSWER_AGAIN, NULL};
    uint32_t doubts = 0;
    for (uint64_t n = 1;; n++) {
        life l;
        doubt(&l, p);
        uint32_t before = double_count(l.w, "0#1");
        l.options.given.settles = &again;
        l.options.given.settle_count = 1;
        double_crash_at(l.w, n, DOUBLE_KILL_SHIM, 0);
        live_once(&l);
        bool crashed = double_has_crashed(l.w);
        assert_true(double_count(l.w, "0#1") <= before + 1);
        doubts += l.code == 0 && l.result.end == RAD_FLOW_END_IN_DOUBT;
        double_close(l.w);
        if (!crashed) break;
    }
    assert_true(doubts > 3);
    rad__flow_program_free(p);
}

/* ---- Signals -------------------------------------------------------------------------------------------- */

static void send(double_world *w, const char *name, const char *text)
{
    rad_error error = {0};
    rad_flow_input input = {.kind = text != NULL ? RAD_INPUT_SIGNAL : RAD_INPUT_CANCEL,
                            .scope = RAD_FLOW_PART_REGION,
                            .name = name,
                            .text = text,
                            .length = text != NULL ? strlen(text) : 0};
    assert_int_equal(rad__flow_spool_put(double_other(w), &input, &error), 0);
}

static const char SIGNALS[] = "flow f { data { x : text y : text }\n"
                              "task a { run \"a\" } do a\n"
                              "wait signal go into x wait signal go into y do a wait 3s\n"
                              "task last { run \"last\" } do last }";

/* Two signals, one of them sent before anybody waits: each is taken once, in their order. */
static void test_signals_are_taken_once(void **state)
{
    (void)state;
    rad_flow_program *p = double_program(SIGNALS);
    for (enum double_crash what = DOUBLE_KILL_RUNNER; what <= DOUBLE_MIX; what++) {
        for (uint64_t n = 1;; n++) {
            life l;
            open_life(&l, p, n);
            l.kills_shims = what == DOUBLE_KILL_SHIM;
            double_crash_at(l.w, 0, DOUBLE_NONE, 0);
            send(l.w, "go", "first");
            double_ticks(l.w, 1);
            send(l.w, "go", "second");
            double_crash_at(l.w, n, what, 0);
            live(&l);
            bool crashed = double_has_crashed(l.w);
            assert_int_equal(l.result.end, RAD_FLOW_END_DONE);
            assert_string_equal(double_environment(l.w, "last", "x"), "first");
            assert_string_equal(double_environment(l.w, "last", "y"), "second");
            assert_int_equal(double_most(l.w), 1);
            double_close(l.w);
            if (!crashed) break;
        }
    }
    rad__flow_program_free(p);
}

static void test_cancel_from_outside(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task slow { run \"slow\" } task b { run \"b\" }\n"
                                         "region r { do slow } on cancel { do b } }");
    for (uint64_t n = 1;; n++) {
        life l;
        open_life(&l, p, n);
        double_crash_at(l.w, 0, DOUBLE_NONE, 0);
        double_crash_at(l.w, n, DOUBLE_KILL_RUNNER, 0);
        if (n % 2 == 0)
            send(l.w, "r", NULL); /* or later, while nobody lives */
        else {
            double_crash_at(l.w, 60 + n, DOUBLE_KILL_RUNNER, 0);
            live_once(&l);
            send(l.w, "r", NULL);
            double_crash_at(l.w, n, DOUBLE_KILL_RUNNER, 0);
        }
        live(&l);
        bool crashed = double_has_crashed(l.w);
        assert_int_equal(l.result.end, RAD_FLOW_END_DONE);
        assert_int_equal(double_command_count(l.w, "b"), 1);
        assert_int_equal(double_living_commands(l.w), 0);
        double_ticks(l.w, 100); /* nothing begins afterwards, either */
        assert_int_equal(double_living_commands(l.w), 0);
        double_close(l.w);
        if (!crashed && n > 100) break;
    }
    rad__flow_program_free(p);
}

/* Each timer runs from where it was begun, whoever runs in between. */
static void test_timers_are_kept(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task a { run \"a\" } wait 10s do a wait 10s do a }");
    static const enum double_crash kinds[] = {DOUBLE_KILL_RUNNER, DOUBLE_LOSE, DOUBLE_MIX};
    for (uint32_t i = 0; i < 3; i++)
        for (uint64_t n = 1;; n++) {
            life l;
            open_life(&l, p, n);
            uint64_t began = double_now(l.w);
            double_crash_at(l.w, n, kinds[i], 0);
            live(&l);
            bool crashed = double_has_crashed(l.w);
            uint64_t took = double_now(l.w) - began;
            assert_int_equal(l.result.end, RAD_FLOW_END_DONE);
            if (took < UINT64_C(20000000000) || took > UINT64_C(20500000000))
                fail_msg("crash %lu at call %llu: %llu ms", (unsigned long)i, (unsigned long long)n,
                         (unsigned long long)took / 1000000);
            double_close(l.w);
            if (!crashed) break;
        }
    rad__flow_program_free(p);
}

/* A shim that has not come to life when its runner is killed, and its effect is cancelled before the next one looks: it
 * must not begin when nobody wants it any more, and nobody waits for it for ever. */
static void test_late_shims(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task quick { run \"quick\" } task slow { run \"slow\" }\n"
                                         "region r { par { do quick } and { do slow } join first } }");
    for (uint64_t seed = 1; seed <= 6000; seed++) {
        life l;
        rad_prng prng = rad__prng(seed, (enum rad_stream)0, 8);
        open_life(&l, p, seed);
        double_crash_at(l.w, 20 + rad__prng_below(&prng, 100), DOUBLE_KILL_RUNNER, 0);
        live_once(&l);
        if (seed % 2 == 0 && l.code != 0 && double_has_file(l.w, "journal")) send(l.w, "r", NULL);
        if (l.code != 0) live(&l);
        assert_int_equal(l.result.end, RAD_FLOW_END_DONE);
        double_ticks(l.w, 60);
        assert_int_equal(double_living_commands(l.w), 0);
        assert_true(double_most(l.w) <= 1);
        double_close(l.w);
    }
    rad__flow_program_free(p);
}

/* The same, made sure of: the shim does not come to life at all before the case has ended. */
static void test_very_late_shims(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task quick { run \"quick\" } task slow { run \"slow\" }\n"
                                         "par { do quick } and { do slow } join first }");
    for (uint64_t n = 1;; n++) {
        life l;
        open_life(&l, p, n);
        double_hold(l.w, "slow");
        double_crash_at(l.w, n, DOUBLE_KILL_RUNNER, 0);
        live(&l);
        bool crashed = double_has_crashed(l.w);
        assert_int_equal(l.result.end, RAD_FLOW_END_DONE);
        uint32_t before = double_command_count(l.w, "slow");
        double_hold(l.w, NULL);
        double_ticks(l.w, 60);
        assert_int_equal(double_living_commands(l.w), 0);
        assert_int_equal(double_command_count(l.w, "slow"), before);
        double_close(l.w);
        if (!crashed) break;
    }
    rad__flow_program_free(p);
}

/* ---- The rest ------------------------------------------------------------------------------------------- */

static void test_a_full_disk(void **state)
{
    (void)state;
    uint32_t doubts = 0;
    for (uint64_t n = 1;; n += 3) {
        life l;
        open_life(&l, program, n);
        uint32_t tries = n % 2 == 0 ? 20 : 0;
        double_crash_at(l.w, n, DOUBLE_FULL, tries);
        live_once(&l);
        bool crashed = double_has_crashed(l.w);
        if (crashed && l.code != 0) {
            assert_int_equal(l.code, RAD_EIO);
            assert_false(double_is_dead(l.w));
            double_ticks(l.w, 400); /* shims meet it, too */
        }
        double_empty(l.w);
        l.kills_shims = true; /* one that could not begin is started again */
        if (l.code != 0) live(&l);
        if (tries > 0) assert_int_equal(l.doubts, 0); /* shims wait for room, but not for ever */
        doubts += l.doubts;
        expect_done(&l, "disk full", n);
        double_close(l.w);
        if (!crashed) break;
    }
    assert_true(doubts > 0);
}

/* Wide, so that many start together: their records share a sync. */
static void test_group_commit(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task a { run \"a\" } many 30 { do a } }");
    life l;
    open_life(&l, p, 1);
    l.options.given.jobs = 30;
    live(&l);
    assert_int_equal(double_total(l.w), 30);
    assert_true(double_syncs(l.w) <= 4);
    double_close(l.w);
    open_life(&l, p, 1);
    l.options.given.jobs = 1;
    live(&l);
    assert_int_equal(double_total(l.w), 30);
    assert_true(double_syncs(l.w) >= 30);
    double_close(l.w);
    rad__flow_program_free(p);
}

static uint32_t most_running;

static void watch_running(void *context, const rad_flow_progress *p)
{
    uint32_t running = context ? double_launched(context) : p->running;
    if (running > most_running) most_running = running;
}

static void test_jobs(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task a { run \"a\" } many 20 { do a } }");
    for (uint32_t jobs = 1; jobs <= 4; jobs++) {
        life l;
        open_life(&l, p, jobs);
        l.options.given.jobs = jobs;
        l.options.given.watch = watch_running;
        most_running = 0;
        live(&l);
        assert_int_equal(most_running, jobs);
        double_close(l.w);
    }
    rad__flow_program_free(p);
}

/* Commands that nobody wants any more count until they have ended. */
static void test_jobs_that_are_stopped(void **state)
{
    (void)state;
    rad_flow_program *p = double_program("flow f { task a { run \"a\" } task slow { run \"slow\" }"
                                         " par { do a } and { do slow } and { do slow } and { do slow } join first"
                                         " many 8 { do a } }");
    life l;
    open_life(&l, p, 1);
    l.options.given.jobs = 4;
    l.options.given.watch = watch_running;
    l.options.given.context = l.w;
    double_hold(l.w, "slow");
    most_running = 0;
    live(&l);
    assert_int_equal(most_running, 4);
    double_close(l.w);
    rad__flow_program_free(p);
}

static void test_lost_records(void **state)
{
    (void)state;
    life l;
    for (uint64_t n = 60;; n++) {
        open_life(&l, program, 1);
        double_crash_at(l.w, n, DOUBLE_KILL_RUNNER, 0);
        live_once(&l);
        if (double_has_file(l.w, "effects/0-1@1.receipt")) break;
        double_close(l.w);
    }
    /* The journal is gone: it is no new case, either. */
    double_crash_at(l.w, 0, DOUBLE_NONE, 0);
    double_remove(l.w, "journal");
    double_remove(l.w, "lock");
    live_once(&l);
    assert_int_equal(l.code, RAD_EINPUT);
    assert_non_null(strstr(l.error.text, "it has lost records"));
    double_close(l.w);
}

/* The journal anew, with the digest of its n-th input, or its step, another one, and all sums right. */
static void forge(double_world *w, uint32_t n, uint64_t step)
{
    static rad_flow_journal j;
    static rad_flow_record record;
    char *data;
    size_t size;
    int file;
    rad_error error = {0};
    rad_bytes out = {0};
    const rad_flow_host *h = double_other(w);
    assert_int_equal(h->read(h->context, "journal", &data, &size, &error), 1);
    assert_int_equal(rad__flow_journal_open(&j, "journal", data, size, &error), 0);
    rad__flow_journal_begin(&out, &j.crc, &j.header);
    while (rad__flow_journal_next(&j, &record, &error) == 1) {
        if (record.type == RAD_RECORD_INPUT && n-- == 1) {
            if (step == 0) record.digest.low ^= 1;
            record.step += step;
        }
        rad__flow_journal_put(&out, &j.crc, &record);
    }
    assert_int_equal(h->create(h->context, &file, "journal", &error), 0);
    assert_int_equal(h->put(h->context, file, out.data, out.size, &error), 0);
    h->close(h->context, file);
    rad__free(data);
    rad__bytes_free(&out);
}

/* A program that does something else than the one that wrote the journal does not go on. */
static void test_another_way(void **state)
{
    (void)state;
    static const char *const texts[] = {"the flow has done something else before",
                                        "the flow does not come to that step"};
    for (uint32_t i = 0; i < 2; i++) {
        life l;
        open_life(&l, program, 1);
        double_crash_at(l.w, 400, DOUBLE_KILL_RUNNER, 0);
        live_once(&l);
        double_crash_at(l.w, 0, DOUBLE_NONE, 0);
        forge(l.w, 2, i * 1000);
        uint32_t before = double_total(l.w);
        live_once(&l);
        assert_int_equal(l.code, RAD_EINPUT);
        if (strstr(l.error.text, texts[i]) == NULL) fail_msg("%s", l.error.text);
        assert_non_null(strstr(l.error.text, "journal: record "));
        assert_true(double_total(l.w) <= before + 2); /* what ran goes on; nothing begins */
        double_close(l.w);
    }
}

/* Every allocation fails once: the run ends with an error, and resuming brings it to its end. */
static void test_no_memory(void **state)
{
    (void)state;
    uint64_t n = 1;
    for (;; n += 1 + n / 20) {
        life l;
        open_life(&l, program, 1);
        rad__alloc_fail_at(n);
        live_once(&l);
        rad__alloc_fail_at(0);
        if (l.code != 0) assert_int_equal(l.code, RAD_ENOMEM);
        bool done = l.code == 0 && l.result.end == RAD_FLOW_END_DONE;
        if (l.code == 0 && !done) settle_doubts(&l); /* shims cannot write without memory, either */
        if (!done) live(&l);
        expect_done(&l, "no memory", n);
        double_close(l.w);
        if (done) break;
    }
    assert_true(n > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undisturbed),
        cmocka_unit_test(decision_6_killing_the_runner_repeats_nothing),
        cmocka_unit_test(decision_6_a_killed_shim_is_doubt),
        cmocka_unit_test(test_power_failure_loses_all),
        cmocka_unit_test(test_power_failure_loses_nothing),
        cmocka_unit_test(test_power_failure_loses_some),
        cmocka_unit_test(test_torn_at_every_byte),
        cmocka_unit_test(test_many_crashes),
        cmocka_unit_test(test_the_winner_is_remembered),
        cmocka_unit_test(test_on_doubt_retry),
        cmocka_unit_test(test_on_doubt_probe),
        cmocka_unit_test(test_on_doubt_probe_shrugs),
        cmocka_unit_test(decision_6_doubt_stops),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_an_answer_counts_once),
        cmocka_unit_test(test_signals_are_taken_once),
        cmocka_unit_test(test_cancel_from_outside),
        cmocka_unit_test(test_timers_are_kept),
        cmocka_unit_test(test_late_shims),
        cmocka_unit_test(test_very_late_shims),
        cmocka_unit_test(test_a_full_disk),
        cmocka_unit_test(test_group_commit),
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_jobs_that_are_stopped),
        cmocka_unit_test(test_lost_records),
        cmocka_unit_test(test_another_way),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("flow_crash", tests, read_flow, free_flow);
}
