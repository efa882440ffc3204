/* test_rounds.c — rounds: who is picked, who is not, what a policy, fuel, the token and other sessions change,
 * and what they do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session_support.h"
#include "storm_support.h"

#include <stdio.h>
#include <string.h>

/* ---- Options ------------------------------------------------------------------------------------------- */

static void refuses(const rad_protocols *p, rad_session_options o, const char *said)
{
    rad_session_vm *vm;
    rad_error error;
    assert_int_equal(rad_session_create(&vm, p, &o, &error), RAD_EINPUT);
    assert_null(vm);
    assert_string_equal(error.text, said);
}

static void options_are_checked(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA -> B: x }");
    refuses(p, session_options(0, RAD_SESSION_COOPERATIVE),
            "n: 0 coroutines a round would never end; 1 or more, or all");
    refuses(p, session_options(1, (enum rad_session_policy)3), "policy: there is no policy 3");
    rad_session_options o = rad_session_defaults();
    o.full = (enum rad_session_full)5;
    refuses(p, o, "full: there is no such rule (5)");
    o = rad_session_defaults();
    o.capacity = 4097;
    refuses(p, o, "capacity: 4097 messages, 4096 at most");
    rad_protocols_free(p);
}

/* ---- Rounds -------------------------------------------------------------------------------------------- */

static const char busy[] = "protocol P { roles A, B, C\n"
                           "loop L { par { A -> B: x(int) B -> C: y } and { C -> A: z A -> C: z A -> B: v(text) }\n"
                           "choice at B { B -> A: more B -> C: more continue L } or { B -> A: over B -> C: over } } }";

static rad_session_vm *run_logged(const rad_protocols *p, rad_session_options o, uint32_t sessions)
{
    o.log = true;
    rad_session_vm *vm = session_vm(p, &o, sessions);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    return vm;
}

static bool same_log(const rad_session_vm *a, const rad_session_vm *b)
{
    return a->event_count == b->event_count && a->round == b->round &&
           memcmp(a->events, b->events, a->event_count * sizeof *a->events) == 0;
}

static void n_above_the_ready_ones_is_all(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(busy);
    for (int policy = 0; policy < SESSION_POLICIES; policy++) {
        enum rad_session_policy which = (enum rad_session_policy)policy;
        rad_session_vm *all = run_logged(p, session_options(RAD_SESSION_ALL, which), 2);
        rad_session_vm *many = run_logged(p, session_options(1000, which), 2);
        rad_session_vm *few = run_logged(p, session_options(2, which), 2);
        assert_true(same_log(all, many)); /* also the ticks */
        assert_false(same_log(all, few));
        rad_session_destroy(all);
        rad_session_destroy(many);
        rad_session_destroy(few);
    }
    rad_protocols_free(p);
}

/* In a round everybody runs once at most, N of them at most, and nobody who was readied in it. */
static void check_ticks(const rad_session_vm *vm, uint32_t n)
{
    uint64_t sent_at[64] = {0}, run_at[64][64] = {{0}}; /* ticks plus 1 */
    uint64_t tick = UINT64_MAX;
    uint32_t in_round = 0;
    for (uint64_t i = 0; i < vm->event_count; i++) {
        const rad_session_event *e = &vm->events[i];
        in_round = e->tick == tick ? in_round + 1 : 1;
        assert_true(tick == UINT64_MAX || e->tick >= tick);
        tick = e->tick;
        assert_true(in_round <= n);
        assert_true(run_at[e->session][e->thread] < e->tick + 1);
        run_at[e->session][e->thread] = e->tick + 1;
        if (e->session != 0) continue;
        if (e->kind == RAD_SESSION_SENT && e->edge < 64) sent_at[e->edge] = e->tick + 1;
        if (e->kind == RAD_SESSION_RECEIVED && e->edge < 64) assert_true(sent_at[e->edge] < e->tick + 1);
    }
}

static void nobody_runs_twice_in_a_round(void **state)
{
    (void)state;
    static const uint32_t ns[] = SESSION_NS;
    rad_protocols *p = session_parse(busy);
    for (uint32_t i = 0; i < SESSION_N_COUNT * SESSION_POLICIES; i++) {
        uint32_t n = ns[i % SESSION_N_COUNT];
        rad_session_vm *vm = run_logged(p, session_options(n, (enum rad_session_policy)(i / SESSION_N_COUNT)), 5);
        check_ticks(vm, n);
        rad_session_destroy(vm);
    }
    rad_protocols_free(p);
}

/* C is readied by A in the round that A and B run in: though there is room in it, C does not. */
static void who_is_readied_in_a_round_waits_for_the_next(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B, C\nA -> C: x B -> C: y }");
    rad_session_options o = session_options(RAD_SESSION_ALL, RAD_SESSION_COOPERATIVE);
    rad_session_vm *vm = session_vm(p, &o, 1);
    rad_co *c = session_thread(vm, 0, "C");
    assert_true(session_round(vm)); /* C looked before A had sent: all three were picked */
    assert_int_equal(c->state == RAD_CO_READY || c->to_wake, true);
    assert_int_equal(c->events, vm->sessions[0]->buffers[0].received);
    rad_session_destroy(vm);
    o.start = 0;
    vm = session_vm(p, &o, 1);
    assert_true(rad__rounds_unblock(vm));
    c = session_thread(vm, 0, "C");
    rad__rounds_pick(vm, c); /* now it looks first, and blocks */
    rad__rounds_pick(vm, session_thread(vm, 0, "A"));
    rad__rounds_pick(vm, session_thread(vm, 0, "B"));
    for (uint32_t i = 0; i < 3; i++) rad__rounds_run_one(vm, vm->picked[i]);
    assert_int_equal(c->state, RAD_CO_BLOCKED);
    rad__rounds_round_ends(vm);
    assert_int_equal(c->state, RAD_CO_BLOCKED);
    rad__rounds_unblock(vm);
    assert_int_equal(c->state, RAD_CO_READY);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

static void events_are_in_the_order_of_picks(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B, C\nA does a B does b C does c }");
    rad_session_options o = session_options(3, RAD_SESSION_ROUND_ROBIN);
    o.log = true;
    rad_session_vm *vm = session_vm(p, &o, 1);
    static const char *const order[] = {"C", "A", "B"};
    assert_true(rad__rounds_unblock(vm));
    for (int i = 0; i < 3; i++) rad__rounds_pick(vm, session_thread(vm, 0, order[i]));
    assert_true(rad__rounds_is_full(vm));
    for (uint32_t i = 0; i < vm->picked_count; i++) rad__rounds_run_one(vm, vm->picked[i]);
    rad__rounds_round_ends(vm);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(vm->events[i].thread, session_thread(vm, 0, order[i])->thread);
        assert_int_equal(vm->events[i].tick, 0);
    }
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* ---- Policies ------------------------------------------------------------------------------------------ */

/* Who ran, round by round, with N = 1: letters of roles. */
static void runs_as(const rad_protocols *p, enum rad_session_policy policy, uint32_t rounds, char *who)
{
    rad_session_options o = session_options(1, policy);
    o.capacity = 4;
    rad_session_vm *vm = session_vm(p, &o, 1);
    for (uint32_t i = 0; i < rounds; i++) {
        assert_true(rad__rounds_unblock(vm));
        rad_co *co = rad__rounds_prefer(vm);
        *who++ = vm->sessions[0]->protocol->types.threads[co->thread].name[0];
        rad__rounds_pick(vm, co);
        rad__rounds_run_one(vm, co);
        rad__rounds_round_ends(vm);
    }
    *who = 0;
    rad_session_destroy(vm);
}

/* A works, and yields once; B and C work. */
static const char workers[] = "protocol P { roles A, B, C\nA -> B: x B -> C: y\n"
                              "code A { set r1 1\nset r1 2\nyield\nset r1 3\ntop: jump top }\n"
                              "code B { top: jump top }\ncode C { top: jump top } }";

static void decision_8_policies_are_distinct(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(workers);
    char who[40];
    runs_as(p, RAD_SESSION_COOPERATIVE, 10, who);
    assert_string_equal(who, "AAABBBBBBB"); /* until it yields */
    runs_as(p, RAD_SESSION_ROUND_ROBIN, 10, who);
    assert_string_equal(who, "ABCABCABCA");
    runs_as(p, RAD_SESSION_PROGRESS, 20, who);
    assert_string_equal(who, "AAAAAAAABAAAAAAAACAA"); /* A holds the token: 8 of 9 */
    rad_protocols_free(p);
}

/* Run to block, and in turns: the order of all events differs, that of each thread does not. */
static void decision_1_only_threads_have_an_order(void **state)
{
    (void)state;
    static const uint32_t ns[] = SESSION_NS;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA -> B: x A -> B: y A -> B: z }");
    rad_session_options o = session_options(1, RAD_SESSION_COOPERATIVE);
    o.capacity = 3;
    rad_session_vm *first = run_logged(p, o, 1);
    uint32_t others = 0;
    for (uint32_t i = 0; i < SESSION_N_COUNT * SESSION_POLICIES; i++) {
        o.n = ns[i % SESSION_N_COUNT];
        o.policy = (enum rad_session_policy)(i / SESSION_N_COUNT);
        rad_session_vm *vm = run_logged(p, o, 1);
        bool same = true;
        for (uint64_t k = 0; k < vm->event_count; k++) same &= vm->events[k].thread == first->events[k].thread;
        others += !same;
        uint64_t count, count2;
        rad_session_event *one = session_events(first, &count), *two = session_events(vm, &count2);
        assert_int_equal(count, count2);
        assert_memory_equal(one, two, count * sizeof *one);
        rad__free(one);
        rad__free(two);
        rad_session_destroy(vm);
    }
    assert_true(others > 0);
    rad_session_destroy(first);
    rad_protocols_free(p);
}

/* With one causal chain there is only one order of messages. */
static void decision_1_one_chain_has_one_order(void **state)
{
    (void)state;
    static const uint32_t ns[] = SESSION_NS;
    rad_protocols *p = session_parse("protocol P { roles A, B, C\nA -> B: x B -> C: y\nloop L { "
                                     "choice at C { C -> A: m A -> B: n B -> C: o continue L } "
                                     "or { C -> A: e A -> B: e } } }");
    rad_session_vm *first = run_logged(p, session_options(1, RAD_SESSION_COOPERATIVE), 1);
    for (uint32_t i = 0; i < SESSION_N_COUNT * SESSION_POLICIES; i++) {
        rad_session_options o =
            session_options(ns[i % SESSION_N_COUNT], (enum rad_session_policy)(i / SESSION_N_COUNT));
        rad_session_vm *vm = run_logged(p, o, 1);
        uint64_t a = 0, b = 0;
        for (;; a++, b++) {
            while (a < first->event_count && first->events[a].kind > RAD_SESSION_RECEIVED) a++;
            while (b < vm->event_count && vm->events[b].kind > RAD_SESSION_RECEIVED) b++;
            if (a == first->event_count || b == vm->event_count) break;
            assert_int_equal(first->events[a].causes, vm->events[b].causes);
        }
        assert_true(a == first->event_count && b == vm->event_count);
        rad_session_destroy(vm);
    }
    rad_session_destroy(first);
    rad_protocols_free(p);
}

/* ---- The token ----------------------------------------------------------------------------------------- */

static void step(rad_session_vm *vm, const char *who)
{
    rad__rounds_unblock(vm);
    rad_co *co = session_thread(vm, 0, who);
    assert_int_equal(co->state, RAD_CO_READY);
    rad__rounds_pick(vm, co);
    rad__rounds_run_one(vm, co);
    rad__rounds_round_ends(vm);
    assert_true(rad__rounds_valid(vm));
}

static void holds(rad_session_vm *vm, const char *who)
{
    rad_co *holder = vm->sessions[0]->holder;
    assert_ptr_equal(holder, who ? session_thread(vm, 0, who) : NULL);
    if (holder && holder->state == RAD_CO_READY) assert_int_equal(holder->lane, 1);
}

static void decision_4_the_token_is_granted_transferred_consumed(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA -> B: x A -> B: y B -> A: z }");
    rad_session_options o = session_options(1, RAD_SESSION_PROGRESS);
    rad_session_vm *vm = session_vm(p, &o, 1);
    holds(vm, NULL);
    rad__rounds_unblock(vm);
    holds(vm, "A"); /* granted: it was begun first */
    step(vm, "A");
    holds(vm, "B"); /* transferred */
    step(vm, "B");
    holds(vm, NULL); /* consumed by the receive */
    step(vm, "B");
    holds(vm, NULL); /* which blocks */
    step(vm, "A");
    rad__rounds_unblock(vm);
    holds(vm, "B"); /* granted: it was woken */
    step(vm, "A");  /* blocks, and holds nothing */
    holds(vm, "B");
    step(vm, "B");
    step(vm, "B");
    holds(vm, NULL);
    rad__rounds_unblock(vm);
    holds(vm, "A");
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* A holder that blocks, or ends, has it no more. */
static void decision_4_the_token_does_not_wait(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B, C\nB -> A: x C -> B: y }");
    rad_session_options o = session_options(1, RAD_SESSION_PROGRESS);
    rad_session_vm *vm = session_vm(p, &o, 1);
    rad__rounds_unblock(vm);
    holds(vm, "A");
    step(vm, "A");
    holds(vm, NULL); /* it waits for B */
    step(vm, "B");
    rad__rounds_unblock(vm);
    holds(vm, "A"); /* woken by it */
    step(vm, "A");
    step(vm, "C");
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    holds(vm, NULL);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

static void decision_4_acquire_keeps_the_token(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA -> B: x B -> A: y\n"
                                     "code B { acquire\nreceive A x\nsend A y\nrelease\n}"
                                     "code A { send B x\nacquire\nreceive B y\nrelease\nclose } }");
    rad_session_options o = session_options(1, RAD_SESSION_PROGRESS);
    rad_session_vm *vm = session_vm(p, &o, 1);
    rad__rounds_unblock(vm);
    holds(vm, "A");
    step(vm, "B");
    holds(vm, "B"); /* taken from who was only granted it */
    assert_true(vm->sessions[0]->pinned);
    step(vm, "B"); /* blocks */
    holds(vm, "B");
    step(vm, "A");
    step(vm, "B"); /* receives */
    holds(vm, "B");
    step(vm, "B"); /* sends */
    holds(vm, "B");
    step(vm, "A"); /* waits for it */
    assert_int_equal(session_thread(vm, 0, "A")->reason, RAD_BLOCK_ACQUIRE);
    step(vm, "B"); /* releases */
    assert_false(vm->sessions[0]->pinned);
    step(vm, "A");
    holds(vm, "A");
    assert_true(vm->sessions[0]->pinned);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* Of R ready ones each is picked after 9 R picks at most, and who holds the token much sooner. */
static void decision_4_nobody_waits_for_ever(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B, C\nA -> B: x B -> C: y\n"
                                     "code A { top: jump top }\n"
                                     "code B { acquire\ntop: jump top }\ncode C { top: jump top } }");
    for (uint32_t n = 1; n < 8; n += 2) {
        rad_session_options o = session_options(n, RAD_SESSION_PROGRESS);
        rad_session_vm *vm = session_vm(p, &o, 4);
        uint64_t last[12] = {0}, picks = 0, count[12] = {0};
        for (uint32_t round = 0; round < 3000; round++) {
            rad__rounds_unblock(vm);
            assert_int_equal(vm->ready_count, 12);
            do {
                rad_co *co = rad__rounds_prefer(vm);
                picks++;
                assert_true(picks - last[co->id] <= 9 * 12);
                last[co->id] = picks;
                count[co->id]++;
                rad__rounds_pick(vm, co);
            } while (!rad__rounds_is_full(vm));
            for (uint32_t i = 0; i < vm->picked_count; i++) rad__rounds_run_one(vm, vm->picked[i]);
            rad__rounds_round_ends(vm);
        }
        for (uint32_t i = 0; i < 12; i++) assert_true(picks - last[i] <= 9 * 12);
        if (n == 1) assert_true(count[1] > 8 * count[0] && count[4] > 8 * count[5]);
        rad_session_destroy(vm);
    }
    rad_protocols_free(p);
}

/* ---- Fuel ---------------------------------------------------------------------------------------------- */

static void fuel_is_rounds_and_the_ends_differ(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(busy);
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = session_vm(p, &o, 1);
    assert_int_equal(rad_session_run(vm, 5), RAD_SESSION_EXHAUSTED);
    assert_int_equal(session_info(vm).rounds, 5);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    assert_int_equal(rad_session_run(vm, 1), RAD_SESSION_COMPLETE);
    uint64_t rounds = session_info(vm).rounds;
    rad_session_destroy(vm);
    vm = session_vm(p, &o, 1); /* as many as it takes are enough */
    assert_int_equal(rad_session_run(vm, rounds), RAD_SESSION_COMPLETE);
    rad_session_destroy(vm);
    vm = session_vm(p, &o, 1);
    assert_int_equal(rad_session_run(vm, rounds - 1), RAD_SESSION_EXHAUSTED);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* Both send two before they receive: two messages have to fit. */
static void decision_2_stuck_is_told_and_capacity_helps(void **state)
{
    (void)state;
    static const uint32_t ns[] = SESSION_NS;
    rad_protocols *p = session_parse("locals P { roles A, B\n"
                                     "local A { A -> B: x A -> B: y\nB -> A: x B -> A: y }\n"
                                     "local B { B -> A: x B -> A: y\nA -> B: x A -> B: y } }");
    for (uint32_t i = 0; i < SESSION_N_COUNT * SESSION_POLICIES; i++) {
        rad_session_options o =
            session_options(ns[i % SESSION_N_COUNT], (enum rad_session_policy)(i / SESSION_N_COUNT));
        rad_session_vm *vm = session_vm(p, &o, 1);
        assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_STUCK);
        assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_STUCK);
        char *report = rad_session_report(vm);
        assert_string_equal(report, "session 0, A: waits for room on A -> B (1 of 1 in the buffer), line 2\n"
                                    "session 0, B: waits for room on B -> A (1 of 1 in the buffer), line 4\n");
        rad__free(report);
        rad_session_destroy(vm);
        o.capacity = 2;
        vm = session_vm(p, &o, 1);
        assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
        rad_session_destroy(vm);
    }
    rad_protocols_free(p);
}

static void split_fuel_is_one_run(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(busy);
    rad_prng r = storm_prng(0);
    for (uint32_t i = 0; i < 30; i++) {
        rad_session_options o = session_options(1 + i % 3, (enum rad_session_policy)(i / 3 % 3));
        o.start = i / 9;
        rad_session_vm *whole = run_logged(p, o, 3);
        o.log = true;
        rad_session_vm *split = session_vm(p, &o, 3);
        enum rad_session_end end;
        do end = rad_session_run(split, 1 + rad__prng_below(&r, 7));
        while (end == RAD_SESSION_EXHAUSTED);
        assert_int_equal(end, RAD_SESSION_COMPLETE);
        assert_true(same_log(whole, split));
        assert_string_equal(session_info(whole).digest, session_info(split).digest);
        rad_session_destroy(whole);
        rad_session_destroy(split);
    }
    rad_protocols_free(p);
}

/* ---- Close --------------------------------------------------------------------------------------------- */

static uint32_t count_events(const rad_session_vm *vm, enum rad_session_event_kind kind)
{
    uint32_t count = 0;
    for (uint64_t i = 0; i < vm->event_count; i++) count += vm->events[i].kind == kind;
    return count;
}

/* Three roles close; messages are on their way when the first one does. */
static void decision_5_close_waits_and_is_told_once(void **state)
{
    (void)state;
    static const uint32_t ns[] = SESSION_NS;
    rad_protocols *p =
        session_parse("protocol P { roles A, B, C\nA -> B: x A -> C: x(int)\ncode A { send B x\nset r1 4\n"
                      "send C x\nclose\nclose }\ncode B { receive A x\nclose }\n"
                      "code C { yield\nyield\nyield\nreceive A x r3\nclose } }");
    for (uint32_t i = 0; i < SESSION_N_COUNT * SESSION_POLICIES; i++) {
        rad_session_vm *vm =
            run_logged(p, session_options(ns[i % SESSION_N_COUNT], (enum rad_session_policy)(i / SESSION_N_COUNT)), 1);
        assert_int_equal(count_events(vm, RAD_SESSION_CLOSED), 1);
        assert_int_equal(count_events(vm, RAD_SESSION_RECEIVED), 2);
        assert_int_equal(vm->closed_sessions, 1);
        assert_int_equal(session_thread(vm, 0, "C")->registers[3].number, 4);
        bool closed = false;
        for (uint64_t k = 0; k < vm->event_count; k++) { /* nothing is left when it is closed */
            closed |= vm->events[k].kind == RAD_SESSION_CLOSED;
            assert_false(closed && vm->events[k].kind <= RAD_SESSION_RECEIVED);
        }
        rad_session_destroy(vm);
    }
    rad_protocols_free(p);
}

/* A message that nobody will receive keeps a session open: it is told, not dropped. */
static void decision_5_close_drops_nothing(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("locals P { roles A, B\nlocal A { A -> B: x }\nlocal B { } }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = session_vm(p, &o, 1);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_STUCK);
    assert_int_equal(session_thread(vm, 0, "A")->reason, RAD_BLOCK_CLOSE);
    assert_int_equal(vm->sessions[0]->in_flight, 1);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* ---- Other sessions ------------------------------------------------------------------------------------ */

static const char mixed[] = "protocol Bad { roles A, B\nA -> B: x(int) B -> A: y\n"
                            "code A { set r1 1\nsend B x\nreceive B y\nclose\nsend B x } }\n"
                            "protocol Good { roles A, B, C\n"
                            "loop L { choice at A { A -> B: m(int) B -> C: m(text) C -> A: n(bool) continue L }\n"
                            "or { A -> B: e(int) B -> C: e } } }\n";

static rad_session_vm *open_mixed(const rad_protocols *p, const rad_session_options *o, uint32_t good, uint32_t bad,
                                  bool later)
{
    rad_session_vm *vm;
    assert_int_equal(rad_session_create(&vm, p, o, NULL), 0);
    assert_int_equal(rad_session_open(vm, "Good", good, NULL), 0);
    if (later) rad_session_run(vm, 3);
    if (bad) assert_int_equal(rad_session_open(vm, "Bad", bad, NULL), 0);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    assert_int_equal(vm->faulted_sessions, bad);
    return vm;
}

/* Also those that fault, whenever they are opened. */
static void must_hold_3_sessions_do_not_touch_each_other(void **state)
{
    (void)state;
    static const uint32_t ns[] = SESSION_NS;
    rad_protocols *p = session_parse(mixed);
    rad_session_options o = rad_session_defaults();
    rad_session_vm *alone = open_mixed(p, &o, 3, 0, false);
    char one[33], other[33];
    assert_false(rad_session_digest(alone, 3, one));
    for (uint32_t i = 0; i < 2 * SESSION_N_COUNT * SESSION_POLICIES; i++) {
        o.n = ns[i % SESSION_N_COUNT];
        o.policy = (enum rad_session_policy)(i / SESSION_N_COUNT % SESSION_POLICIES);
        rad_session_vm *vm = open_mixed(p, &o, 3 + i % 7, i * 3, i & 1);
        for (uint32_t k = 0; k < 3; k++) {
            assert_true(rad_session_digest(alone, k, one));
            assert_true(rad_session_digest(vm, k, other));
            assert_string_equal(one, other);
        }
        rad_session_destroy(vm);
    }
    assert_true(rad_session_digest(alone, 1, other));
    assert_true(rad_session_digest(alone, 0, one));
    assert_string_not_equal(one, other);
    rad_session_destroy(alone);
    rad_protocols_free(p);
}

/* Sent after it was closed: the session is faulted, after it was closed. */
static void decision_5_send_after_close_faults_its_session_only(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(mixed);
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = open_mixed(p, &o, 4, 2, false);
    assert_int_equal(vm->sessions[4]->fault, RAD_FAULT_CLOSED);
    assert_true(vm->sessions[4]->closed);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(vm->sessions[i]->fault, RAD_FAULT_NONE);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* ---- The diamond --------------------------------------------------------------------------------------- */

enum { PATH_MAX_STEPS = 64, STATES_MOST = 20000 };

typedef struct path {
    uint8_t steps[PATH_MAX_STEPS]; /* numbers of coroutines */
    uint32_t count;
} path;

static rad_co *co_of(const rad_session_vm *vm, uint32_t id)
{
    for (uint32_t i = 0; i < vm->session_count; i++)
        for (uint32_t k = 0; k < vm->sessions[i]->protocol->types.thread_count; k++)
            if (vm->sessions[i]->threads[k].id == id) return &vm->sessions[i]->threads[k];
    return NULL;
}

static void take_step(rad_session_vm *vm, uint32_t id)
{
    rad_co *co = co_of(vm, id);
    assert_int_equal(co->state, RAD_CO_READY);
    rad__rounds_pick(vm, co);
    rad__rounds_run_one(vm, co);
    rad__rounds_round_ends(vm);
    rad__rounds_unblock(vm);
}

static rad_session_vm *walk(const rad_protocols *p, const path *way)
{
    rad_session_options o = session_options(1, RAD_SESSION_PROGRESS);
    rad_session_vm *vm = session_vm(p, &o, 2);
    rad__rounds_unblock(vm);
    for (uint32_t i = 0; i < way->count; i++) take_step(vm, way->steps[i]);
    return vm;
}

/* Everything but the round and the order of the ready ones. */
static uint64_t state_hash(const rad_session_vm *vm)
{
    uint64_t h = 0;
    for (uint32_t i = 0; i < vm->session_count; i++) {
        const rad_session *s = vm->sessions[i];
        for (uint32_t k = 0; k < s->protocol->types.thread_count; k++) {
            const rad_co *co = &s->threads[k];
            h = rad__mix2(h, (uint64_t)co->pc << 32 | co->type);
            h = rad__mix2(h, (uint64_t)co->state << 8 | co->reason);
            h = rad__mix2(h, rad__digest_word(co->digest));
            for (uint32_t m = 0; m < s->protocol->register_count; m++) h = rad__value_hash(h, &co->registers[m]);
        }
        for (uint32_t k = 0; k < s->protocol->types.edge_count; k++)
            h = rad__mix2(h, (uint64_t)s->buffers[k].count << 32 | s->buffers[k].sent);
        h = rad__mix2(h, (uint64_t)s->closed << 1 | s->pinned);
        h = rad__mix2(h, s->holder ? s->holder->thread + 1u : 0);
    }
    return h;
}

static uint64_t after_two(const rad_protocols *p, const path *way, uint32_t a, uint32_t b)
{
    rad_session_vm *vm = walk(p, way);
    take_step(vm, a);
    take_step(vm, b);
    uint64_t h = state_hash(vm);
    rad_session_destroy(vm);
    return h;
}

/* All states that can be reached, and in each one all pairs of steps of different sessions. Returns how many. */
static uint32_t explore_diamonds(const rad_protocols *p)
{
    static path ways[STATES_MOST];
    static uint64_t hashes[STATES_MOST];
    uint32_t count = 1, diamonds = 0;
    ways[0].count = 0;
    for (uint32_t at = 0; at < count; at++) {
        rad_session_vm *vm = walk(p, &ways[at]);
        uint32_t ready[16], n = 0;
        for (uint32_t id = 0; id < vm->co_count; id++)
            if (co_of(vm, id)->state == RAD_CO_READY) ready[n++] = id;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = i + 1; k < n; k++) {
                if (co_of(vm, ready[i])->session == co_of(vm, ready[k])->session) continue;
                assert_true(after_two(p, &ways[at], ready[i], ready[k]) == after_two(p, &ways[at], ready[k], ready[i]));
                diamonds++;
            }
        rad_session_destroy(vm);
        for (uint32_t i = 0; i < n; i++) {
            path next = ways[at];
            assert_true(next.count < PATH_MAX_STEPS);
            next.steps[next.count++] = (uint8_t)ready[i];
            vm = walk(p, &next);
            uint64_t h = state_hash(vm);
            rad_session_destroy(vm);
            uint32_t known = 0;
            while (known < count && hashes[known] != h) known++;
            if (known < count) continue;
            assert_true(count < STATES_MOST);
            hashes[count] = h;
            ways[count++] = next;
        }
    }
    return diamonds;
}

static void must_hold_2_steps_of_different_sessions_commute(void **state)
{
    (void)state;
    static const char *const small[] = {
        "protocol P { roles A, B\nA -> B: x B -> A: y }",
        "protocol P { roles A, B\nchoice at A { A -> B: x } or { A -> B: y } }",
        "protocol P { roles A, B\nA does d A -> B: x\ncode B { acquire\nreceive A x\nrelease } }",
    };
    uint32_t diamonds = 0;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        rad_protocols *p = session_parse(small[i]);
        diamonds += explore_diamonds(p);
        rad_protocols_free(p);
    }
    assert_true(diamonds > 500);
}

/* ---- Long runs ----------------------------------------------------------------------------------------- */

/* Nothing is allocated once it is going. 10^7 turns in the long run. */
static void must_hold_6_recursion_does_not_grow(void **state)
{
    (void)state;
    uint64_t turns = storm_amount(200000);
    char text[600];
    snprintf(text, sizeof text,
             "protocol P { roles A, B\n"
             "loop L { choice at A { A -> B: more(int) B -> A: good continue L } or { A -> B: over } }\n"
             "code A { set r5 1\nset r6 %llu\n"
             "top: sub r6 r6 r5\nmove r1 r6\njumpif r6 go\nmove r0 r5\n"
             "go: offer r0 { B more -> on, B over -> end }\n"
             "on: receive B good\njump top\nend: close } }",
             (unsigned long long)turns + 1);
    rad_protocols *p = session_parse(text);
    rad_session_options o = session_options(2, RAD_SESSION_ROUND_ROBIN);
    rad_session_vm *vm = session_vm(p, &o, 1);
    assert_int_equal(rad_session_run(vm, 100), RAD_SESSION_EXHAUSTED);
    rad__alloc_fail_at(1);
    enum rad_session_end end = rad_session_run(vm, 0);
    rad__alloc_fail_at(0);
    assert_int_equal(end, RAD_SESSION_COMPLETE);
    assert_int_equal(vm->closed_sessions, 1);
    assert_int_equal(vm->messages, 2 * turns + 1);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(n_above_the_ready_ones_is_all),
        cmocka_unit_test(nobody_runs_twice_in_a_round),
        cmocka_unit_test(who_is_readied_in_a_round_waits_for_the_next),
        cmocka_unit_test(events_are_in_the_order_of_picks),
        cmocka_unit_test(decision_8_policies_are_distinct),
        cmocka_unit_test(decision_1_only_threads_have_an_order),
        cmocka_unit_test(decision_1_one_chain_has_one_order),
        cmocka_unit_test(decision_4_the_token_is_granted_transferred_consumed),
        cmocka_unit_test(decision_4_the_token_does_not_wait),
        cmocka_unit_test(decision_4_acquire_keeps_the_token),
        cmocka_unit_test(decision_4_nobody_waits_for_ever),
        cmocka_unit_test(fuel_is_rounds_and_the_ends_differ),
        cmocka_unit_test(decision_2_stuck_is_told_and_capacity_helps),
        cmocka_unit_test(split_fuel_is_one_run),
        cmocka_unit_test(decision_5_close_waits_and_is_told_once),
        cmocka_unit_test(decision_5_close_drops_nothing),
        cmocka_unit_test(must_hold_3_sessions_do_not_touch_each_other),
        cmocka_unit_test(decision_5_send_after_close_faults_its_session_only),
        cmocka_unit_test(must_hold_2_steps_of_different_sessions_commute),
        cmocka_unit_test(must_hold_6_recursion_does_not_grow),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
