/* test_case.c — cases of flows: the decisions of the contract, quanta, replay, confluence, inputs, lack of
 * memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "flow/journal/replay.h"
#include "flow/machine/history.h"
#include "flow/machine/vm.h"

#include "../../support/put_aside.h"

#include <stdio.h>
#include <string.h>

/* ---- Support --------------------------------------------------------------------------------------------- */

static rad_flow_program *read_flow(const char *text)
{
    rad_flow_program *p;
    rad_error error = {0};
    if (rad__flow_program_read(&p, "t.flow", text, strlen(text), NULL, &error) != 0) fail_msg("%s", error.text);
    return p;
}

static rad_flow_case *open_case(const rad_flow_program *p, const rad_flow_case_options *o)
{
    rad_flow_case *c;
    rad_error error = {0};
    if (rad__flow_case_open(&c, p, o, &error) != 0) fail_msg("%s", error.text);
    return c;
}

static const char *value_of(const rad_flow_case *c, const char *name)
{
    static char text[200];
    const rad_flow_tree *tree = c->program->tree;
    for (uint32_t i = 0; i < tree->variable_count; i++) {
        char number[24];
        size_t length;
        if (strcmp(rad__flow_name(&c->program->file, tree->variables[i].name), name) != 0) continue;
        const char *value = rad__flow_case_value(c, RAD_NONE, i, number, &length);
        snprintf(text, sizeof text, "%.*s", (int)length, value);
        return text;
    }
    fail_msg("no variable %s", name);
    return NULL;
}

/* Runs a flow to its end in a chosen world; the value of x. */
static const char *x_after(const char *text, const char *policy, uint64_t seed, enum rad_flow_state expected)
{
    static char x[200];
    rad_flow_program *p = read_flow(text);
    rad_flow_case_options o = {.policy = policy, .seed = seed, .world = RAD_WORLD_CHOSEN};
    rad_flow_case *c = open_case(p, &o);
    assert_int_equal(rad__flow_case_run(c, 100000), expected);
    snprintf(x, sizeof x, "%s", value_of(c, "x"));
    const char *what;
    assert_true(rad__flow_vm_valid(c->vm, &what));
    rad__flow_case_close(c);
    rad__flow_program_free(p);
    return x;
}

/* ---- Decisions ------------------------------------------------------------------------------------------- */

#define RACE                                                                                                           \
    "flow f { data { x: int = 0 merge first } par { set x = 1 } and { set x = 2 } and { set x = "                      \
    "3 } "                                                                                                             \
    "join first }"

/* Tokens and branches: both are the kernel's. */
static void decision_1_every_choice_is_the_kernels(void **state)
{
    (void)state;
    bool met[4] = {false};
    for (uint64_t seed = 0; seed < 100; seed++) met[x_after(RACE, "random", seed, RAD_CASE_DONE)[0] - '0'] = true;
    assert_true(met[1] && met[2] && met[3] && !met[0]);
    bool branch[4] = {false};
    for (uint64_t seed = 0; seed < 100; seed++)
        branch[x_after("flow f { data { x: int } xor { when true { set x = 1 } when false { set x = "
                       "2 } when true { set x = 3 } else { set x = 0 } } }",
                       "random", seed, RAD_CASE_DONE)[0] -
               '0'] = true;
    assert_true(branch[1] && branch[3] && !branch[2] && !branch[0]);
    assert_string_equal(x_after("flow f { data { x: int } xor { when false { set x = 1 } else { set "
                                "x = 9 } } }",
                                "random", 1, RAD_CASE_DONE),
                        "9");
    assert_string_equal(
        x_after("flow f { data { x: int } xor { when false { set x = 1 } } }", "random", 1, RAD_CASE_FAILED), "0");
}

/* The same fork path is the same token in every schedule. */
static void decision_2_tokens_are_known_by_their_paths(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow("flow f { task t { run \"true\" }\n"
                                    "par { do t } and { many 2 { do t } }\n}");
    uint64_t sum[2] = {0};
    for (uint64_t seed = 1; seed <= 2; seed++) {
        rad_flow_case_options o = {.policy = "random", .seed = seed * 77};
        rad_flow_case *c = open_case(p, &o);
        assert_int_equal(rad__flow_case_run(c, 1000), RAD_CASE_WAITING);
        assert_int_equal(c->ask_count, 3);
        for (uint32_t i = 0; i < 3; i++) {
            char key[RAD_FLOW_KEY_MAX];
            rad__flow_case_key(c, c->asks[i].token, c->asks[i].effect, key);
            assert_true(strcmp(key, "0/1.0#1") == 0 || strcmp(key, "0/1.1/3.0#1") == 0 ||
                        strcmp(key, "0/1.1/3.1#1") == 0);
            sum[seed - 1] += rad__digest_of(key, strlen(key)).low;
        }
        rad__flow_case_close(c);
    }
    assert_int_equal(sum[0], sum[1]);
    rad__flow_program_free(p);
}

static void decision_3_each_fork_owns_its_join(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        /* Repeated and nested: each round joins its own. */
        assert_string_equal(x_after("flow f { data { x: int = 0 merge sum } loop 3 { par { par { set x = x + 1 } and "
                                    "{ set x = x + 1 } } and { set x = x + 1 } } }",
                                    "random", seed, RAD_CASE_DONE),
                            "9");
        /* first 2 of 3 counts two, and cancels the third; any 2 absorbs it. */
        assert_string_equal(x_after("flow f { data { x: int = 0 merge sum } par { set x = 1 } and { "
                                    "set x = 1 } and { set x = 1 } join first 2 }",
                                    "random", seed, RAD_CASE_DONE),
                            "2");
        assert_string_equal(x_after("flow f { data { x: int = 0 merge sum } par { set x = 1 } and { "
                                    "set x = 1 } and { set x = 1 } join any 2 }",
                                    "random", seed, RAD_CASE_DONE),
                            "2");
        /* sync waits for what was activated, minus what was cancelled. */
        assert_string_equal(x_after("flow f { data { x: int = 0 merge sum } or { when true { set x = x + 1 } when "
                                    "false { set x = x + 100 } when true { region r { cancel region r } } } join "
                                    "sync set x = x + 10 }",
                                    "random", seed, RAD_CASE_DONE),
                            "11");
        x_after("flow f { data { x: int } par { set x = 1 } and { region r { cancel region r } } }", "random", seed,
                RAD_CASE_DEADLOCK);
    }
}

static void decision_4_branches_have_their_own_data(void **state)
{
    (void)state;
    static const char flow[] =
        "flow f { data { x: int = 5 merge sum y: text = \"a\" merge append z: bool merge or }\n"
        "par { set x = x * 2 set y = \"b\" } and { set x = x + 1 set y = \"c\" set z = true } and "
        "{ "
        "loop 3 { set x = x + 1 } } }";
    for (uint64_t seed = 0; seed < 100; seed++)
        assert_string_equal(x_after(flow, "random", seed, RAD_CASE_DONE), "14"); /* 5 + 5 + 1 + 3 */
    x_after("flow f { data { x: int } par { set x = 1 } and { set x = 2 } }", "random", 1, RAD_CASE_FAILED);
    assert_string_equal(
        x_after("flow f { data { x: int } par { set x = 2 } and { set x = 2 } }", "random", 1, RAD_CASE_DONE), "2");
}

static void decision_5_loops_cancel_and_defer_are_real(void **state)
{
    (void)state;
    assert_string_equal(x_after("flow f { data { x: int = 1 } while x < 100 { set x = x * 2 } "
                                "repeat { set x = x + 1 } until true loop x - 127 { set x = x + 1 } }",
                                "first", 1, RAD_CASE_DONE),
                        "131");
    assert_string_equal(x_after("flow f { data { x: int = 1 } region r { cancel region r set x = 7 "
                                "} on cancel { set x = 3 } }",
                                "first", 1, RAD_CASE_DONE),
                        "3");
    bool met[3] = {false};
    for (uint64_t seed = 0; seed < 40; seed++)
        met[x_after("flow f { data { x: int } defer { on signal s { set x = 1 } on timer 1h { set x "
                    "= 2 } } }",
                    "random", seed, RAD_CASE_DONE)[0] -
            '0'] = true;
    assert_true(met[1] && met[2]);
}

/* ---- Determinism ----------------------------------------------------------------------------------------- */

#define BUSY                                                                                                           \
    "flow f { data { x: int = 0 merge sum w: text }\n"                                                                 \
    "task t { run \"true\" capture x retry 1 delay 1s undo u } task u { run \"true\" outcomes ok "                     \
    "}\n"                                                                                                              \
    "region r { par { do t } and { do t do t } and { loop 4 { set x = x + 1 } } join sync\n"                           \
    "many 4 as i { lock l { set x = x + i } } join any 3\n"                                                            \
    "interleave { set x = x + 1 } and { set x = x * 2 } and { do t }\n"                                                \
    "} on failure into w { compensate r } }"

/* Quanta of one, of seven, and all at once: one trace. */
static void quanta_do_not_change_the_trace(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow(BUSY);
    for (uint64_t seed = 0; seed < 20; seed++) {
        static const uint64_t quanta[] = {1, 7, UINT64_MAX};
        rad_digest digests[3];
        for (uint32_t i = 0; i < 3; i++) {
            rad_flow_case_options o = {.policy = "random", .seed = seed, .world = RAD_WORLD_CHOSEN};
            rad_flow_case *c = open_case(p, &o);
            while (rad__flow_case_run(c, quanta[i]) == RAD_CASE_RUNNING) {
            }
            digests[i] = rad__flow_case_digest(c);
            rad__flow_case_close(c);
        }
        assert_true(rad__digest_equal(digests[0], digests[1]));
        assert_true(rad__digest_equal(digests[0], digests[2]));
    }
    rad__flow_program_free(p);
}

/* Every step in words; the case has kept its whole trace. */
static char *steps_of(const rad_flow_case *c)
{
    rad_flow_history h;
    assert_true(rad__flow_history_open(&h, c->program, true));
    rad__flow_history_end(&h, c);
    assert_false(h.failed);
    char *text = rad__copy_text((const char *)h.text.data);
    rad__flow_history_free(&h);
    return text;
}

/* 100 seeds, each replayed from its choices: the trace is the same byte for byte. */
static void replays_are_the_same_run(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow(BUSY);
    uint64_t different = 0;
    rad_digest last = {0, 0};
    for (uint64_t seed = 0; seed < 100; seed++) {
        rad_flow_case_options o = {
            .policy = "random", .seed = seed, .world = RAD_WORLD_CHOSEN, .keep_choices = true, .whole_trace = true};
        rad_flow_case *c = open_case(p, &o);
        enum rad_flow_state end = rad__flow_case_run(c, 100000);
        char *one = steps_of(c);
        static uint32_t chosen[10000];
        for (uint64_t i = 0; i < c->choice_count; i++) chosen[i] = c->choices.items[i].chosen;
        rad_policy *guide;
        rad_error error = {0};
        assert_int_equal(rad__policy_guide(&guide, &error), 0);
        rad__guide_set(guide, chosen, c->choice_count);
        rad_flow_case_options again = {.own_policy = guide, .world = RAD_WORLD_CHOSEN, .whole_trace = true};
        rad_flow_case *d = open_case(p, &again);
        assert_int_equal(rad__flow_case_run(d, 100000), end);
        assert_int_equal(rad__flow_case_steps(c), rad__flow_case_steps(d));
        assert_int_equal(d->kernel->decisions, c->choice_count); /* counted, if not kept */
        assert_true(rad__digest_equal(rad__flow_case_digest(c), rad__flow_case_digest(d)));
        char *two = steps_of(d);
        assert_string_equal(one, two);
        rad__free(one);
        rad__free(two);
        different += !rad__digest_equal(last, rad__flow_case_digest(c));
        last = rad__flow_case_digest(c);
        rad__flow_case_close(c);
        rad__flow_case_close(d);
        rad__policy_destroy(guide);
    }
    assert_true(different > 90); /* and the seeds are different runs */
    rad__flow_program_free(p);
}

/* What tasks give depends on their keys only: then a confluent flow ends in one way, whatever the schedule. */
static void confluent_flows_end_in_one_way(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow("flow f { data { x: int = 0 merge sum y: int in { 1, 2, 3, 4 } merge max }\n"
                                    "task t { run \"true\" capture y outcomes ok }\n"
                                    "par { do t set x = y } and { many 3 as i { do t set x = x + y * i } } and { do "
                                    "t } join all }");
    for (uint64_t outcome = 1; outcome < 20; outcome++) {
        char x[24] = "", y[24] = "";
        for (uint64_t seed = 0; seed < 30; seed++) {
            rad_flow_case_options o = {.policy = seed % 2 ? "random" : "pct:3",
                                       .seed = seed,
                                       .world = RAD_WORLD_DRAWN,
                                       .outcome_seed = outcome};
            rad_flow_case *c = open_case(p, &o);
            assert_int_equal(rad__flow_case_run(c, 10000), RAD_CASE_DONE);
            if (seed == 0) {
                snprintf(x, sizeof x, "%s", value_of(c, "x"));
                snprintf(y, sizeof y, "%s", value_of(c, "y"));
            }
            assert_string_equal(value_of(c, "x"), x);
            assert_string_equal(value_of(c, "y"), y);
            rad__flow_case_close(c);
        }
    }
    rad__flow_program_free(p);
}

/* ---- Inputs ---------------------------------------------------------------------------------------------- */

static const char LIVE[] = "flow f { data { x: int = 0 merge sum s: text }\n"
                           "task t { run \"true\" capture x retry 1 delay 2s backoff 3 }\n"
                           "par { do t } and { wait signal go into s } }";

static int feed(rad_flow_case *c, const rad_flow_input *in, bool *used)
{
    rad_error error = {0};
    return rad__flow_case_feed(c, in, used, &error);
}

static void a_live_case_is_fed(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow(LIVE);
    rad_flow_case *c = open_case(p, &(rad_flow_case_options){.policy = "first"});
    bool used;
    rad_flow_write nine = {0, "9", 1}, word = {0, "nine", 4};
    rad_flow_input result = {.kind = RAD_INPUT_RESULT, .key = "0/1.0#1", .attempt = 1, .ok = true};
    assert_int_equal(feed(c, &result, &used), RAD_EINPUT); /* it was not asked for yet */
    assert_int_equal(rad__flow_case_run(c, 100), RAD_CASE_WAITING);
    assert_int_equal(c->ask_count, 1);
    assert_int_equal(c->asks[0].kind, RAD_ASK_START);
    rad__flow_asks_taken(c);
    result.writes = &word;
    result.write_count = 1;
    assert_int_equal(feed(c, &result, &used), 0); /* no number: the attempt has failed */
    assert_true(used);
    assert_int_equal(rad__flow_case_run(c, 100), RAD_CASE_WAITING);
    assert_int_equal(c->ask_count, 1);
    assert_int_equal(c->asks[0].kind, RAD_ASK_TIMER);
    assert_int_equal(c->asks[0].delay_ns, 2000000000);
    rad__flow_asks_taken(c);
    rad_flow_input timer = {.kind = RAD_INPUT_TIMER, .key = "0/1.0#1", .attempt = 1};
    assert_int_equal(feed(c, &timer, &used), 0);
    assert_true(used);
    assert_int_equal(rad__flow_case_run(c, 100), RAD_CASE_WAITING);
    assert_int_equal(c->asks[0].attempt, 2);
    rad__flow_asks_taken(c);
    result.writes = &nine;
    assert_int_equal(feed(c, &result, &used), 0); /* of the first attempt: too late */
    assert_false(used);
    result.attempt = 2;
    assert_int_equal(feed(c, &result, &used), 0);
    assert_true(used);
    rad_flow_input signal = {.kind = RAD_INPUT_SIGNAL, .name = "go", .text = "now", .length = 3};
    assert_int_equal(feed(c, &signal, &used), 0);
    assert_int_equal(rad__flow_case_run(c, 100), RAD_CASE_DONE);
    assert_string_equal(value_of(c, "x"), "9");
    assert_string_equal(value_of(c, "s"), "now");
    assert_int_equal(feed(c, &signal, &used), 0); /* it is over */
    assert_false(used);
    rad__flow_case_close(c);
    rad__flow_program_free(p);
}

/* Ten times as long each time, until it is a year and a day: not shorter, however often it fails. */
static void a_pause_never_becomes_shorter(void **state)
{
    (void)state;
    static const uint64_t most = UINT64_C(366) * 24 * 3600 * 1000000000;
    rad_flow_program *p = read_flow("flow f { task t { run \"true\" retry 70 delay 1s backoff 10 } do t }");
    rad_flow_case *c = open_case(p, &(rad_flow_case_options){.policy = "first"});
    uint64_t expected = 1000000000;
    bool used;
    rad__flow_case_run(c, 100);
    for (uint32_t i = 1; i <= 70; i++) {
        rad_flow_input result = {.kind = RAD_INPUT_RESULT, .key = "0#1", .attempt = i, .why = "x"};
        rad_flow_input timer = {.kind = RAD_INPUT_TIMER, .key = "0#1", .attempt = i};
        rad__flow_asks_taken(c);
        assert_int_equal(feed(c, &result, &used), 0);
        assert_int_equal(rad__flow_case_run(c, 100), RAD_CASE_WAITING);
        assert_int_equal(c->asks[0].kind, RAD_ASK_TIMER);
        assert_int_equal(c->asks[0].delay_ns, expected);
        expected = expected < most / 10 ? expected * 10 : most;
        rad__flow_asks_taken(c);
        assert_int_equal(feed(c, &timer, &used), 0);
        assert_int_equal(rad__flow_case_run(c, 100), RAD_CASE_WAITING);
    }
    rad__flow_case_close(c);
    rad__flow_program_free(p);
}

/* Answers that differ in a value, or in the reason of a failure, are different runs. */
static void what_was_answered_is_in_the_digest(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow(LIVE);
    static const char *const given[] = {"8", "9"};
    rad_digest digests[4];
    for (uint32_t i = 0; i < 4; i++) {
        rad_flow_case *c = open_case(p, &(rad_flow_case_options){.policy = "first"});
        bool used;
        rad_flow_write write = {0, given[i % 2], 1};
        rad_flow_input in = {.kind = RAD_INPUT_RESULT,
                             .key = "0/1.0#1",
                             .attempt = 1,
                             .ok = i < 2,
                             .why = given[i % 2],
                             .writes = &write,
                             .write_count = 1};
        rad__flow_case_run(c, 100);
        assert_int_equal(feed(c, &in, &used), 0);
        digests[i] = rad__flow_case_digest(c);
        for (uint32_t k = 0; k < i; k++) assert_false(rad__digest_equal(digests[k], digests[i]));
        rad__flow_case_close(c);
    }
    rad__flow_program_free(p);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow(LIVE);
    rad_flow_case *c = open_case(p, &(rad_flow_case_options){.policy = "first"});
    assert_int_equal(rad__flow_case_run(c, 100), RAD_CASE_WAITING);
    static const struct {
        rad_flow_input in;
        const char *text;
    } bad[] = {
        {{.kind = RAD_INPUT_RESULT, .key = "0/1.0#2"}, "nothing with the key 0/1.0#2 was asked for"},
        {{.kind = RAD_INPUT_RESULT, .key = "0/9.0#1"}, "nothing with the key 0/9.0#1 was asked for"},
        {{.kind = RAD_INPUT_RESULT, .key = "0/1.0"}, "nothing with the key 0/1.0 was asked for"},
        {{.kind = RAD_INPUT_RESULT, .key = "0/1.0#1x"}, "nothing with the key 0/1.0#1x was asked for"},
        {{.kind = RAD_INPUT_RESULT, .key = "0/1.0#01"}, "nothing with the key 0/1.0#01 was asked for"},
        {{.kind = RAD_INPUT_RESULT, .key = "0/01.0#1"}, "nothing with the key 0/01.0#1 was asked for"},
        {{.kind = RAD_INPUT_RESULT, .key = "0/1.0'1#1"}, "nothing with the key 0/1.0'1#1 was asked for"},
        {{.kind = RAD_INPUT_RESULT, .key = ""}, "nothing with the key  was asked for"},
        {{.kind = RAD_INPUT_RESULT}, "nothing with the key (none) was asked for"},
        {{.kind = RAD_INPUT_TIMER, .key = "0/1.1#1"}, "0/1.1#1 has no timer 0"},
        {{.kind = RAD_INPUT_SIGNAL, .name = "stop"}, "the flow f waits for no signal stop"},
        {{.kind = RAD_INPUT_SIGNAL}, "the flow f waits for no signal (none)"},
        {{.kind = RAD_INPUT_CANCEL, .scope = RAD_FLOW_PART_TASK, .name = "q"}, "the flow f has no task q"},
        {{.kind = RAD_INPUT_CANCEL, .scope = RAD_FLOW_PART_REGION, .name = "r"}, "the flow f has no region r"},
        {{.kind = RAD_INPUT_KINDS}, "an input of the unknown kind 5"},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rad_error error = {0};
        bool used = true;
        rad_digest before = rad__flow_case_digest(c);
        assert_int_equal(rad__flow_case_feed(c, &bad[i].in, &used, &error), RAD_EINPUT);
        assert_string_equal(error.text, bad[i].text);
        assert_false(used);
        assert_true(rad__digest_equal(before, rad__flow_case_digest(c)));
    }
    rad__flow_case_close(c);
    rad_error error = {0};
    rad_flow_initial initial = {"x", "many"};
    assert_int_equal(
        rad__flow_case_open(&c, p, &(rad_flow_case_options){.initial = &initial, .initial_count = 1}, &error),
        RAD_EINPUT);
    assert_string_equal(error.text, "x=many is not a number");
    rad__flow_program_free(p);
}

/* ---- Journals -------------------------------------------------------------------------------------------- */

/* A case with two inputs, and its journal as a runner would have written it. */
static void write_journal(const rad_flow_program *p, rad_bytes *out, bool lie)
{
    rad_crc32 crc;
    rad__crc32_open(&crc);
    rad_flow_journal_header header = {
        .raddle = "0", .hash = p->hash, .flow = "f", .case_id = "1", .policy = "random", .seed = 5};
    rad__flow_journal_begin(out, &crc, &header);
    rad_flow_case *c = open_case(p, &(rad_flow_case_options){.policy = "random", .seed = 5});
    rad_flow_write nine = {0, "9", 1};
    rad_flow_record records[2] = {
        {.type = RAD_RECORD_INPUT,
         .sequence = 1,
         .id = "",
         .input = {.kind = RAD_INPUT_SIGNAL, .name = "go", .text = "now", .length = 3}},
        {.type = RAD_RECORD_INPUT,
         .sequence = 2,
         .id = "",
         .input = {
             .kind = RAD_INPUT_RESULT, .key = "0/1.0#1", .attempt = 1, .ok = true, .writes = &nine, .write_count = 1}}};
    for (uint32_t i = 0; i < 2; i++) {
        bool used;
        while (rad__flow_case_run(c, 3) == RAD_CASE_RUNNING) {
        }
        records[i].step = rad__flow_case_steps(c);
        records[i].digest = rad__flow_case_digest(c);
        if (lie && i == 1) records[i].digest.low++;
        rad__flow_journal_put(out, &crc, &records[i]);
        assert_int_equal(feed(c, &records[i].input, &used), 0);
        assert_true(used);
        /* An input is in the trace before anything follows from it. */
        rad_digest before = records[i].digest;
        if (lie && i == 1) before.low--;
        assert_false(rad__digest_equal(before, rad__flow_case_digest(c)));
    }
    while (rad__flow_case_run(c, 3) == RAD_CASE_RUNNING) {
    }
    rad_flow_record end = {.type = RAD_RECORD_END,
                           .sequence = 3,
                           .step = rad__flow_case_steps(c),
                           .digest = rad__flow_case_digest(c),
                           .state = RAD_CASE_DONE,
                           .text = ""};
    rad__flow_journal_put(out, &crc, &end);
    rad__flow_case_close(c);
    assert_false(out->failed);
}

static void a_journal_replays_and_tells_where_it_does_not(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow(LIVE);
    for (uint32_t lie = 0; lie < 2; lie++) {
        for (uint64_t quantum = 0; quantum < 3; quantum++) {
            rad_bytes bytes = {0};
            rad_flow_journal j;
            rad_flow_rerun r;
            rad_flow_history h;
            rad_error error = {0};
            assert_true(rad__flow_history_open(&h, p, false));
            write_journal(p, &bytes, lie);
            assert_int_equal(rad__flow_journal_open(&j, "j", bytes.data, bytes.size, &error), 0);
            assert_int_equal(rad__flow_replay_journal(&r, p, &j, &h, quantum, &error), 0);
            assert_int_equal(r.as_recorded, !lie);
            if (lie)
                assert_non_null(strstr(r.reason, "record 2 (input) at step "));
            else
                assert_string_equal(value_of(r.c, "x"), "9");
            assert_int_equal(h.visits[1].times, 1);
            assert_int_equal(h.visits[1].order, 1);
            assert_int_equal(h.visits[2].state, lie ? RAD_VISIT_WAITING : RAD_VISIT_DONE);
            rad__flow_history_free(&h);
            rad__flow_case_close(r.c);
            rad__bytes_free(&bytes);
        }
    }
    rad__flow_program_free(p);
}

/* A flow that goes round for ever, and whose journal has no end: it is left somewhere. */
static void an_endless_case_is_left(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow("flow f { data { x: int } while x >= 0 { set x = 1 - x } }");
    rad_crc32 crc;
    rad_bytes bytes = {0};
    rad_flow_journal j;
    rad_flow_rerun r;
    rad_flow_history h;
    rad_error error = {0};
    rad__crc32_open(&crc);
    rad_flow_journal_header header = {.raddle = "0", .hash = p->hash, .flow = "f", .case_id = "1", .policy = "first"};
    rad__flow_journal_begin(&bytes, &crc, &header);
    assert_true(rad__flow_history_open(&h, p, false));
    assert_int_equal(rad__flow_journal_open(&j, "j", bytes.data, bytes.size, &error), 0);
    assert_int_equal(rad__flow_replay_journal(&r, p, &j, &h, 0, &error), 0);
    assert_true(r.as_recorded && !r.ended);
    assert_int_equal(r.c->state, RAD_CASE_RUNNING);
    assert_int_equal(rad__flow_case_steps(r.c), RAD_REPLAY_BEYOND);
    assert_int_equal(h.visits[2].times, RAD_REPLAY_BEYOND / 2);
    rad__flow_history_free(&h);
    rad__flow_case_close(r.c);
    rad__bytes_free(&bytes);
    rad__flow_program_free(p);
}

/* ---- Snapshots ---------------------------------------------------------------------------------------- */

static const char LONG[] = "flow f { data { x: int = 0 merge sum s: text }\n"
                           "task t { run \"true\" capture x retry 1 delay 2s undo u } task u { run \"true\" reads x }\n"
                           "region r { par { loop 3 { do t } } and { many 2 { do t defer { on signal go into s { } on "
                           "timer 9s "
                           "{ } } } } do t } on failure { compensate r } }";

/* The world of a test: answers what was asked, in an order and with outcomes that depend on a number. */
static bool answer_one(aside *journal, rad_flow_case *c, uint64_t *number)
{
    rad_error error = {0};
    char key[RAD_FLOW_KEY_MAX];
    bool used;
    uint64_t n = *number = *number * UINT64_C(6364136223846793005) + 1442695040888963407;
    if (n >> 60 == 0) {
        rad_flow_input signal = {.kind = RAD_INPUT_SIGNAL, .name = "go", .text = "hi", .length = 2};
        assert_int_equal(aside_feed(journal, c, &signal, &used, &error), 0);
        return true;
    }
    rad__flow_asks_prune(c);
    if (c->ask_count == 0) return false;
    const rad_flow_ask *a = &c->asks[(n >> 33) % c->ask_count];
    char digit[2] = {(char)('0' + (n >> 50) % 10), 0};
    rad_flow_write write = {0, digit, 1};
    rad__flow_case_key(c, a->token, a->effect, key);
    rad_flow_input in = {.kind = a->kind == RAD_ASK_START ? RAD_INPUT_RESULT : RAD_INPUT_TIMER,
                         .key = key,
                         .attempt = a->attempt,
                         .alternative = a->alternative,
                         .ok = (n >> 40) % 4 != 0,
                         .writes = &write,
                         .write_count = 1};
    assert_int_equal(aside_feed(journal, c, &in, &used, &error), 0);
    assert_true(used);
    return true;
}

static rad_flow_case *put_aside(const aside *a, rad_flow_case *c)
{
    rad_error error = {0};
    rad_flow_rerun again;
    if (aside_again(a, c, &again, &error) != 0) fail_msg("%s", error.text);
    if (!again.as_recorded) fail_msg("%s", again.reason);
    rad__flow_asks_prune(c);
    assert_int_equal(again.c->ask_count, c->ask_count);
    rad__flow_case_close(c);
    return again.c;
}

/* Put aside and taken up again after every few steps and before every input, or never: the same run. */
static void putting_aside_does_not_change_the_run(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow(LONG);
    uint64_t ends[8] = {0};
    for (uint64_t seed = 0; seed < 60; seed++) {
        rad_digest digests[2];
        char values[2][24];
        for (uint32_t is_put = 0; is_put < 2; is_put++) {
            rad_flow_case_options o = {.policy = "random", .seed = seed};
            rad_flow_case *c = open_case(p, &o);
            aside journal;
            aside_begin(&journal, p, &o);
            uint64_t number = seed * 977 + 1;
            for (;;) {
                enum rad_flow_state now = rad__flow_case_run(c, 2);
                if (is_put && now <= RAD_CASE_WAITING) c = put_aside(&journal, c);
                if (now == RAD_CASE_RUNNING) continue;
                if (now != RAD_CASE_WAITING) break;
                while (!answer_one(&journal, c, &number)) {
                }
            }
            ends[c->state]++;
            digests[is_put] = rad__flow_case_digest(c);
            snprintf(values[is_put], 24, "%s", value_of(c, "x"));
            rad__bytes_free(&journal.bytes);
            rad__flow_case_close(c);
        }
        assert_true(rad__digest_equal(digests[0], digests[1]));
        assert_string_equal(values[0], values[1]);
    }
    assert_true(ends[RAD_CASE_DONE] > 50 && ends[RAD_CASE_FAILED] > 0);
    rad__flow_program_free(p);
}

/* ---- Memory ---------------------------------------------------------------------------------------------- */

/* The n-th allocation fails, for every n: an error, and nothing is lost. */
static void lack_of_memory_is_told(void **state)
{
    (void)state;
    uint64_t failures = 0;
    for (uint64_t n = 1;; n++) {
        rad_flow_program *p = NULL;
        rad_flow_case *c = NULL;
        rad_error error = {0};
        rad__alloc_fail_at(n);
        int status = rad__flow_program_read(&p, "t.flow", BUSY, strlen(BUSY), NULL, &error);
        if (status == 0)
            status = rad__flow_case_open(
                &c, p, &(rad_flow_case_options){.policy = "random", .seed = 3, .world = RAD_WORLD_CHOSEN}, &error);
        enum rad_flow_state end = RAD_CASE_RUNNING;
        if (status == 0) end = rad__flow_case_run(c, 10000);
        rad__alloc_fail_at(0);
        bool failed = status != 0 || end == RAD_CASE_BROKEN;
        if (status != 0) assert_int_equal(status, RAD_ENOMEM);
        if (end == RAD_CASE_BROKEN) assert_int_equal(c->error.code, RAD_ENOMEM);
        failures += failed;
        rad__flow_case_close(c);
        rad__flow_program_free(p);
        if (!failed) break;
    }
    assert_true(failures > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decision_1_every_choice_is_the_kernels),
        cmocka_unit_test(decision_2_tokens_are_known_by_their_paths),
        cmocka_unit_test(decision_3_each_fork_owns_its_join),
        cmocka_unit_test(decision_4_branches_have_their_own_data),
        cmocka_unit_test(decision_5_loops_cancel_and_defer_are_real),
        cmocka_unit_test(quanta_do_not_change_the_trace),
        cmocka_unit_test(replays_are_the_same_run),
        cmocka_unit_test(confluent_flows_end_in_one_way),
        cmocka_unit_test(a_live_case_is_fed),
        cmocka_unit_test(a_pause_never_becomes_shorter),
        cmocka_unit_test(what_was_answered_is_in_the_digest),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(a_journal_replays_and_tells_where_it_does_not),
        cmocka_unit_test(an_endless_case_is_left),
        cmocka_unit_test(putting_aside_does_not_change_the_run),
        cmocka_unit_test(lack_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
