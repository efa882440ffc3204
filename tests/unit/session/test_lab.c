/* test_lab.c — sessions in the lab, invariance, and how large buffers must be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session_support.h"

#include <raddle/lab.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Buffers ------------------------------------------------------------------------------------------- */

static rad_capacity capacity_of(const char *text, uint32_t most, uint64_t states)
{
    rad_protocols *p = session_parse(text);
    rad_capacity k;
    rad_error error;
    assert_int_equal(rad_protocol_capacity(p, 0, most, states, &k, &error), 0);
    rad_protocols_free(p);
    return k;
}

static const char both_send_two[] = "locals Two { roles A, B\n"
                                    "local A { A -> B: x A -> B: x B -> A: y B -> A: y }\n"
                                    "local B { B -> A: y B -> A: y A -> B: x A -> B: x } }\n";

static void the_least_sufficient_capacity_is_found(void **state)
{
    (void)state;
    rad_capacity k = capacity_of(both_send_two, 0, 0);
    assert_int_equal(k.answer, RAD_CAPACITY_SUFFICIENT);
    assert_int_equal(k.capacity, 2);
    assert_string_equal(k.stuck, "A waits for room to send x to B; B waits for room to send y to A");
    k = capacity_of(both_send_two, 1, 0);
    assert_int_equal(k.answer, RAD_CAPACITY_STUCK);
    k = capacity_of(both_send_two, 0, 3);
    assert_int_equal(k.answer, RAD_CAPACITY_UNKNOWN);
    k = capacity_of("protocol P { roles A, B, C par { A -> B: x B -> C: y } and { A -> B: z A -> C: w } "
                    "loop X { choice at A { A -> B: m A -> C: m continue X } or { A -> B: e A -> C: e } } }",
                    0, 0);
    assert_int_equal(k.answer, RAD_CAPACITY_SUFFICIENT);
    assert_int_equal(k.capacity, 1);
}

static void parts_that_do_not_fit_together_are_told(void **state)
{
    (void)state;
    rad_capacity k = capacity_of("locals L { roles A, B local A { A -> B: x } local B { A -> B: y } }", 0, 0);
    assert_int_equal(k.answer, RAD_CAPACITY_WRONG);
    assert_string_equal(k.stuck, "B cannot expect x from A");
    k = capacity_of("locals L { roles A, B local A { A -> B: x } local B { } }", 0, 0);
    assert_int_equal(k.answer, RAD_CAPACITY_WRONG);
    assert_string_equal(k.stuck, "B never receives x from A");
    k = capacity_of("locals L { roles A, B local A { B -> A: x } local B { A -> B: x } }", 4, 0);
    assert_int_equal(k.answer, RAD_CAPACITY_STUCK);
    assert_string_equal(k.stuck, "A waits for x from B; B waits for x from A");
}

/* ---- Invariance ---------------------------------------------------------------------------------------- */

static const char stamping[] = "protocol Stamp { roles A, B, C\n"
                               "A -> B: one(int) A -> C: two(int) B -> C: three(int) C -> A: four(int) }\n";

typedef struct bad {
    _Atomic int64_t counter;
    enum { SHARED_COUNTER, CLOCK, OTHER_SESSION, HONEST } kind;
    int64_t last; /* what the session before said */
} bad;

static enum rad_effect_result answer(void *context, rad_effect *e)
{
    bad *b = context;
    if (e->kind != RAD_EFFECT_PRODUCE) return RAD_EFFECT_DONE;
    int64_t own = (int64_t)(e->draw % 100);
    switch (b->kind) {
    case SHARED_COUNTER: own = atomic_fetch_add(&b->counter, 1); break;
    case CLOCK: own = atomic_fetch_add(&b->counter, 17); break; /* a clock that only goes on, from run to run */
    case OTHER_SESSION: own += b->last; break;
    default: break;
    }
    b->last = own;
    e->fields[0].number = own;
    return RAD_EFFECT_DONE;
}

static int prepare(void *context, rad_session_vm *vm, rad_error *error)
{
    bad *b = context;
    if (b->kind != CLOCK) {
        b->counter = 0; /* even when each run begins with the same */
        b->last = 0;
    }
    return rad_session_handle(vm, "two", answer, context, error);
}

static rad_invariance invariance_with(int kind)
{
    rad_protocols *p = session_parse(stamping);
    rad_error error;
    rad_invariance r;
    bad b = {.kind = kind};
    rad_invariance_options o = {.sessions = 3, .seeds = 5, .starts = 3, .prepare = prepare, .context = &b};
    assert_int_equal(rad_session_invariant(p, &o, &r, &error), 0);
    rad_protocols_free(p);
    return r;
}

static void handlers_that_look_elsewhere_are_caught_and_named(void **state)
{
    (void)state;
    for (int kind = SHARED_COUNTER; kind <= OTHER_SESSION; kind++) {
        rad_invariance r = invariance_with(kind);
        assert_false(r.holds);
        assert_non_null(strstr(r.difference, "A: handler of two, effect 1"));
    }
    rad_invariance r = invariance_with(HONEST);
    assert_true(r.holds);
    assert_int_equal(r.complete, r.runs);
}

/* Complete, faulted, out of fuel, stuck: each run is one of them. */
static void every_run_is_counted_once(void **state)
{
    (void)state;
    static const char *const texts[] = {stamping, "protocol P { roles A, B A -> B: x A -> B: y code B { release } }",
                                        "locals P { roles A, B local A { B -> A: x } local B { A -> B: x } }",
                                        "protocol P { roles A, B loop L { A -> B: x B -> A: y continue L } }"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        rad_protocols *p = session_parse(texts[i]);
        rad_invariance_options o = {.sessions = 2, .rounds = 300};
        rad_invariance r;
        assert_int_equal(rad_session_invariant(p, &o, &r, NULL), 0);
        uint64_t ends[] = {r.complete, r.faulted, r.stuck, r.exhausted};
        assert_true(r.holds);
        assert_int_equal(r.runs, 31);
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) assert_int_equal(ends[k], k == i ? r.runs : 0);
        rad_protocols_free(p);
    }
}

static void fuel_leaves_prefixes(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(stamping);
    rad_error error;
    rad_invariance r;
    for (uint64_t rounds = 1; rounds < 40; rounds++) {
        rad_invariance_options o = {.sessions = 2, .rounds = rounds};
        assert_int_equal(rad_session_invariant(p, &o, &r, &error), 0);
        assert_true(r.holds);
        if (rounds == 3) assert_true(r.exhausted > 0);
    }
    rad_protocols_free(p);
}

/* ---- The lab ------------------------------------------------------------------------------------------- */

static rad_target target_of(const char *text, const char *words)
{
    char path[] = "/tmp/raddle-session-XXXXXX";
    int file = mkstemp(path);
    rad_target t;
    rad_error error;
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    if (rad_target_protocol(&t, path, NULL, &error) != 0) fail_msg("%s", error.text);
    if (words) assert_int_equal(rad_target_set(&t, words, &error), 0);
    unlink(path);
    return t;
}

static void every_order_of_picks_is_the_same(void **state)
{
    (void)state;
    static const char *const words[] = {"n=1", "n=2", "n=1000", "n=1 sessions=2"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        rad_target t = target_of("protocol P { roles A, B, C\n"
                                 "par { A -> B: x(int) } and { A -> C: y }\n"
                                 "choice at B { B -> A: u B -> C: u } or { B -> A: v B -> C: v } }\n",
                                 words[i]);
        rad_exploration e;
        rad_error error;
        rad_explore_options o = {.runs = 3000, .seed = 1, .jobs = 1, .twice = true};
        assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
        assert_int_equal(e.finding_count, 0);
        assert_true(e.evaluations[RAD_ORACLE_OWN + 1] > 0);
        rad_exploration_free(&e);
        rad_target_free(&t);
    }
}

/* The order of all events, with ticks: what the machine does by itself, and what it does under the kernel. */
static void the_policies_of_the_machine_go_through_the_kernel(void **state)
{
    (void)state;
    static const char text[] = "protocol P { roles A, B, C\nloop X {\n"
                               "A -> B: x(int)\npar { A -> B: w } and { B -> C: y }\n"
                               "choice at C { C -> A: u C -> B: u continue X } or { C -> A: v C -> B: v } } }\n";
    char hashes[4][3][33];
    static const int ns[] = {1, 2, 3, 1000};
    for (int n = 0; n < 4; n++)
        for (int policy = 0; policy < 3; policy++) {
            char words[80];
            snprintf(words, sizeof words, "n=%d policy=%d sessions=2 seed=3", ns[n], policy);
            rad_target t = target_of(text, words);
            rad_error error;
            rad_verdict v;
            rad_artifact *a;
            rad_run_request r = {.policy = "own", .artifact = &a};
            assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
            assert_int_equal(v.result, RAD_RESULT_PASS);
            memcpy(hashes[n][policy], v.trace_hash, 33);
            rad_replay again;
            assert_int_equal(rad_lab_replay(a, NULL, &again, &error), 0);
            assert_true(again.as_recorded);
            rad_artifact_free(a);
            rad_target_free(&t);
        }
    for (int policy = 1; policy < 3; policy++) /* they are different policies */
        assert_string_not_equal(hashes[0][policy], hashes[0][policy - 1]);
    assert_string_not_equal(hashes[0][0], hashes[0][2]);
}

static void stuck_sessions_leave_an_artifact_that_replays_and_shrinks(void **state)
{
    (void)state;
    rad_target t = target_of(both_send_two, "sessions=3");
    rad_exploration e;
    rad_error error;
    rad_explore_options o = {.runs = 50, .seed = 1, .jobs = 1, .stop_on_first = true};
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
    assert_int_equal(e.finding_count, 1);
    const rad_verdict *v = rad_artifact_verdict(e.findings[0].artifact);
    assert_string_equal(v->kind, "deadlock");
    assert_non_null(strstr(v->message, "A 0 waits for A -> B 0 (held by B 0)"));
    rad_artifact *small;
    rad_shrink_report report;
    assert_int_equal(rad_lab_shrink(e.findings[0].artifact, NULL, &small, &report, &error), 0);
    assert_int_equal(rad_artifact_target(small)->c.params[1], 1); /* one session is enough */
    rad_replay again;
    assert_int_equal(rad_lab_replay(small, NULL, &again, &error), 0);
    assert_true(again.as_recorded);
    rad_artifact_free(small);
    rad_artifact_free(report.second); /* another one that was met on the way */
    rad_exploration_free(&e);
    rad_target_free(&t);
}

static void a_fault_is_found_with_its_line_and_shrinks_to_itself(void **state)
{
    (void)state;
    rad_target t = target_of("protocol P { roles A, B\nA -> B: w(int)\nA -> B: x(int)\nB -> A: y\n"
                             "code A {\nset r1 7\nsend B w\nset r1 \"text\"\nsend B x\nreceive B y\nclose\n}\n}\n",
                             NULL);
    rad_exploration e;
    rad_error error;
    rad_explore_options o = {.runs = 50, .seed = 1, .jobs = 1, .stop_on_first = true};
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
    assert_int_equal(e.finding_count, 1);
    const rad_verdict *v = rad_artifact_verdict(e.findings[0].artifact);
    assert_string_equal(v->kind, "fault");
    assert_string_equal(v->message, "session 0, A: the fields do not have the types that the message has, line 9");
    rad_artifact *small;
    rad_shrink_report report;
    assert_int_equal(rad_lab_shrink(e.findings[0].artifact, NULL, &small, &report, &error), 0);
    assert_non_null(strstr(rad_artifact_verdict(small)->message, "the fields do not have the types"));
    assert_true(report.after.case_size < report.before.case_size);
    rad_artifact_free(small);
    rad_artifact_free(report.second); /* another one that was met on the way */
    rad_exploration_free(&e);
    rad_target_free(&t);
}

/* Code by hand names messages of the protocol. Shrinking may leave out both, but not the declaration alone: such a case
 * fails because of what was left out. */
static void shrinking_leaves_no_message_of_the_code_undeclared(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "set r1 5\nsend B order\nreceive B price\nreceive B parcel\nset r1 6\nsend B pay\nclose\n",
        "set r1 5\nsend B order\nreceive B price\nset r1 0\ndiv r2 r1 r1\nsend B pay\n"
        "receive B parcel\nclose\n"};
    static const char *const messages[] = {"order", "price", "pay", "parcel"};
    for (uint32_t b = 0; b < 2; b++) {
        char text[600];
        snprintf(text, sizeof text,
                 "protocol Shop {\nroles A, B\nA -> B: order(int)\nB -> A: price(int)\n"
                 "A -> B: pay(int)\nB -> A: parcel\ncode A {\n%s}\n}\n",
                 bodies[b]);
        rad_target t = target_of(text, NULL);
        rad_exploration e;
        rad_error error;
        rad_explore_options o = {.runs = 50, .seed = 1, .jobs = 1, .stop_on_first = true};
        assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
        assert_int_equal(e.finding_count, 1);
        rad_artifact *small;
        rad_shrink_report report;
        assert_int_equal(rad_lab_shrink(e.findings[0].artifact, NULL, &small, &report, &error), 0);
        assert_true(report.after.case_size < report.before.case_size);
        const char *body = rad_artifact_target(small)->c.body;
        for (uint32_t i = 0; i < 4; i++) {
            char declared[20], sent[20], received[20];
            snprintf(declared, sizeof declared, ": %s", messages[i]);
            snprintf(sent, sizeof sent, "send B %s", messages[i]);
            snprintf(received, sizeof received, "receive B %s", messages[i]);
            if (strstr(body, sent) || strstr(body, received)) assert_non_null(strstr(body, declared));
        }
        assert_null(report.second); /* the case has one bug */
        rad_artifact_free(small);
        rad_exploration_free(&e);
        rad_target_free(&t);
    }
}

/* Sessions are opened on the way, and all coroutines of a round are picked first. Each allocation fails in turn, and
 * all after it. */
static void a_run_without_memory_is_told(void **state)
{
    (void)state;
    static const char text[] = "protocol Q { roles C, D C -> D: q }\n"
                               "protocol P { roles A, B A -> B: x(text)\n"
                               "code A {\nset r1 \"t\"\nopen Q\nsend B x\nopen Q\nopen Q\nopen "
                               "Q\nopen Q\nopen Q\nclose\n} }\n";
    for (int i = 0; i < 2; i++) {
        rad_target t = target_of(text, i ? "n=1000" : "n=1");
        int status = -1;
        uint64_t n = 0;
        while (status != 0) {
            rad_verdict v;
            rad_error error = {.code = 0};
            rad_run_request r = {.policy = "own"};
            rad__alloc_fail_at(++n);
            status = rad_lab_run(&t, &r, &v, &error);
            rad__alloc_fail_at(0);
            if (status != 0 && status != RAD_ENOMEM)
                fail_msg("allocation %llu: %d, %s", (unsigned long long)n, status, error.text);
            if (status == 0 && v.result != RAD_RESULT_PASS)
                fail_msg("%llu: %s %s", (unsigned long long)n, v.kind, v.message);
        }
        assert_true(n > 50);
        rad_target_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_sufficient_capacity_is_found),
        cmocka_unit_test(parts_that_do_not_fit_together_are_told),
        cmocka_unit_test(handlers_that_look_elsewhere_are_caught_and_named),
        cmocka_unit_test(every_run_is_counted_once),
        cmocka_unit_test(fuel_leaves_prefixes),
        cmocka_unit_test(every_order_of_picks_is_the_same),
        cmocka_unit_test(a_run_without_memory_is_told),
        cmocka_unit_test(the_policies_of_the_machine_go_through_the_kernel),
        cmocka_unit_test(stuck_sessions_leave_an_artifact_that_replays_and_shrinks),
        cmocka_unit_test(a_fault_is_found_with_its_line_and_shrinks_to_itself),
        cmocka_unit_test(shrinking_leaves_no_message_of_the_code_undeclared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
