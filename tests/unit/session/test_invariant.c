/* test_invariant.c — the search for two runs that differ: what it tries, what it counts, what it says of what
 * it finds, and how it ends when something goes wrong. Only public calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session_support.h"
#include "storm_support.h"

#include <raddle/session.h>

#include <stdio.h>
#include <string.h>

static const char pair[] = "protocol P { roles A, B A -> B: x(int) B -> A: y(int) }";

/* A counter that both senders use: what they say depends on who is first. */
static const char racing[] = "protocol P { roles A, B, C A -> C: x(int) B -> C: y(int) }";

typedef struct race {
    int64_t counter;
    uint32_t prepared, fails_at; /* number of the machine that cannot be made */
} race;

static enum rad_effect_result count_up(void *context, rad_effect *e)
{
    race *r = context;
    if (e->kind == RAD_EFFECT_PRODUCE) e->fields[0].number = ++r->counter;
    return RAD_EFFECT_DONE;
}

static enum rad_effect_result say_one(void *context, rad_effect *e)
{
    (void)context;
    if (e->kind == RAD_EFFECT_PRODUCE) e->fields[0].number = 1;
    return RAD_EFFECT_DONE;
}

static int prepare_race(void *context, rad_session_vm *vm, rad_error *error)
{
    race *r = context;
    r->counter = 0;
    return rad_session_handle(vm, NULL, count_up, r, error);
}

static int prepare_one(void *context, rad_session_vm *vm, rad_error *error)
{
    race *r = context;
    if (++r->prepared != r->fails_at) return rad_session_handle(vm, NULL, say_one, NULL, error);
    *error = (rad_error){.code = RAD_ELIMIT, .text = "not this one"};
    return RAD_ELIMIT;
}

static rad_invariance search(const char *text, rad_invariance_options o)
{
    rad_protocols *p = session_parse(text);
    rad_invariance r;
    rad_error error = {.code = RAD_EBUG};
    if (rad_session_invariant(p, &o, &r, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(error.code, 0);
    rad_protocols_free(p);
    return r;
}

/* ---- What is tried ---------------------------------------------------------------------------------------- */

/* A run to compare with, then each N with each policy and each start. */
static void every_n_policy_and_start_is_tried(void **state)
{
    (void)state;
    static const uint32_t ns[] = {1, 5};
    assert_int_equal(search(pair, (rad_invariance_options){.sessions = 1}).runs, 1 + 5 * 3 * 2);
    rad_invariance_options o = {.ns = ns, .n_count = 2, .policies = 2};
    assert_int_equal(search(pair, o).runs, 1 + 2 * 1 * 2);
    o.policies = 5;
    o.starts = 4;
    assert_int_equal(search(pair, o).runs, 1 + 2 * 2 * 5);
    o.seeds = 3;
    assert_int_equal(search(pair, o).runs, 3 * 21);
    assert_int_equal(search(pair, o).apart, 0); /* nobody has handlers */
}

static enum rad_effect_result fail_in_first(void *context, rad_effect *e)
{
    (void)context;
    return strcmp(e->session, "0") == 0 ? RAD_EFFECT_FAILED : RAD_EFFECT_DONE;
}

static int prepare_fail(void *context, rad_session_vm *vm, rad_error *error)
{
    return rad_session_handle(vm, "d", fail_in_first, context, error);
}

/* A session is faulted, the others have not ended when the fuel has: that is out of fuel. */
static void what_ends_early_is_not_called_faulted(void **state)
{
    (void)state;
    rad_invariance_options o = {.sessions = 2, .rounds = 200, .prepare = prepare_fail};
    rad_invariance r = search("protocol P { roles A, B A does d loop L { A -> B: x continue L } }", o);
    assert_true(r.holds);
    assert_int_equal(r.exhausted, r.runs);
    assert_int_equal(r.faulted + r.complete + r.stuck, 0);
}

/* It went as far as it could: that it did the same until then does not make it the beginning of another run. */
static void stuck_and_complete_are_not_the_same(void **state)
{
    (void)state;
    rad_invariance_options o = {.full = RAD_FULL_DROP};
    rad_invariance r = search("protocol P { roles A, B A -> B: x A -> B: y }", o);
    assert_false(r.holds);
    assert_int_equal(r.complete + r.stuck, r.runs);
    assert_true(r.complete > 0 && r.stuck > 0);
    assert_string_equal(r.difference,
                        "complete in one run, stuck in the other: session 0, A: waits for the session to drain; "
                        "session 0, B: waits for a message on A -> B (0 of 1 in the buffer), line 1");
    o.rounds = 2; /* out of fuel before anybody is */
    r = search("protocol P { roles A, B A -> B: x A -> B: y }", o);
    assert_true(r.holds);
    assert_int_equal(r.exhausted, r.runs);
}

/* A million take a while to open: whoever is told to stop stops, and leaves none. */
static void opening_many_can_be_interrupted(void **state)
{
    (void)state;
    static volatile int stop;
    rad_protocols *p = session_parse(pair);
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm;
    rad_error error = {0};
    o.interrupted = &stop;
    stop = 1;
    assert_int_equal(rad_session_create(&vm, p, &o, &error), 0);
    assert_int_equal(rad_session_open(vm, NULL, 1000000, &error), RAD_EINTERRUPTED);
    assert_non_null(strstr(error.text, "of 1000000 sessions were open"));
    assert_int_equal(session_info(vm).sessions, 0);
    stop = 0;
    assert_int_equal(rad_session_open(vm, NULL, 3000, &error), 0);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    assert_int_equal(session_info(vm).sessions_closed, 3000);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* In events of a run to its end: all have as many. */
static void events_of_all_runs_are_counted(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(pair);
    rad_session_options o = rad_session_defaults();
    o.log = true;
    rad_session_vm *vm = session_vm(p, &o, 2);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    rad_invariance r = search(pair, (rad_invariance_options){.sessions = 2});
    assert_int_equal(r.events, r.runs * rad_session_event_count(vm));
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

typedef struct ticks {
    uint64_t calls, last, all;
} ticks;

static void tick(void *context, uint64_t done, uint64_t all)
{
    ticks *t = context;
    assert_int_equal(done, t->last + 1);
    t->calls++;
    t->last = done;
    t->all = all;
}

static void progress_goes_from_nothing_to_all(void **state)
{
    (void)state;
    ticks t = {0, 0, 0};
    rad_invariance_options o = {.seeds = 2, .starts = 3, .progress = tick, .context = &t};
    rad_invariance r = search(pair, o);
    assert_int_equal(t.calls, r.runs);
    assert_int_equal(t.last, t.all);
}

/* The digest is the one of the first seed, as a plain run has it. */
static void the_digest_is_of_the_first_seed(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(pair);
    rad_session_options plain = rad_session_defaults();
    plain.seed = 7;
    rad_session_vm *vm = session_vm(p, &plain, 2);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    for (uint32_t seeds = 1; seeds <= 3; seeds++) {
        rad_invariance_options o = {.sessions = 2, .seed = 7, .seeds = seeds};
        assert_string_equal(search(pair, o).digest, session_info(vm).digest);
    }
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* Of C coroutines that have effects: those with a bit in their number, and those without, for each bit. */
static void handlers_are_tried_without_each_other(void **state)
{
    (void)state;
    static const struct {
        uint32_t sessions, apart;
    } all[] = {{1, 2}, {2, 4}, {3, 6}, {4, 6}, {5, 8}, {16, 10}, {17, 12}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        race r = {.fails_at = 0};
        rad_invariance_options o = {.sessions = all[i].sessions, .prepare = prepare_one};
        o.context = &r;
        rad_invariance found = search(pair, o);
        assert_true(found.holds);
        assert_int_equal(found.apart, all[i].apart);
        assert_int_equal(r.prepared, found.runs + found.apart);
    }
    race r = {.fails_at = 0};
    rad_invariance_options o = {.prepare = prepare_one, .context = &r};
    assert_int_equal(search("protocol P { roles A, B A -> B: x }", o).apart, 0); /* no effects */
    assert_int_equal(search("protocol P { roles A, B A does d A -> B: x }", o).apart, 0);
}

/* ---- What is found ---------------------------------------------------------------------------------------- */

/* A run with what was found differs from the plain one. */
static void differs_again(const rad_invariance *found)
{
    rad_protocols *p = session_parse(racing);
    rad_session_vm *vms[2];
    for (int i = 0; i < 2; i++) {
        race r;
        rad_session_options o = session_options(i ? found->n : 1, RAD_SESSION_ROUND_ROBIN);
        if (i) o.policy = found->policy;
        if (i) o.start = found->start;
        o.seed = found->seed;
        o.log = o.record = true;
        assert_int_equal(rad_session_create(&vms[i], p, &o, NULL), 0);
        assert_int_equal(prepare_race(&r, vms[i], NULL), 0);
        assert_int_equal(rad_session_open(vms[i], NULL, 3, NULL), 0);
        assert_int_equal(rad_session_run(vms[i], 0), RAD_SESSION_COMPLETE);
    }
    char text[300];
    assert_false(rad_session_same(vms[0], vms[1], text, sizeof text));
    assert_string_equal(text, found->difference);
    rad_session_destroy(vms[0]);
    rad_session_destroy(vms[1]);
    rad_protocols_free(p);
}

static void what_is_found_can_be_run_again(void **state)
{
    (void)state;
    static const uint32_t one[] = {1}, some[] = {3};
    race r;
    rad_invariance_options o = {.sessions = 3, .seed = 4, .starts = 20, .prepare = prepare_race, .context = &r};
    o.ns = one; /* only the start can make a difference */
    o.n_count = 1;
    o.policies = 1u << RAD_SESSION_ROUND_ROBIN;
    rad_invariance found = search(racing, o);
    assert_false(found.holds);
    assert_true(found.start != 0 && found.runs < 22);
    assert_int_equal(found.apart, 0); /* one difference is enough */
    o.seeds = 3;
    assert_int_equal(search(racing, o).runs, found.runs);
    assert_int_equal(found.seed, 4);
    differs_again(&found);
    o.ns = some;
    o.policies = 1u << RAD_SESSION_PROGRESS;
    found = search(racing, o);
    assert_false(found.holds);
    assert_int_equal(found.n, 3);
    assert_int_equal(found.policy, RAD_SESSION_PROGRESS);
    differs_again(&found);
}

/* ---- What goes wrong -------------------------------------------------------------------------------------- */

static void the_first_error_ends_the_search(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(pair);
    for (uint32_t fails_at = 1; fails_at <= 68; fails_at++) { /* 31 runs, 2 apart, of two seeds */
        race r = {.fails_at = fails_at};
        rad_invariance_options o = {.seeds = 2, .prepare = prepare_one, .context = &r};
        rad_invariance out;
        rad_error error;
        int status = rad_session_invariant(p, &o, &out, &error);
        assert_int_equal(status, fails_at <= 66 ? RAD_ELIMIT : 0);
        if (status != 0) assert_string_equal(error.text, "not this one");
        assert_int_equal(r.prepared, status ? fails_at : 66);
        assert_true(out.holds);
    }
    rad_invariance_options o = {.protocol = "Nobody"};
    rad_invariance out;
    rad_error error;
    assert_int_equal(rad_session_invariant(p, &o, &out, &error), RAD_EINPUT);
    assert_non_null(strstr(error.text, "there is no protocol Nobody"));
    rad_protocols_free(p);
}

/* ---- Logs ------------------------------------------------------------------------------------------------- */

static rad_effect_log *log_of(const rad_protocols *p, rad_effect_handler *handler, void *context)
{
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm;
    o.record = true;
    assert_int_equal(rad_session_create(&vm, p, &o, NULL), 0);
    if (handler) assert_int_equal(rad_session_handle(vm, NULL, handler, context, NULL), 0);
    assert_int_equal(rad_session_open(vm, NULL, 1, NULL), 0);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    rad_effect_log *log = rad_session_take_effects(vm);
    rad_session_destroy(vm);
    return log;
}

/* The same handler with two contexts. */
static void logs_differ(const char *const texts[2], rad_effect_handler *handler, uint32_t contexts[2], const char *said)
{
    rad_protocols *protocols[2];
    rad_effect_log *logs[2];
    char text[300];
    for (int i = 0; i < 2; i++) {
        protocols[i] = session_parse(texts[i]);
        logs[i] = log_of(protocols[i], handler, &contexts[i]);
    }
    assert_true(rad_effect_log_differ(logs[0], logs[1], text, sizeof text));
    assert_string_equal(text, said);
    assert_true(rad_effect_log_differ(logs[1], logs[0], text, sizeof text));
    for (int i = 0; i < 2; i++) {
        rad_effect_log_free(logs[i]);
        rad_protocols_free(protocols[i]);
    }
}

static enum rad_effect_result choose(void *context, rad_effect *e)
{
    e->chosen = *(uint32_t *)context;
    e->field_count = 0;
    return RAD_EFFECT_DONE;
}

/* Also where no handler is to blame, and where two messages of a choice have the same name. */
static void differences_of_logs_are_named(void **state)
{
    (void)state;
    uint32_t options[] = {0, 1};
    static const char *const codes[] = {"protocol P { roles A, B A -> B: x(int) code A { set r1 1\nsend B x\n} }",
                                        "protocol P { roles A, B A -> B: x(int) code A { set r1 2\nsend B x\n} }"};
    logs_differ(codes, NULL, options, "session 0, B: handler of x, effect 0: x 1 and x 2");
    static const char twin[] = "protocol P { roles A, B, C choice at A { A -> B: y A -> C: y } or "
                               "{ A -> C: y A -> B: n } }";
    static const char *const twins[] = {twin, twin};
    logs_differ(twins, choose, options, "session 0, A: handler of y, effect 0: y to B and y to C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_n_policy_and_start_is_tried),   cmocka_unit_test(what_ends_early_is_not_called_faulted),
        cmocka_unit_test(stuck_and_complete_are_not_the_same), cmocka_unit_test(opening_many_can_be_interrupted),
        cmocka_unit_test(events_of_all_runs_are_counted),      cmocka_unit_test(progress_goes_from_nothing_to_all),
        cmocka_unit_test(the_digest_is_of_the_first_seed),     cmocka_unit_test(handlers_are_tried_without_each_other),
        cmocka_unit_test(what_is_found_can_be_run_again),      cmocka_unit_test(the_first_error_ends_the_search),
        cmocka_unit_test(differences_of_logs_are_named),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
