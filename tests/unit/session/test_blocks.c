/* test_blocks.c — every reason to block: how it begins, that nothing changes, what ends it. Every fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session_support.h"
#include "storm_support.h"

#include <stdio.h>
#include <string.h>

/* ---- Blocking -------------------------------------------------------------------------------------------- */

/* What a blocked instruction must leave alone. */
typedef struct still {
    uint32_t pc, type;
    uint64_t events, effects, sent, received;
    rad_digest digest;
    uint32_t in_flight, live;
} still;

static still still_of(const rad_co *co)
{
    const rad_session *s = co->session;
    still t = {.pc = co->pc,
               .type = co->type,
               .events = co->events,
               .effects = co->effects,
               .digest = co->digest,
               .in_flight = s->in_flight,
               .live = s->live};
    for (uint32_t i = 0; i < s->protocol->types.edge_count; i++) {
        t.sent += s->buffers[i].sent;
        t.received += s->buffers[i].received;
    }
    return t;
}

static void is_still(const rad_co *co, const still *before)
{
    still now = still_of(co);
    assert_int_equal(now.pc, before->pc);
    assert_int_equal(now.type, before->type);
    assert_int_equal(now.events, before->events);
    assert_int_equal(now.effects, before->effects);
    assert_int_equal(now.in_flight, before->in_flight);
    assert_int_equal(now.live, before->live);
    assert_int_equal(now.sent, before->sent);
    assert_int_equal(now.received, before->received);
    assert_true(rad__digest_equal(now.digest, before->digest));
}

/* Everybody becomes ready; nobody has run. */
static rad_session_vm *begin(const rad_protocols *p, const rad_session_options *o)
{
    rad_session_vm *vm = session_vm(p, o, 1);
    assert_true(rad__rounds_unblock(vm));
    return vm;
}

/* Only this one runs in this round. */
static void run_one(rad_session_vm *vm, rad_co *co)
{
    assert_int_equal(co->state, RAD_CO_READY);
    rad__rounds_pick(vm, co);
    rad__rounds_run_one(vm, co);
    rad__rounds_round_ends(vm);
    assert_true(rad__rounds_valid(vm));
}

/* It runs, blocks for this reason, and nothing else has happened. */
static void blocks(rad_session_vm *vm, rad_co *co, enum rad_session_block reason)
{
    still before = still_of(co);
    run_one(vm, co);
    assert_int_equal(co->state, RAD_CO_BLOCKED);
    assert_int_equal(co->reason, reason);
    is_still(co, &before);
    uint32_t ready = vm->ready_count;
    if (reason != RAD_BLOCK_INVOKE) {
        rad__rounds_unblock(vm); /* nothing has come true */
        assert_int_equal(co->state, RAD_CO_BLOCKED);
        assert_int_equal(vm->ready_count, ready);
    }
}

/* Not at once, but in the next unblock phase, and once. */
static void is_woken(rad_session_vm *vm, rad_co *co)
{
    assert_int_equal(co->state, RAD_CO_BLOCKED);
    uint32_t ready = vm->ready_count, blocked = vm->blocked_count;
    rad__rounds_unblock(vm);
    assert_int_equal(co->state, RAD_CO_READY);
    assert_int_equal(co->reason, RAD_BLOCK_NONE);
    assert_int_equal(vm->ready_count, ready + 1);
    assert_int_equal(vm->blocked_count, blocked - 1);
    rad__rounds_unblock(vm);
    assert_int_equal(vm->ready_count, ready + 1);
    assert_true(rad__rounds_valid(vm));
}

static void ends_well(rad_session_vm *vm)
{
    char *report = rad_session_report(vm);
    if (rad_session_run(vm, 10000) != RAD_SESSION_COMPLETE || vm->faulted_sessions) fail_msg("%s", report);
    rad__free(report);
    assert_int_equal(vm->closed_sessions, vm->session_count);
    rad_session_destroy(vm);
}

static void decision_3_receive_blocks_and_is_woken(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA -> B: x }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = begin(p, &o);
    rad_co *a = session_thread(vm, 0, "A"), *b = session_thread(vm, 0, "B");
    blocks(vm, b, RAD_BLOCK_RECEIVE);
    assert_int_equal(b->what, 0);
    char *report = rad_session_report(vm);
    assert_string_equal(report, "session 0, B: waits for a message on A -> B (0 of 1 in the "
                                "buffer), line 2\n");
    rad__free(report);
    run_one(vm, a);
    is_woken(vm, b);
    ends_well(vm);
    rad_protocols_free(p);
}

static void decision_3_send_blocks_and_is_woken(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA -> B: x\nA -> B: y }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = begin(p, &o);
    rad_co *a = session_thread(vm, 0, "A"), *b = session_thread(vm, 0, "B");
    run_one(vm, a);
    blocks(vm, a, RAD_BLOCK_SEND);
    char *report = rad_session_report(vm);
    assert_string_equal(report, "session 0, A: waits for room on A -> B (1 of 1 in the buffer), line 3\n");
    rad__free(report);
    run_one(vm, b);
    is_woken(vm, a);
    ends_well(vm);
    rad_protocols_free(p);
}

/* An offer is a send, and a choose a receive: they block like these. */
static void offers_and_chooses_block_too(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA -> B: w choice at A { A -> B: x } or { A -> B: y } }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = begin(p, &o);
    rad_co *a = session_thread(vm, 0, "A"), *b = session_thread(vm, 0, "B");
    run_one(vm, a); /* w */
    run_one(vm, a); /* selects */
    int64_t chosen = a->registers[0].number;
    blocks(vm, a, RAD_BLOCK_SEND);
    assert_int_equal(a->registers[0].number, chosen);
    run_one(vm, b);
    is_woken(vm, a);
    blocks(vm, b, RAD_BLOCK_RECEIVE);
    run_one(vm, a);
    is_woken(vm, b);
    ends_well(vm);
    rad_protocols_free(p);
}

static enum rad_effect_result after_three(void *context, rad_effect *e)
{
    uint32_t *calls = context;
    assert_int_equal(e->occurrence, 0);
    return ++*calls < 3 ? RAD_EFFECT_BLOCKED : RAD_EFFECT_DONE;
}

static void decision_3_invoke_blocks_and_is_asked_again(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA does d A -> B: x }");
    rad_session_options o = rad_session_defaults();
    o.log = true;
    rad_session_vm *vm = begin(p, &o);
    rad_co *a = session_thread(vm, 0, "A");
    uint32_t calls = 0;
    assert_int_equal(rad_session_handle(vm, "d", after_three, &calls, NULL), 0);
    blocks(vm, a, RAD_BLOCK_INVOKE);
    assert_int_equal(calls, 1);
    is_woken(vm, a);
    blocks(vm, a, RAD_BLOCK_INVOKE);
    is_woken(vm, a);
    assert_int_equal(vm->event_count, 0); /* retries are no events */
    run_one(vm, a);
    assert_int_equal(calls, 3);
    assert_int_equal(vm->event_count, 1);
    ends_well(vm);
    rad_protocols_free(p);
}

static void decision_3_close_blocks_and_is_woken(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA -> B: x }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = begin(p, &o);
    rad_co *a = session_thread(vm, 0, "A"), *b = session_thread(vm, 0, "B");
    run_one(vm, a);
    blocks(vm, a, RAD_BLOCK_CLOSE);
    assert_false(vm->sessions[0]->closed);
    run_one(vm, b);
    is_woken(vm, a);
    ends_well(vm);
    rad_protocols_free(p);
}

/* The last one to come to its end does so without a message. */
static void close_is_woken_by_what_somebody_does(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA -> B: x B does d }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = begin(p, &o);
    rad_co *a = session_thread(vm, 0, "A"), *b = session_thread(vm, 0, "B");
    run_one(vm, a);
    blocks(vm, a, RAD_BLOCK_CLOSE);
    run_one(vm, b);
    rad__rounds_unblock(vm);
    assert_int_equal(a->state, RAD_CO_BLOCKED); /* drained, but not at the end */
    run_one(vm, b);
    is_woken(vm, a);
    ends_well(vm);
    rad_protocols_free(p);
}

static void decision_3_acquire_blocks_and_is_woken(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA -> B: x\n"
                                     "code A { acquire\nyield\nrelease\nsend B x\nclose }\n"
                                     "code B { acquire\nreceive A x\nrelease } }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = begin(p, &o);
    rad_co *a = session_thread(vm, 0, "A"), *b = session_thread(vm, 0, "B");
    run_one(vm, a);
    blocks(vm, b, RAD_BLOCK_ACQUIRE);
    run_one(vm, a);
    rad__rounds_unblock(vm);
    assert_int_equal(b->state, RAD_CO_BLOCKED);
    run_one(vm, a);
    is_woken(vm, b);
    ends_well(vm);
    /* Its end releases it, too. */
    vm = begin(p, &o);
    a = session_thread(vm, 0, "A");
    b = session_thread(vm, 0, "B");
    run_one(vm, b);
    blocks(vm, a, RAD_BLOCK_ACQUIRE);
    rad_session_destroy(vm);
    rad_protocols_free(p);
    p = session_parse("protocol P { roles A, B\nA -> B: x\n"
                      "code A { acquire\nsend B x\nhalt }\ncode B { acquire\nreceive A x\nclose } }");
    vm = begin(p, &o);
    a = session_thread(vm, 0, "A");
    b = session_thread(vm, 0, "B");
    run_one(vm, a);
    blocks(vm, b, RAD_BLOCK_ACQUIRE);
    run_one(vm, a);
    run_one(vm, a);
    assert_int_equal(a->state, RAD_CO_ENDED);
    is_woken(vm, b);
    ends_well(vm);
    rad_protocols_free(p);
}

static void decision_3_join_blocks_and_is_woken(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\npar { A -> B: x } and { B -> A: y }\n"
                                     "A -> B: z }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = begin(p, &o);
    rad_co *a = session_thread(vm, 0, "A"), *b = session_thread(vm, 0, "B");
    rad_co *one = session_thread(vm, 0, "A.1"), *two = session_thread(vm, 0, "A.2");
    assert_int_equal(one->state, RAD_CO_IDLE);
    run_one(vm, a);
    run_one(vm, b);
    assert_int_equal(one->state, RAD_CO_BLOCKED); /* not in this round */
    rad__rounds_unblock(vm);
    assert_int_equal(one->state, RAD_CO_READY);
    blocks(vm, a, RAD_BLOCK_JOIN);
    run_one(vm, one);
    run_one(vm, one);
    assert_int_equal(one->state, RAD_CO_ENDED);
    rad__rounds_unblock(vm);
    assert_int_equal(a->state, RAD_CO_BLOCKED); /* the other one has not ended */
    run_one(vm, session_thread(vm, 0, "B.2"));
    run_one(vm, two);
    run_one(vm, two);
    is_woken(vm, a);
    ends_well(vm);
    rad_protocols_free(p);
}

/* A branch that is begun again has nothing left of the last time. */
static void a_branch_begins_anew(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nloop L { par { A -> B: x(text) } and { B -> A: y }\n"
                                     "choice at A { A -> B: more continue L } or { A -> B: over } } }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = session_vm(p, &o, 1);
    rad_co *one = session_thread(vm, 0, "A.1");
    uint32_t begun = 0, pc = p->all[0].entries[one->thread];
    for (bool before = false; session_round(vm);) {
        bool at_entry = one->state == RAD_CO_READY && one->pc == pc;
        if (at_entry && !before) {
            begun++;
            assert_int_equal(one->type, p->all[0].types.threads[one->thread].start);
            for (uint32_t i = 0; i < p->all[0].register_count; i++) {
                assert_int_equal(one->registers[i].type, RAD_TYPE_INT);
                assert_int_equal(one->registers[i].number, 0);
            }
        }
        before = at_entry;
    }
    assert_true(begun > 1);
    assert_int_equal(vm->closed_sessions, 1);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* ---- Faults ------------------------------------------------------------------------------------------------ */

/* Runs two sessions; both must end in this fault, told so of session 0. */
static void faults_with(const char *text, rad_session_options o, enum rad_fault fault, const char *report)
{
    rad_protocols *p = session_parse(text);
    rad_session_vm *vm = session_vm(p, &o, 2);
    assert_int_equal(rad_session_run(vm, 100000), RAD_SESSION_COMPLETE);
    assert_int_equal(vm->faulted_sessions, 2);
    assert_int_equal(vm->sessions[0]->fault, fault);
    char *said = rad_session_report(vm);
    if (strncmp(said, report, strlen(report)) != 0) fail_msg("said: %s", said);
    rad__free(said);
    assert_true(rad__rounds_valid(vm));
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

static void faults(const char *text, enum rad_fault fault, const char *report)
{
    faults_with(text, rad_session_defaults(), fault, report);
}

#define SIMPLE "protocol P { roles A, B, C\nA -> B: x(int)\nB -> A: y\nA -> C: z\n"

static void what_is_sent_is_checked(void **state)
{
    (void)state;
    faults(SIMPLE "code A {\nsend B q } }", RAD_FAULT_LABEL,
           "session 0, A: faulted: the protocol does not allow this message here, line 6\n");
    faults(SIMPLE "code A {\nsend C z } }", RAD_FAULT_PEER,
           "session 0, A: faulted: the protocol does not allow a message with this peer here, line "
           "6\n");
    faults(SIMPLE "code A {\nset r1 true\nsend B x } }", RAD_FAULT_FIELDS,
           "session 0, A: faulted: the fields do not have the types that the message has, line 7\n");
    faults(SIMPLE "code B { send A y } }", RAD_FAULT_LABEL, "session 0, B: faulted: ");
    faults("protocol P { roles A, B\nchoice at A { A -> B: x } or { A -> B: y }\n"
           "code A { set r0 2\noffer r0 { B x -> e, B y -> e }\ne: halt } }",
           RAD_FAULT_OPERAND, "session 0, A: faulted: the registers do not hold what the instruction needs, line 4\n");
    faults("protocol P { roles A, B\nchoice at A { A -> B: x } or { A -> B: y }\n"
           "code A { offer r0 { B q -> e, B y -> e }\ne: halt } }",
           RAD_FAULT_LABEL, "session 0, A: faulted: ");
}

static void what_is_received_is_checked(void **state)
{
    (void)state;
    faults("protocol P { roles A, B\nA -> B: x\ncode B {\nreceive A y } }", RAD_FAULT_LABEL,
           "session 0, B: faulted: the protocol does not allow this message here, line 4\n");
    faults("protocol P { roles A, B\nA -> B: x\nB -> A: y\ncode B {\nsend A y } }", RAD_FAULT_LABEL,
           "session 0, B: faulted: ");
    faults("protocol P { roles A, B\nA -> B: x\ncode B {\nchoose A { y -> e }\ne: halt } }", RAD_FAULT_LABEL,
           "session 0, B: faulted: ");
    /* The code of the one says two fields, and the type of the other none. */
    faults("locals P { roles A, B\nlocal A { A -> B: x(int, int) }\nlocal B { A -> B: x } }", RAD_FAULT_FIELDS,
           "session 0, B: faulted: the fields do not have the types that the message has");
    faults("locals P { roles A, B\nlocal A { A -> B: x }\nlocal B { A -> B: y } }", RAD_FAULT_LABEL,
           "session 0, B: faulted: ");
}

/* The message has three fields here and none there: what fits there would go beyond the registers here. */
static void fields_do_not_go_beyond_the_registers(void **state)
{
    (void)state;
    faults("protocol P { roles A, B\nA -> B: x(int, int, int) A -> B: x\n"
           "code B { receive A x r14\nreceive A x r14 } }",
           RAD_FAULT_OPERAND,
           "session 0, B: faulted: the registers do not hold what the "
           "instruction needs, line 3\n");
    faults("protocol P { roles A, B\nA -> B: x(int, int, int) A -> B: x\n"
           "code B { choose A r14 { x -> e }\ne: receive A x r14 } }",
           RAD_FAULT_OPERAND, "session 0, B: faulted: ");
}

static void ends_are_checked(void **state)
{
    (void)state;
    faults(SIMPLE "code A {\nhalt } }", RAD_FAULT_EARLY,
           "session 0, A: faulted: the protocol is not at its end, line 6\n");
    faults(SIMPLE "code A {\nclose } }", RAD_FAULT_EARLY, "session 0, A: faulted: ");
    faults(SIMPLE "code A {\nset r1 1\nsend B x\nreceive B y\nsend C z\nclose\nsend C z } }", RAD_FAULT_CLOSED,
           "session 0, A: faulted: the session is closed, line 11\n");
    faults(SIMPLE "code A {\nset r1 1\nsend B x\nreceive B y\nsend C z\nclose\nreceive B y } }", RAD_FAULT_CLOSED,
           "session 0, A: faulted: ");
}

static void effects_are_checked(void **state)
{
    (void)state;
    faults("protocol P { roles A, B\nA does d A -> B: x\ncode A {\ninvoke e\nsend B x } }", RAD_FAULT_EFFECT,
           "session 0, A: faulted: the protocol does not allow this effect here, line 4\n");
    faults("protocol P { roles A, B\nA does d A -> B: x\ncode A {\ninvoke d\ninvoke d } }", RAD_FAULT_EFFECT,
           "session 0, A: faulted: ");
    faults("protocol P { roles A, B\ncode A {\ninvoke d } }", RAD_FAULT_EFFECT,
           "session 0, A: faulted: "); /* where there are no arms at all */
}

static void operands_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "div r1 r2 r3",
        "mod r1 r2 r3",
        "set r2 true\nadd r1 r2 r3",
        "set r2 \"t\"\njumpif r2 e",
        "set r2 \"t\"\nless r1 r3 r2",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[200];
        snprintf(text, sizeof text, "protocol P { roles A, B\nA -> B: x\ncode A { %s\ne: } }", bad[i]);
        faults(text, RAD_FAULT_OPERAND, "session 0, A: faulted: the registers do not hold what the instruction needs");
    }
}

static void tokens_are_checked(void **state)
{
    (void)state;
    faults(SIMPLE "code A {\nrelease } }", RAD_FAULT_TOKEN, "session 0, A: faulted: the token is not held, line 6\n");
    faults(SIMPLE "code A {\nacquire\nacquire } }", RAD_FAULT_TOKEN, "session 0, A: faulted: ");
    faults(SIMPLE "code A {\nacquire\nrelease\nrelease } }", RAD_FAULT_TOKEN, "session 0, A: faulted: ");
}

static void full_buffers_are_a_fault_where_that_is_the_rule(void **state)
{
    (void)state;
    rad_session_options o = rad_session_defaults();
    o.full = RAD_FULL_ERROR;
    faults_with("protocol P { roles A, B\nA -> B: x\nA -> B: y }", o, RAD_FAULT_FULL,
                "session 0, A: faulted: the buffer is full, line 3\n");
}

/* Two that open each other for ever: paths become too long. */
static void sessions_are_not_opened_without_end(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA -> B: x\n"
                                     "code A { open P\nsend B x\nclose } }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = session_vm(p, &o, 1);
    assert_int_equal(rad_session_run(vm, 100000), RAD_SESSION_COMPLETE);
    assert_int_equal(vm->faulted_sessions, 1);
    const rad_session *last = vm->sessions[vm->session_count - 1];
    assert_int_equal(last->fault, RAD_FAULT_SESSIONS);
    assert_int_equal(vm->closed_sessions, vm->session_count - 1);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* A wakes B, and C faults, in one round: B is woken no more. */
static void who_is_faulted_is_not_woken(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B, C\nA -> B: x A -> C: y\n"
                                     "code C { halt } }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = begin(p, &o);
    rad_co *a = session_thread(vm, 0, "A"), *b = session_thread(vm, 0, "B");
    blocks(vm, b, RAD_BLOCK_RECEIVE);
    rad__rounds_pick(vm, a);
    rad__rounds_pick(vm, session_thread(vm, 0, "C"));
    rad__rounds_run_one(vm, a);
    assert_true(b->to_wake);
    rad__rounds_run_one(vm, session_thread(vm, 0, "C"));
    rad__rounds_round_ends(vm);
    assert_int_equal(vm->sessions[0]->fault, RAD_FAULT_EARLY);
    assert_false(rad__rounds_unblock(vm));
    assert_int_equal(b->state, RAD_CO_FAULTED);
    assert_int_equal(vm->ready_count + vm->blocked_count, 0);
    assert_true(rad__rounds_valid(vm));
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* ---- Faults of handlers ------------------------------------------------------------------------------------ */

enum wrong { FAILS, COUNT, TYPE, NO_TEXT, LONG_TEXT, CHOICE };

static enum rad_effect_result wrong_answer(void *context, rad_effect *e)
{
    enum wrong wrong = *(const enum wrong *)context;
    if (wrong == FAILS) return RAD_EFFECT_FAILED;
    if (wrong == COUNT) e->field_count++;
    if (wrong == TYPE) e->fields[0].type = RAD_VALUE_BOOL;
    if (wrong == NO_TEXT) e->fields[0].text = NULL;
    if (wrong == LONG_TEXT) e->fields[0].length = RAD_VALUE_TEXT_MAX + 1;
    if (wrong == CHOICE) e->chosen = e->option_count;
    return RAD_EFFECT_DONE;
}

static void answers_are_checked(void **state)
{
    (void)state;
    static const char produce[] = "protocol P { roles A, B\nA -> B: x(text) }";
    static const char select[] = "protocol P { roles A, B\nchoice at A { A -> B: x } or { A -> B: y } }";
    for (enum wrong wrong = FAILS; wrong <= CHOICE; wrong++) {
        rad_protocols *p = session_parse(wrong == CHOICE ? select : produce);
        rad_session_options o = rad_session_defaults();
        rad_session_vm *vm = session_vm(p, &o, 2);
        assert_int_equal(rad_session_handle(vm, "x", wrong_answer, &wrong, NULL), 0);
        assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
        assert_int_equal(vm->sessions[1]->fault, wrong == FAILS ? RAD_FAULT_HANDLER : RAD_FAULT_ANSWER);
        assert_int_equal(vm->effects, 0);
        rad_session_destroy(vm);
        rad_protocols_free(p);
    }
}

/* ---- Without memory ---------------------------------------------------------------------------------------- */

static const char everything[] =
    "protocol S { roles X, Y\nX -> Y: s(text) }\n"
    "protocol P { roles A, B, W[1..2]\n"
    "loop L { par { A -> B: x(text) for i in 1..2 { A -> W[i]: w(int) } } and { B -> A: y }\n"
    "choice at A { A -> B: more A -> W[1]: more A -> W[2]: more continue L }\n"
    "or { A -> B: over A -> W[1]: over A -> W[2]: over } }\n"
    "call S(A, B) A does d W[1] -> A: v(text) }\n"
    "protocol Q { roles A, B\nA -> B: x(text)\n"
    "code A { open P\nset r1 \"hello\"\nmove r2 r1\nsend B x r2\nclose } }\n";

static void parsing_without_memory_is_an_error(void **state)
{
    (void)state;
    int status = -1;
    uint64_t n = 1;
    for (; status != 0; n++) {
        rad_protocols *p;
        rad_error error;
        rad__alloc_fail_at(n);
        status = rad_protocols_parse(&p, "test", everything, sizeof everything - 1, &error);
        rad__alloc_fail_at(0);
        if (status != 0 && error.code != RAD_ENOMEM) fail_msg("%s", error.text);
        assert_true((status == 0) == (p != NULL));
        rad_protocols_free(p);
    }
    assert_true(n > 50);
}

/* Opens, runs, replays, tells; whatever fails is told, nothing is lost. True: it all worked. */
static bool work(const rad_protocols *p, enum rad_session_full full, uint64_t n)
{
    rad_session_options o = session_options(3, RAD_SESSION_PROGRESS);
    o.log = o.record = true;
    o.start = 5;
    o.full = full;
    rad_session_vm *vm = NULL, *again = NULL;
    rad_effect_log *log = NULL;
    rad_error error;
    rad__alloc_fail_at(n);
    int status = rad_session_create(&vm, p, &o, &error);
    if (status == 0) status = rad_session_open(vm, NULL, 2, &error);
    assert_true(status == 0 || status == RAD_ENOMEM);
    bool good = status == 0 && rad_session_run(vm, 10000) == RAD_SESSION_COMPLETE && vm->faulted_sessions == 0;
    uint64_t events = 0;
    for (uint32_t i = 0; good && i < vm->session_count; i++)
        for (uint32_t k = 0; k < vm->sessions[i]->protocol->types.thread_count; k++)
            events += vm->sessions[i]->threads[k].events;
    if (good) assert_int_equal(events, vm->event_count); /* none was lost in silence */
    if (good) log = rad_session_take_effects(vm);
    if (good) good = rad_session_create(&again, p, &o, &error) == 0;
    if (good) rad_session_replay(again, log);
    good = good && rad_session_open(again, NULL, 2, &error) == 0 &&
           rad_session_run(again, 10000) == RAD_SESSION_COMPLETE && again->faulted_sessions == 0;
    char *report = vm ? rad_session_report(vm) : NULL;
    char *trace = vm ? rad_session_trace_text(vm, RAD_NONE, true) : NULL;
    rad__alloc_fail_at(0);
    good = good && report && trace;
    rad__free(report);
    rad__free(trace);
    rad_session_destroy(vm);
    rad_session_destroy(again);
    rad_effect_log_free(log);
    return good;
}

static void running_without_memory_is_told(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(everything);
    uint64_t n = 1;
    while (!work(p, RAD_FULL_BLOCK, n)) n++;
    assert_true(n > 50);
    n = 1;
    while (!work(p, RAD_FULL_RESIZE, n)) n++;
    rad_protocols_free(p);
}

/* A text that finds no memory is a fault of its session. */
static void out_of_memory_is_a_fault(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA -> B: x(text) }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = session_vm(p, &o, 1);
    while (session_thread(vm, 0, "A")->effects == 0) session_round(vm);
    rad__alloc_fail_at(1);
    enum rad_session_end end = rad_session_run(vm, 0);
    rad__alloc_fail_at(0);
    assert_int_equal(end, RAD_SESSION_COMPLETE);
    assert_int_equal(vm->sessions[0]->fault, RAD_FAULT_MEMORY);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decision_3_receive_blocks_and_is_woken),
        cmocka_unit_test(decision_3_send_blocks_and_is_woken),
        cmocka_unit_test(offers_and_chooses_block_too),
        cmocka_unit_test(decision_3_invoke_blocks_and_is_asked_again),
        cmocka_unit_test(decision_3_close_blocks_and_is_woken),
        cmocka_unit_test(close_is_woken_by_what_somebody_does),
        cmocka_unit_test(decision_3_acquire_blocks_and_is_woken),
        cmocka_unit_test(decision_3_join_blocks_and_is_woken),
        cmocka_unit_test(a_branch_begins_anew),
        cmocka_unit_test(what_is_sent_is_checked),
        cmocka_unit_test(what_is_received_is_checked),
        cmocka_unit_test(fields_do_not_go_beyond_the_registers),
        cmocka_unit_test(ends_are_checked),
        cmocka_unit_test(effects_are_checked),
        cmocka_unit_test(operands_are_checked),
        cmocka_unit_test(tokens_are_checked),
        cmocka_unit_test(full_buffers_are_a_fault_where_that_is_the_rule),
        cmocka_unit_test(sessions_are_not_opened_without_end),
        cmocka_unit_test(who_is_faulted_is_not_woken),
        cmocka_unit_test(answers_are_checked),
        cmocka_unit_test(parsing_without_memory_is_an_error),
        cmocka_unit_test(running_without_memory_is_told),
        cmocka_unit_test(out_of_memory_is_a_fault),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
