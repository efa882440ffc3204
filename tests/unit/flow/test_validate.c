/* test_validate.c — the validator of flows: each verdict both ways, with the run that shows it, and the same
 * verdicts whether steps are saved or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "generate.h"
#include "rig_support.h"
#include "sparse.h"
#include "storm_support.h"
#include "verdict_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* With sanitizers and checks on, everything takes thirty times as long. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SLOWER = 10 };
#else
enum { SLOWER = STORM_SLOWER };
#endif
#else
enum { SLOWER = STORM_SLOWER > 1 ? 10 : 1 };
#endif

static rad_flow_program *parse(const char *text)
{
    rad_flow_program *p;
    rad_error error = {0};
    if (rad__flow_program_read(&p, "test", text, strlen(text), NULL, &error) != 0) fail_msg("%s\n%s", error.text, text);
    return p;
}

/* ---- With and without saving ------------------------------------------------------------------- */

static const char *const ANSWERS[] = {"holds", "fails", "unknown"};

static void compare(uint64_t seed, const char *text, const rad_flow_validation *a, const rad_flow_validation *b)
{
    unsigned long long n = seed;
    for (uint32_t i = 0; i < RAD_FLOW_PROPERTIES; i++) {
        enum rad_flow_holding x = a->verdicts[i].answer, y = b->verdicts[i].answer;
        if (x == y || (i == RAD_FLOW_CONFLUENT && (x == RAD_FLOW_UNKNOWN || y == RAD_FLOW_UNKNOWN))) continue;
        fail_msg("seed %llu: %s %s, with every order it %s: %s%s\n%s", n,
                 rad_flow_property_name((enum rad_flow_property)i), ANSWERS[x], ANSWERS[y], a->verdicts[i].text,
                 b->verdicts[i].text, text);
    }
    if (a->dead_count != b->dead_count) fail_msg("seed %llu: dead\n%s", n, text);
    for (uint32_t i = 0; i < a->dead_count; i++)
        if (strcmp(a->dead[i].text, b->dead[i].text) != 0 || a->dead[i].line != b->dead[i].line)
            fail_msg("seed %llu: dead: %s, %s\n%s", n, a->dead[i].text, b->dead[i].text, text);
    assert_true(a->states <= b->states);
}

/* What the comparison has seen, so that it can be told from one that has seen nothing. */
typedef struct tally {
    uint64_t compared, saved, full;
    uint64_t answers[RAD_FLOW_PROPERTIES][3];
} tally;

static void compare_one(tally *t, uint64_t seed, const char *text, uint64_t states)
{
    rad_flow_validate_options o = {.states = states, .steps = states * 60, .seeds = 1, .every_order = true};
    rad_flow_validation *full = flow_validated(text, &o);
    if (full->exhausted) {
        o.every_order = false;
        rad_flow_validation *saved = flow_validated(text, &o);
        assert_true(saved->exhausted);
        assert_true(saved->saved > 0 || saved->states == full->states);
        compare(seed, text, saved, full);
        t->compared++;
        t->saved += saved->states;
        t->full += full->states;
        for (uint32_t i = 0; i < RAD_FLOW_PROPERTIES; i++) t->answers[i][full->verdicts[i].answer]++;
        rad_flow_validation_free(saved);
    }
    rad_flow_validation_free(full);
}

static void print_tally(const tally *t)
{
    print_message("%llu flows, %llu states instead of %llu\n", (unsigned long long)t->compared,
                  (unsigned long long)t->saved, (unsigned long long)t->full);
    for (uint32_t i = 0; i < RAD_FLOW_PROPERTIES; i++)
        print_message("  %-20s holds %llu, fails %llu, unknown %llu\n",
                      rad_flow_property_name((enum rad_flow_property)i), (unsigned long long)t->answers[i][0],
                      (unsigned long long)t->answers[i][1], (unsigned long long)t->answers[i][2]);
}

static void saving_steps_changes_no_verdict(void **state)
{
    static tally t;
    uint64_t flows = storm_amount(storm_size(150, 1000) * STORM_SLOWER / SLOWER);
    (void)state;
    for (uint64_t seed = 1; seed <= flows; seed++) {
        char *text = flow_sparse(seed);
        compare_one(&t, seed, text, 800);
        rad__free(text);
    }
    print_tally(&t);
    assert_true(t.compared > flows / 2);
    assert_true(t.full > 2 * t.saved);
    for (uint32_t i = 0; i < RAD_FLOW_PROPERTIES && SLOWER == 1; i++) /* too few flows otherwise */
        assert_true(t.answers[i][RAD_FLOW_HOLDS] > flows / 100 && t.answers[i][RAD_FLOW_FAILS] > flows / 100);
}

/* Each of them has something that only one order of steps leads to. */
static void orders_that_matter_are_tried(void **state)
{
    static const char *const texts[] = {
        /* What an owner writes is seen by its handler. */
        "region r { par { fail } and { } join none set a = 1 }\n"
        "on failure { xor { when a == 0 { reach early } else { reach late } } }",
        /* A region that is cancelled before it is entered is entered. */
        "par { region r { await m do s } } and { cancel region r reach m } join sync",
        /* Who has left catches nothing. */
        "region r { par { fail } and { } join none } on failure { do s }",
        /* Whatever ends the case, others may have done something before. */
        "par { par { set c = 1 } and { set c = 2 } } and { reach m do s }",
        "par { set a = 1 / a } and { reach m do s }",
        "par { xor { when a == 1 { } } } and { reach m do s }",
        "par { or { when a == 1 { } } } and { reach m do s }",
        "par { loop 1 / a { } } and { reach m do s }",
        "par { many 1 / a { } } and { reach m do s }",
        "par { do never } and { reach m do s }",
        /* A failure that is caught may come late. */
        "region r { par { do may } and { reach m } } on failure { await m do s }",
        /* Who is left behind, who is cut off, who comes first. */
        "par { } and { } join any",
        "par { finish } and { }",
        "par { set c = 1 } and { set c = 2 } join first xor { when c == 1 { reach k } else { do s "
        "} }",
        /* One that goes round does not keep the others from going on. */
        "par { while true { set c = 0 } } and { reach m do s }",
        "par { repeat { } until false } and { reach m do s }",
        /* An instance more, or one too late. */
        "many g 1 up to 2 { par { par { more g } and { } join none } and { } } reach m",
        /* What is drawn depends on what was begun before, also by one that was stopped. */
        "par { region r { do gives await m } on cancel { do gives } } and { cancel region r } join "
        "sync",
        /* What is undone depends on what was done. */
        "par { region r { do made } } and { compensate r }",
        "par { region r { do made do made } } and { compensate r do s }",
    };
    static tally t;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "flow f { data { a : int  c : int  d : int in { 0, 1, 2, 3, 4, 5, 6, 7 } }\n%s\n"
                 "task gives { call \"f\" outcomes ok writes d }\n"
                 "task s { call \"f\" outcomes ok } task never { call \"f\" outcomes fail }\n"
                 "task may { call \"f\" } task made { call \"f\" outcomes ok undo s } }",
                 texts[i]);
        compare_one(&t, i, text, 5000);
    }
    assert_int_equal(t.compared, sizeof texts / sizeof *texts);
}

/* The flows that the machine itself is tested with: everything at once, so that little can be saved. */
static void nor_of_flows_with_everything_in_them(void **state)
{
    static tally t;
    (void)state;
    for (uint64_t seed = 1; seed <= storm_amount(60 * STORM_SLOWER / SLOWER); seed++) {
        char *text = flow_generate(seed);
        compare_one(&t, seed, text, 1000);
        rad__free(text);
    }
    print_tally(&t);
    assert_true(t.compared > 20 / SLOWER);
}

/* ---- The lab agrees ------------------------------------------------------------------- */

static rad_target flow_target(const char *text)
{
    rad_target t;
    rad_error error = {0};
    FILE *f = fopen("validate.flow", "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    if (rad_target_flow(&t, "validate.flow", NULL, &error) != 0) fail_msg("%s", error.text);
    unlink("validate.flow");
    return t;
}

/* Its own searches, with and without knowing states again, come to the same about deadlocks and about completion. */
static void the_lab_finds_the_same(void **state)
{
    static rad_exploration e;
    uint64_t compared = 0, found = 0, flows = storm_amount(storm_size(50, 150) * STORM_SLOWER / SLOWER);
    (void)state;
    for (uint64_t seed = 1; seed <= flows; seed++) {
        char *text = flow_sparse(seed);
        rad_flow_validate_options vo = {.states = 1000, .seeds = 1};
        rad_flow_validation *v = flow_validated(text, &vo);
        rad_target t = flow_target(text);
        rad_error error = {0};
        for (int way = 0; way < 4 && v->exhausted; way++) {
            bool proper = way % 2 != 0;
            rad_explore_options o = {.strategy = way < 2 ? "dedup" : "dfs", .runs = 1000, .seed = 1, .jobs = 1};
            assert_int_equal(rad_target_set(&t, proper ? "proper=1" : "proper=0", &error), 0);
            t.c.max_steps = 300;
            assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
            bool met = false, done = e.complete;
            for (uint32_t i = 0; i < e.finding_count; i++) {
                const char *kind = rad_artifact_verdict(e.findings[i].artifact)->kind;
                met |= strcmp(kind, proper ? "improper" : "deadlock") == 0;
            }
            const rad_flow_verdict *f = &v->verdicts[proper ? RAD_FLOW_PROPER_END : RAD_FLOW_NO_DEADLOCK];
            if (met && f->answer != RAD_FLOW_FAILS)
                fail_msg("seed %llu: the lab finds it\n%s", (unsigned long long)seed, text);
            if (!met && done && f->answer != RAD_FLOW_HOLDS)
                fail_msg("seed %llu: the lab does not find it\n%s", (unsigned long long)seed, text);
            compared += done;
            found += met;
            rad_exploration_free(&e);
        }
        rad_target_free(&t);
        rad_flow_validation_free(v);
        rad__free(text);
    }
    assert_true(compared > flows * 2 / 3);
    assert_true(found > flows / 15);
}

/* Every run that is given as a reason shows it, in the lab. */
static void counterexamples_can_be_executed(void **state)
{
    uint64_t made[RAD_FLOW_PROPERTIES + 1] = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= storm_amount(storm_size(100, 400) * STORM_SLOWER / SLOWER); seed++) {
        char *text = flow_sparse(seed);
        rad_flow_validate_options o = {.states = 1500, .seeds = 2};
        rad_target t = flow_target(text);
        rad_flow_validation *v;
        rad_error error = {0};
        assert_int_equal(rad_flow_validate(&t, &o, &v, &error), 0);
        for (uint32_t i = 0; i < 2 * RAD_FLOW_PROPERTIES; i++) {
            rad_artifact *a;
            rad_replay now;
            bool other = i >= RAD_FLOW_PROPERTIES;
            enum rad_flow_property property = i % RAD_FLOW_PROPERTIES;
            if (rad_flow_counterexample(&t, v, property, other, &a, &error) != 0)
                fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, error.text, text);
            if (a == NULL) continue;
            made[other ? RAD_FLOW_PROPERTIES : property]++;
            assert_int_equal(rad_lab_replay(a, NULL, &now, &error), 0);
            assert_true(now.as_recorded);
            if (property == RAD_FLOW_NO_LIVELOCK) /* once around, and no further */
                assert_int_equal(now.actual.steps, v->verdicts[property].steps);
            assert_int_equal(now.actual.result, other ? RAD_RESULT_PASS : RAD_RESULT_FAILURE);
            rad_artifact_free(a);
        }
        rad_flow_validation_free(v);
        rad_target_free(&t);
        rad__free(text);
    }
    for (uint32_t i = 0; i <= RAD_FLOW_PROPERTIES; i++)
        if (i != RAD_FLOW_NO_DEAD_TASK && i != RAD_FLOW_NO_DEAD_CODE) assert_true(made[i] > 2 || SLOWER > 1);
}

/* ---- By hand ------------------------------------------------------------------- */

/* As letters, by property: h, f, u. */
static void assert_answers(const char *text, const char *answers)
{
    rad_flow_validation *v = flow_validated(text, NULL);
    char got[RAD_FLOW_PROPERTIES + 1] = "";
    for (uint32_t i = 0; i < RAD_FLOW_PROPERTIES; i++) got[i] = "hfu"[v->verdicts[i].answer];
    if (strcmp(got, answers) != 0) fail_msg("%s instead of %s\n%s", got, answers, text);
    rad_flow_validation_free(v);
}

#define TASKS "task s { call \"f\" outcomes ok } task t { call \"f\" outcomes ok }\n"

static void sound_flows_hold_in_all_respects(void **state)
{
    (void)state;
    assert_answers("flow f { " TASKS "do s do t }", "hhhhhhh");
    assert_answers("flow f { " TASKS "par { do s } and { do t } }", "hhhhhhh");
    assert_answers("flow f { task t { call \"f\" } par { do t } and { do t } }", "hhhhhhh");
    assert_answers("flow f { data { b : bool } task t { call \"f\" writes b outcomes ok }\n"
                   "repeat { do t } until b }",
                   "hhhhhhh");
    assert_answers("flow f { many 3 as i { set n = i } data { n : int merge sum } }", "hhhhhhh");
}

static void deadlocks(void **state)
{
    (void)state;
    static const char locks[] = "flow f {\npar { lock a { lock b { } } }\nand { lock b { lock a { } } }\n}";
    assert_answers(locks, "fhhhhfh");
    flow_verdict_fails(locks, RAD_FLOW_NO_DEADLOCK,
                       "token 0, line 2: waits at join all: 0 of 2 branches arrived, 0 cancelled; token "
                       "0/1.0, line 2: "
                       "waits for the lock b, which 0/1.1 has; token 0/1.1, line 3: waits for the lock "
                       "a, which 0/1.0 has",
                       "0 1");
    flow_verdict_fails(locks, RAD_FLOW_CAN_END,
                       "from there on every run comes to a deadlock, which is no end (an end: done, "
                       "failed or cancelled; met: done)",
                       "0 1");
    assert_answers("flow f { par { lock a { lock b { } } } and { lock a { lock b { } } } }", "hhhhhhh");
    assert_answers("flow f { par { await m } and { reach m expire m } }", "fhhhhfh");
    assert_answers("flow f { par { await m } and { reach m } }", "hhhhhhh");
    assert_answers("flow f { lock a { lock a { } } }", "fhfhhfu");
    assert_answers("flow f { " TASKS "par { do s } and { cancel task s do t } join all }", "fhhhhfh");
    assert_answers("flow f { " TASKS "par { do s } and { cancel task s do t } join sync }", "hhhhhhh");
}

static void dead_tasks_and_dead_code(void **state)
{
    (void)state;
    flow_verdict_fails("flow f {\n" TASKS "do s\n}", RAD_FLOW_NO_DEAD_TASK, "never started: task t (line 2)", NULL);
    flow_verdict_fails("flow f { " TASKS "do s\nxor { when true { } when 1 > 2 { do t } else {\n} }\n}",
                       RAD_FLOW_NO_DEAD_CODE, "never reached: a branch of xor (line 3), else of xor (line 3)", NULL);
    flow_verdict_fails("flow f { " TASKS "do s\nfinish\ndo t\ndo s }", RAD_FLOW_NO_DEAD_CODE,
                       "never reached: do t (line 4)", NULL);
    flow_verdict_fails("flow f { par { reach m } and { await m else { } }\n}", RAD_FLOW_NO_DEAD_CODE,
                       "never reached: else of await (line 1)", NULL);
    flow_verdict_fails("flow f { region r {\n} on failure {\n reach m }\n loop 0 {\n expire m } }",
                       RAD_FLOW_NO_DEAD_CODE, "never reached: reach (line 3), expire (line 5)", NULL);
    flow_verdict_fails("flow f { or { when true { } when false {\n} else {\n} } }", RAD_FLOW_NO_DEAD_CODE,
                       "never reached: a branch of or (line 1), else of or (line 2)", NULL);
    assert_answers("flow f { " TASKS "xor { when true { do s } when true { do t } } }", "hhhhhhh");
    /* An undo task is started by compensate. */
    assert_answers("flow f { task t { call \"f\" undo u outcomes ok } task u { call \"f\" outcomes ok }\n"
                   "region r { do t } compensate r }",
                   "hhhhhhh");
    assert_answers("flow f { task t { call \"f\" undo u outcomes ok } task u { call \"f\" outcomes ok }\n"
                   "region r { do t } }",
                   "hfhhhhh");
    assert_answers("flow f { defer { on signal a { } on signal b { } on timer 1s { } } }", "hhhhhhh");
    assert_answers("flow f { interleave { reach m } and { await m else { } } and { expire m } }", "fhhhhfh");
    /* Branches that nobody waits for are reached, too. */
    assert_answers("flow f { or { when true { reach m } when true { } } join none }", "hhhhhhh");
}

/* A branch that outlives its fork hangs below whoever made it, and below somebody else when that one has ended: a
 * second life of the maker's path is another one, though it stands where the first one stood. */
static void states_tell_below_whom_a_branch_hangs(void **state)
{
    (void)state;
    assert_answers("flow f { data { w : int merge last }\n"
                   "task hit { run \"true\" outcomes ok }\n"
                   "reach m\n"
                   "repeat { expire q set w = 0\n"
                   "  par { xor { when true { await m par { } and { await go do hit } join any\n"
                   "                          expire m }\n"
                   "              when true { } }\n"
                   "        reach q set w = 2 }\n"
                   "  and { await q set w = 1 } join first\n"
                   "} until w == 1\n"
                   "reach go }",
                   "fhhfhfu");
}

/* Of two executions of a region that have been left, only the last one is compensated. */
static void states_tell_which_region_is_the_last(void **state)
{
    (void)state;
    assert_answers("flow f { data { stop : bool }\n"
                   "task t { run \"true\" outcomes ok undo u }\n"
                   "task u { run \"false\" outcomes fail }\n"
                   "task hit { run \"true\" outcomes ok }\n"
                   "reach m\n"
                   "repeat {\n"
                   "  region r { xor { when true { await m\n"
                   "                               par { } and { await go do t reach done } join any\n"
                   "                               expire m }\n"
                   "                   when true { } } }\n"
                   "  xor { when true { set stop = true } when true { set stop = false } }\n"
                   "} until stop\n"
                   "reach go await done compensate r do hit }",
                   "fhhfhff");
}

static void improper_completion(void **state)
{
    (void)state;
    flow_verdict_fails("flow f { " TASKS "par { do s }\nand { do t }\njoin any }", RAD_FLOW_PROPER_END,
                       "token 0 ends the flow (line 4) while token 0/1.0 is still at line 2", "0 0 1 0 0 1");
    flow_verdict_fails("flow f { " TASKS "par { finish } and {\ndo t do s } }", RAD_FLOW_PROPER_END,
                       "token 0/1.0 finishes the case (line 2) while token 0/1.1 is still at line 2", "1 0 0 0 1");
    assert_answers("flow f { " TASKS "par { do s } and { do t } join none }", "hhhhhhh");
    assert_answers("flow f { " TASKS "par { do s } and { do t } finish }", "hhhhhhh");
    assert_answers("flow f { " TASKS "par { do s } and { do t } join first }", "hhhhhhh");
}

/* The verdict says what it takes for an end, and what it has met. */
static void ends_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *flow, *met;
    } flows[] = {
        {"flow f { finish }", "done"},
        {"flow f { fail }", "failed"},
        {"flow f { cancel case }", "cancelled"},
        {"flow f { task t { call \"f\" } do t }", "done, failed"},
        {"flow f { xor { when true { } when true { fail } when true { cancel case } } }", "done, failed, cancelled"}};
    for (uint32_t i = 0; i < sizeof flows / sizeof *flows; i++) {
        char text[200];
        snprintf(text, sizeof text, "(an end: done, failed or cancelled; met: %s)", flows[i].met);
        rad_flow_validation *v = flow_validated(flows[i].flow, NULL);
        assert_int_equal(v->verdicts[RAD_FLOW_CAN_END].answer, RAD_FLOW_HOLDS);
        assert_string_equal(v->verdicts[RAD_FLOW_CAN_END].text, text);
        rad_flow_validation_free(v);
    }
}

static void livelocks_and_the_option_to_complete(void **state)
{
    (void)state;
    assert_answers("flow f { while true { } }", "hhhhffu");
    flow_verdict_fails("flow f { while true { } }", RAD_FLOW_NO_LIVELOCK,
                       "it can go round for ever and never end: the last 1 steps come back to where they began", "");
    /* Two ways at the first choice, one of which leads into the circle. */
    static const char xor [] = "flow f { " TASKS "xor { when true { do s } when true { while true { do t } } } }";
    assert_answers(xor, "hhhhffh");
    flow_verdict_fails(xor, RAD_FLOW_NO_LIVELOCK,
                       "it can go round for ever and never end: the last 3 steps come back to where they began", "1");
    flow_verdict_fails(xor, RAD_FLOW_CAN_END,
                       "from there on no end can be reached (an end: done, failed or cancelled; "
                       "met: done)",
                       "1");
    /* It may go round for ever, but need not. */
    assert_answers("flow f { while true { xor { when true { } when true { finish } } } }", "hhhhhhu");
    /* A failure is an end. */
    assert_answers("flow f { task t { call \"f\" } while true { do t } }", "hhhhhhh");
    /* A loop that counts ends. */
    assert_answers("flow f { loop 30 { loop 30 { } } }", "hhhhhhh");
    assert_answers("flow f { par { while true { await m expire m reach m } } and { reach m } }", "hhhhffu");
}

static void confluence(void **state)
{
    (void)state;
    static const char race[] = "flow f { data { n : int } par { set n = 1 } and { set n = 2 } join first }";
    rad_flow_validation *v = flow_validated(race, NULL);
    const rad_flow_verdict *f = &v->verdicts[RAD_FLOW_CONFLUENT];
    assert_int_equal(f->answer, RAD_FLOW_FAILS);
    assert_string_equal(f->text, "done, n = 2");
    assert_string_equal(f->other_text, "done, n = 1");
    assert_int_equal(f->outcomes, 1);
    assert_int_equal(f->choice_count, 3);
    rad_flow_validation_free(v);
    assert_answers(race, "hhhhhhf");
    assert_answers("flow f { data { s : text } par { set s = \"a\" } and { set s = \"b\" } join first }", "hhhhhhf");
    assert_answers("flow f { data { n : int merge sum } par { set n = 1 } and { set n = 2 } }", "hhhhhhh");
    /* They disagree, always. */
    assert_answers("flow f { data { n : int } par { set n = 1 } and { set n = 2 } }", "hhhhhhh");
    assert_answers("flow f { par { fail } and { cancel case } }", "hhhhhhf");
    /* Values come again before the last one does: those are other states, for more is to be drawn. */
    assert_answers("flow f { data { c : int  d : int in { 0, 1, 2, 3, 4, 5, 6, 7 }\n"
                   "e : int in { 0, 1, 2, 3, 4, 5, 6, 7 } }\n"
                   "task t { call \"f\" outcomes ok writes d, e }\n"
                   "par { set c = 1 }\n"
                   "and { repeat { do t } until d == 7 and e == 6 set c = 2 } join first }",
                   "hhhhhhf");
    assert_answers("flow f { data { n : int } interleave { set n = 1 } and { set n = 2 } }", "hhhhhhf");
}

/* ---- What it costs ------------------------------------------------------------------- */

static void a_wide_par_has_few_states(void **state)
{
    char text[2000] = "flow f { task t { call \"f\" }\npar ";
    (void)state;
    for (int i = 0; i < 6; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s{ do t do t do t }", i > 0 ? " and " : "");
    snprintf(text + strlen(text), sizeof text - strlen(text), " }");
    rad_flow_validation *v = flow_validated(text, NULL);
    assert_true(v->exhausted);
    /* Instead of 7^6 and more: the first, six times three tasks, the ends, and how it fails. */
    assert_int_equal(v->states, 1 + 6 * 7 + 1 + 1 + 1);
    rad_flow_validation_free(v);
    rad_flow_validate_options all = {.every_order = true, .states = 20000};
    v = flow_validated(text, &all);
    assert_false(v->exhausted);
    assert_int_equal(v->states, 20000);
    rad_flow_validation_free(v);
}

static void a_budget_that_is_used_up_is_said(void **state)
{
    static const char text[] = "flow f { " TASKS "par { loop 50 { reach m } } and { loop 50 { expire m } do s }\n"
                               "do t }";
    (void)state;
    rad_flow_validate_options few = {.states = 100}, short_one = {.steps = 400};
    volatile int stop = 1;
    rad_flow_validate_options stopped = {.interrupted = &stop};
    rad_flow_validation *v = flow_validated(text, &few);
    assert_false(v->exhausted);
    assert_int_equal(v->states, 100);
    for (uint32_t i = 0; i < RAD_FLOW_PROPERTIES; i++)
        assert_int_equal(v->verdicts[i].answer, i == RAD_FLOW_NO_DEAD_TASK || i == RAD_FLOW_NO_DEAD_CODE
                                                    ? v->verdicts[i].answer
                                                    : RAD_FLOW_UNKNOWN);
    assert_non_null(strstr(v->verdicts[RAD_FLOW_NO_DEADLOCK].text, "not all states were visited: 100"));
    rad_flow_validation_free(v);
    v = flow_validated(text, &short_one);
    assert_false(v->exhausted);
    assert_true(v->steps <= 400 * 5);
    rad_flow_validation_free(v);
    v = flow_validated(text, &stopped);
    assert_string_equal(v->verdicts[RAD_FLOW_NO_LIVELOCK].text, "interrupted");
    rad_flow_validation_free(v);
    v = flow_validated(text, NULL);
    assert_true(v->exhausted);
    rad_flow_validation_free(v);
    /* What was met before is known. */
    few.states = 40;
    v = flow_validated("flow f { " TASKS "par { lock a { lock a { } } } and { loop 100 { reach m } } }", &few);
    assert_false(v->exhausted);
    assert_int_equal(v->verdicts[RAD_FLOW_NO_DEADLOCK].answer, RAD_FLOW_UNKNOWN);
    rad_flow_validation_free(v);
    few.states = 300;
    v = flow_validated("flow f { par { loop 100 { reach m } } and { lock a { lock a { } } } }", &few);
    assert_false(v->exhausted);
    assert_int_equal(v->verdicts[RAD_FLOW_NO_DEADLOCK].answer, RAD_FLOW_FAILS);
    assert_int_equal(v->verdicts[RAD_FLOW_CAN_END].answer, RAD_FLOW_FAILS);
    assert_int_equal(v->verdicts[RAD_FLOW_NO_LIVELOCK].answer, RAD_FLOW_UNKNOWN);
    rad_flow_validation_free(v);
}

/* ---- What it rests on ------------------------------------------------------------------- */

static void assert_failures(const char *text, const char *expected)
{
    char got[800] = "";
    rad_flow_validation *v = flow_validated(text, NULL);
    for (uint32_t i = 0; i < v->failure_count; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s\n", v->failures[i]);
    assert_string_equal(got, expected);
    rad_flow_validation_free(v);
}

/* All of them end alike, and some in the same state. Tasks are known to fail; what is caught is no end. */
static void what_else_a_case_fails_of_is_listed(void **state)
{
    (void)state;
    assert_failures("flow f { " TASKS "par { do s } and { do t } }", "");
    assert_failures("flow f { task t { run \"x\" } do t }", "");
    assert_failures("flow f { data { n : int } region r { set n = 1 / n } on failure { } }", "");
    assert_failures("flow f { data { code : int in { 0, 1 } }\n"
                    "task t { run \"x\" exit code }\n"
                    "many 2 { do t }\n"
                    "xor { when code == 0 { } else { fail \"it did not work\" } } }",
                    "line 3: branches disagree about code, which has no merge rule\nline 4: it did not work\n");
}

static void assumptions_are_listed(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "may succeed or fail, each time: a, b, d",
        "write nothing, because no `writes` is declared: b",
        "tasks and events write nothing to n but 0, 1, -1, 4, 5, 6 (its domain is not declared by "
        "`in`)",
        "tasks and events write nothing to s but \"\", \"yes\" (its domain is not declared by "
        "`in`)",
        "tasks and events write nothing to t but false, true (its domain is not declared by `in`)",
        "signals and timers come in any order, each sooner or later",
        "confluence: outcomes drawn from the seeds 1 … 3, not all there are"};
    rad_flow_validation *v = flow_validated("flow f { data { n : int  m : int in { 3 }  s : text  t : bool  u : int }\n"
                                            "task a { call \"f\" writes n, m } task b { call \"f\" }\n"
                                            "task c { call \"f\" writes t outcomes ok }\n"
                                            "task d { run \"true\" }\n"
                                            "do a do b do c do d wait signal g into s\n"
                                            "xor { when n == 5 { } when s == \"yes\" { set u = 0 } else { } } }",
                                            NULL);
    for (uint32_t i = 0; i < v->assumption_count && i < 7; i++) assert_string_equal(v->assumptions[i], expected[i]);
    assert_int_equal(v->assumption_count, 7);
    rad_flow_validation_free(v);
    v = flow_validated("flow f { " TASKS "do s do t }", NULL);
    assert_int_equal(v->assumption_count, 1);
    rad_flow_validation_free(v);
}

static void memory_that_runs_out_is_an_error(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "flow f { data { n : int in { 1, 2 } } task t { call \"f\" writes n }\n"
        "par { do t } and { do t } join first }",
        "flow f { par { lock a { lock b { } } } and { lock b { lock a { } } } while true { } }",
        "flow f { " TASKS "par { while true { do s } } and { finish } }"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        rad_flow_program *p = parse(texts[i]);
        uint64_t n = 0;
        for (bool good = false; !good;) {
            rad_flow_validation *v;
            rad_error error = {0};
            assert_true(++n < 3000);
            rad__alloc_fail_at(n);
            int code = rad__flow_validate(p, NULL, &v, &error);
            rad__alloc_fail_at(0);
            good = code == 0;
            if (!good) assert_null(v);
            if (!good && code != RAD_ENOMEM) fail_msg("%d: %s", code, error.text);
            rad_flow_validation_free(v);
        }
        assert_true(n > 50);
        rad__flow_program_free(p);
    }
}

static void other_machines_are_refused(void **state)
{
    rad_target t;
    rad_error error = {0};
    rad_flow_validation *v;
    (void)state;
    assert_int_equal(rad_target_init(&t, "counter", &error), 0);
    assert_int_equal(rad_flow_validate(&t, NULL, &v, &error), RAD_EINPUT);
    assert_string_equal(error.text, "counter is no flow");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saving_steps_changes_no_verdict),
        cmocka_unit_test(orders_that_matter_are_tried),
        cmocka_unit_test(nor_of_flows_with_everything_in_them),
        cmocka_unit_test(the_lab_finds_the_same),
        cmocka_unit_test(counterexamples_can_be_executed),
        cmocka_unit_test(sound_flows_hold_in_all_respects),
        cmocka_unit_test(deadlocks),
        cmocka_unit_test(dead_tasks_and_dead_code),
        cmocka_unit_test(states_tell_below_whom_a_branch_hangs),
        cmocka_unit_test(states_tell_which_region_is_the_last),
        cmocka_unit_test(improper_completion),
        cmocka_unit_test(ends_are_named),
        cmocka_unit_test(livelocks_and_the_option_to_complete),
        cmocka_unit_test(confluence),
        cmocka_unit_test(a_wide_par_has_few_states),
        cmocka_unit_test(a_budget_that_is_used_up_is_said),
        cmocka_unit_test(what_else_a_case_fails_of_is_listed),
        cmocka_unit_test(assumptions_are_listed),
        cmocka_unit_test(memory_that_runs_out_is_an_error),
        cmocka_unit_test(other_machines_are_refused),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
