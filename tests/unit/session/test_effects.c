/* test_effects.c — handlers, their answers on record and in replay, draws, and what full buffers do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session_support.h"
#include "storm_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Full buffers -------------------------------------------------------------------------------------- */

/* A sends 1, 2, … and is done before B looks. */
static rad_session_vm *flood(rad_protocols **p, uint32_t count, enum rad_session_full full, uint32_t capacity)
{
    char text[500];
    snprintf(text, sizeof text,
             "protocol P { roles A, B\n"
             "loop L { choice at A { A -> B: x(int) continue L } or { A -> B: y } }\n"
             "code A { set r5 1\nset r6 %u\ntop: add r1 r1 r5\nsend B x\nsub r6 r6 r5\n"
             "jumpif r6 top\nwait: jump wait } }",
             count);
    *p = session_parse(text);
    rad_session_options o = rad_session_defaults();
    o.full = full;
    o.capacity = capacity;
    o.log = true;
    rad_session_vm *vm = session_vm(*p, &o, 1);
    assert_true(rad__rounds_unblock(vm));
    rad_co *a = session_thread(vm, 0, "A");
    while (a->state == RAD_CO_READY && vm->instructions < 4ull * count + 2) {
        rad__rounds_pick(vm, a);
        rad__rounds_run_one(vm, a);
        rad__rounds_round_ends(vm);
    }
    return vm;
}

/* What B finds: numbers from `first` on, then `last`. */
static void finds(rad_session_vm *vm, uint32_t count, int64_t first, int64_t last)
{
    rad_co *b = session_thread(vm, 0, "B");
    const rad_buffer *buffer = &vm->sessions[0]->buffers[0];
    assert_int_equal(buffer->count, count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t received = buffer->received;
        while (buffer->received == received) {
            assert_int_equal(b->state, RAD_CO_READY);
            rad__rounds_pick(vm, b);
            rad__rounds_run_one(vm, b);
            rad__rounds_round_ends(vm);
        }
        assert_int_equal(b->registers[1].number, i + 1 == count ? last : first + i);
        assert_int_equal(vm->events[vm->event_count - 1].kind, RAD_SESSION_RECEIVED);
        assert_int_equal(vm->events[vm->event_count - 1].number, b->registers[1].number - 1); /* as it was sent */
    }
}

static void full_block_loses_nothing(void **state)
{
    (void)state;
    rad_protocols *p;
    rad_session_vm *vm = flood(&p, 5, RAD_FULL_BLOCK, 3);
    assert_int_equal(session_thread(vm, 0, "A")->reason, RAD_BLOCK_SEND);
    finds(vm, 3, 1, 3);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

static void full_error_is_a_fault(void **state)
{
    (void)state;
    rad_protocols *p;
    rad_session_vm *vm = flood(&p, 3, RAD_FULL_ERROR, 3);
    finds(vm, 3, 1, 3);
    rad_session_destroy(vm);
    rad_protocols_free(p);
    vm = flood(&p, 4, RAD_FULL_ERROR, 3);
    assert_int_equal(vm->sessions[0]->fault, RAD_FAULT_FULL);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* The oldest ones arrive, in order. */
static void full_drop_loses_the_newest(void **state)
{
    (void)state;
    rad_protocols *p;
    rad_session_vm *vm = flood(&p, 7, RAD_FULL_DROP, 3);
    assert_int_equal(vm->sessions[0]->buffers[0].sent, 7);
    assert_int_equal(vm->sessions[0]->buffers[0].dropped, 4);
    finds(vm, 3, 1, 3);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

static void full_latest_keeps_the_newest(void **state)
{
    (void)state;
    rad_protocols *p;
    rad_session_vm *vm = flood(&p, 7, RAD_FULL_LATEST, 3);
    finds(vm, 3, 1, 7);
    rad_session_destroy(vm);
    rad_protocols_free(p);
    vm = flood(&p, 7, RAD_FULL_LATEST, 1);
    finds(vm, 1, 7, 7);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

static void full_resize_keeps_everything_up_to_a_bound(void **state)
{
    (void)state;
    rad_protocols *p;
    rad_session_vm *vm = flood(&p, 100, RAD_FULL_RESIZE, 3);
    assert_int_equal(vm->sessions[0]->buffers[0].capacity, 192);
    finds(vm, 100, 1, 100);
    rad_session_destroy(vm);
    rad_protocols_free(p);
    vm = flood(&p, 65536, RAD_FULL_RESIZE, 1);
    assert_int_equal(vm->sessions[0]->buffers[0].count, 65536);
    assert_int_equal(vm->sessions[0]->fault, RAD_FAULT_NONE);
    rad_session_destroy(vm);
    rad_protocols_free(p);
    vm = flood(&p, 65537, RAD_FULL_RESIZE, 1);
    assert_int_equal(vm->sessions[0]->fault, RAD_FAULT_FULL);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* The ring has turned when it grows, and it holds texts. */
static void a_buffer_that_grows_keeps_the_order(void **state)
{
    (void)state;
    rad_protocols *p =
        session_parse("locals P { roles A, B, C\n"
                      "local A { A -> B: x(text) A -> B: x(text) B -> A: g A -> B: x(text) A -> B: x(text)\n"
                      "A -> B: x(text) A -> C: go }\nlocal C { A -> C: go C -> B: go }\n"
                      "local B { A -> B: x(text) B -> A: g C -> B: go A -> B: x(text) A -> B: x(text)\n"
                      "A -> B: x(text) A -> B: x(text) } }");
    rad_session_options o = rad_session_defaults();
    o.capacity = 2;
    o.full = RAD_FULL_RESIZE;
    rad_session_vm *grown = session_vm(p, &o, 3);
    assert_int_equal(rad_session_run(grown, 0), RAD_SESSION_COMPLETE);
    const rad_types *t = &p->all[0].types;
    for (uint32_t i = 0; i < t->edge_count; i++)
        if (t->edges[i].from == 0 && t->edges[i].to == 1) assert_true(grown->sessions[0]->buffers[i].capacity > 2);
    o.capacity = 10;
    rad_session_vm *roomy = session_vm(p, &o, 3);
    assert_int_equal(rad_session_run(roomy, 0), RAD_SESSION_COMPLETE);
    assert_string_equal(session_info(grown).digest, session_info(roomy).digest);
    rad_session_destroy(grown);
    rad_session_destroy(roomy);
    rad_protocols_free(p);
}

/* ---- Draws --------------------------------------------------------------------------------------------- */

static const char talk[] = "protocol P { roles A, B\n"
                           "loop L { par { A -> B: a(int) } and { A -> B: b(int, text) }\nA does d\n"
                           "choice at B { B -> A: more(bool) continue L } or { B -> A: over } } }";

enum { DRAWS_MOST = 1000 };

typedef struct draws {
    struct {
        char where[80];
        uint64_t draw;
    } all[DRAWS_MOST];
    uint32_t count;
} draws;

static enum rad_effect_result note_draw(void *context, rad_effect *e)
{
    draws *d = context;
    assert_true(d->count < DRAWS_MOST);
    snprintf(d->all[d->count].where, sizeof d->all[0].where, "%s %s %llu", e->session, e->thread,
             (unsigned long long)e->occurrence);
    d->all[d->count++].draw = e->draw;
    if (e->kind == RAD_EFFECT_SELECT) e->chosen = e->occurrence < 3 ? 0 : 1;
    if (e->kind == RAD_EFFECT_SELECT) e->field_count = e->options[e->chosen].field_count;
    if (e->kind == RAD_EFFECT_SELECT && e->chosen == 0) e->fields[0].type = RAD_VALUE_BOOL;
    return RAD_EFFECT_DONE;
}

static void draw_all(const rad_protocols *p, rad_session_options o, draws *d)
{
    d->count = 0;
    rad_session_vm *vm;
    assert_int_equal(rad_session_create(&vm, p, &o, NULL), 0);
    assert_int_equal(rad_session_handle(vm, NULL, note_draw, d, NULL), 0);
    assert_int_equal(rad_session_open(vm, NULL, 4, NULL), 0);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    assert_int_equal(vm->faulted_sessions, 0);
    rad_session_destroy(vm);
}

static uint64_t draw_at(const draws *d, const char *where)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (strcmp(d->all[i].where, where) == 0) return d->all[i].draw;
    fail_msg("nothing was drawn at %s", where);
    return 0;
}

/* Draws depend on the seed, the session, the thread and how often it was asked, and on nothing else. */
static void decision_6_draws_have_a_place(void **state)
{
    (void)state;
    static const uint32_t ns[] = SESSION_NS;
    rad_protocols *p = session_parse(talk);
    static draws first, other;
    draw_all(p, rad_session_defaults(), &first);
    for (uint32_t i = 0; i < first.count; i++)
        for (uint32_t k = 0; k < i; k++) {
            assert_string_not_equal(first.all[i].where, first.all[k].where);
            assert_true(first.all[i].draw != first.all[k].draw);
        }
    for (uint32_t i = 0; i < SESSION_N_COUNT * SESSION_POLICIES; i++) {
        rad_session_options o =
            session_options(ns[i % SESSION_N_COUNT], (enum rad_session_policy)(i / SESSION_N_COUNT));
        o.start = i;
        draw_all(p, o, &other);
        assert_int_equal(other.count, first.count);
        for (uint32_t k = 0; k < first.count; k++)
            assert_true(draw_at(&other, first.all[k].where) == first.all[k].draw);
    }
    rad_session_options o = rad_session_defaults();
    o.seed = 1;
    draw_all(p, o, &other);
    for (uint32_t k = 0; k < first.count; k++) assert_true(draw_at(&other, first.all[k].where) != first.all[k].draw);
    rad_protocols_free(p);
}

/* Every message of a choice is chosen at some time: not always the first one. */
static void decision_6_choices_are_real(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nchoice at A { A -> B: x } or { A -> "
                                     "B: y } or { A -> B: z } }");
    rad_session_options o = rad_session_defaults();
    o.log = true;
    rad_session_vm *vm = session_vm(p, &o, 300);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    uint32_t chosen[3] = {0};
    for (uint64_t i = 0; i < vm->event_count; i++)
        if (vm->events[i].kind == RAD_SESSION_SENT) chosen[rad__text_of(p, vm->events[i].label)[0] - 'x']++;
    for (int i = 0; i < 3; i++) assert_in_range(chosen[i], 60, 140);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* ---- Causes -------------------------------------------------------------------------------------------- */

/* The last event of a thread, of two seeds. */
static bool knows_of_the_draw(const char *text, const char *thread)
{
    rad_protocols *p = session_parse(text);
    uint64_t causes[2];
    for (uint64_t seed = 0; seed < 2; seed++) {
        rad_session_options o = rad_session_defaults();
        o.seed = seed;
        rad_session_vm *vm = session_vm(p, &o, 1);
        assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
        causes[seed] = rad__digest_word(session_thread(vm, 0, thread)->digest);
        rad_session_destroy(vm);
    }
    rad_protocols_free(p);
    return causes[0] != causes[1];
}

/* A digest names all that happened before, wherever: by messages, at the beginning of a branch and at its end. The
 * number v is drawn by A and sent to C; who hears nothing that comes after it has the same digest. */
static void decision_1_digests_are_the_happens_before_order(void **state)
{
    (void)state;
    static const char before[] = "protocol P { roles A, B, C\nA -> C: v(int) A -> B: x }";
    static const char after[] = "protocol P { roles A, B, C\nA -> B: x A -> C: v(int) }";
    assert_true(knows_of_the_draw(before, "A"));
    assert_true(knows_of_the_draw(before, "B"));
    assert_true(knows_of_the_draw(after, "C"));
    assert_false(knows_of_the_draw(after, "B"));
    assert_true(
        knows_of_the_draw("protocol P { roles A, B, C\nA -> C: v(int) par { A -> B: x } and { B -> A: y } }", "B.1"));
    assert_false(knows_of_the_draw("protocol P { roles A, B, C\npar { A -> B: x } and { A -> C: v(int) } }", "B.1"));
    assert_true(
        knows_of_the_draw("protocol P { roles A, B, C\npar { A -> B: x } and { A -> C: v(int) } A -> B: y }", "B"));
}

/* ---- Records ------------------------------------------------------------------------------------------- */

/* Keeps a sum in its coroutine, and chooses by it. */
static enum rad_effect_result honest(void *context, rad_effect *e)
{
    uint32_t *calls = context;
    ++*calls;
    int64_t *sum = e->coroutine_state;
    if (e->kind == RAD_EFFECT_CONSUME || e->kind == RAD_EFFECT_DOES) return RAD_EFFECT_DONE;
    if (e->kind == RAD_EFFECT_SELECT) {
        e->chosen = ++*sum < 4 ? 0 : 1;
        e->field_count = e->options[e->chosen].field_count;
        for (uint32_t i = 0; i < e->field_count; i++) e->fields[i].type = e->options[e->chosen].types[i];
    }
    for (uint32_t i = 0; i < e->field_count; i++) {
        e->fields[i].number = (int64_t)(e->draw % 100 + i);
        e->fields[i].text = "hello";
        e->fields[i].length = 5;
    }
    return RAD_EFFECT_DONE;
}

static rad_session_vm *machine(const rad_protocols *p, rad_session_options o, rad_effect_handler *handler,
                               void *context, const rad_effect_log *replayed)
{
    rad_session_vm *vm;
    o.record = true;
    assert_int_equal(rad_session_create(&vm, p, &o, NULL), 0);
    if (handler) assert_int_equal(rad_session_handle(vm, NULL, handler, context, NULL), 0);
    assert_int_equal(rad_session_coroutine_state(vm, sizeof(int64_t), NULL, NULL), 0);
    if (replayed) rad_session_replay(vm, replayed);
    assert_int_equal(rad_session_open(vm, NULL, 3, NULL), 0);
    return vm;
}

static void replay_never_calls_handlers(void **state)
{
    (void)state;
    static const uint32_t ns[] = SESSION_NS;
    rad_protocols *p = session_parse(talk);
    uint32_t calls = 0;
    rad_session_vm *first = machine(p, rad_session_defaults(), honest, &calls, NULL);
    assert_int_equal(rad_session_run(first, 0), RAD_SESSION_COMPLETE);
    assert_int_equal(first->faulted_sessions, 0);
    rad_effect_log *log = rad_session_take_effects(first);
    assert_null(rad_session_take_effects(first));
    assert_int_equal(rad_effect_log_count(log), calls);
    calls = 0;
    for (uint32_t i = 0; i < SESSION_N_COUNT * SESSION_POLICIES; i++) {
        rad_session_options o =
            session_options(ns[i % SESSION_N_COUNT], (enum rad_session_policy)(i / SESSION_N_COUNT));
        o.start = i;
        o.seed = 99; /* nothing is drawn */
        rad_session_vm *again = machine(p, o, honest, &calls, log);
        assert_int_equal(rad_session_run(again, 0), RAD_SESSION_COMPLETE);
        assert_string_equal(session_info(again).digest, session_info(first).digest);
        rad_effect_log *second = rad_session_take_effects(again);
        char text[300];
        assert_int_equal(rad_effect_log_count(second), rad_effect_log_count(log));
        assert_false(rad_effect_log_differ(log, second, text, sizeof text));
        rad_effect_log_free(second);
        rad_session_destroy(again);
    }
    assert_int_equal(calls, 0);
    rad_effect_log_free(log);
    rad_session_destroy(first);
    rad_protocols_free(p);
}

static enum rad_effect_result fails_at_d(void *context, rad_effect *e)
{
    if (e->kind == RAD_EFFECT_DOES && strcmp(e->session, "1") == 0) return RAD_EFFECT_FAILED;
    return honest(context, e);
}

/* A failure is an answer: it is on record, and fails again. */
static void a_failure_is_replayed(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(talk);
    uint32_t calls = 0;
    rad_session_vm *first = machine(p, rad_session_defaults(), fails_at_d, &calls, NULL);
    assert_int_equal(rad_session_run(first, 0), RAD_SESSION_COMPLETE);
    assert_int_equal(first->sessions[1]->fault, RAD_FAULT_HANDLER);
    assert_int_equal(first->faulted_sessions, 1);
    rad_effect_log *log = rad_session_take_effects(first);
    rad_session_vm *again = machine(p, session_options(3, RAD_SESSION_PROGRESS), NULL, NULL, log);
    assert_int_equal(rad_session_run(again, 0), RAD_SESSION_COMPLETE);
    assert_int_equal(again->sessions[1]->fault, RAD_FAULT_HANDLER);
    assert_string_equal(session_info(again).digest, session_info(first).digest);
    rad_session_destroy(first);
    rad_session_destroy(again);
    rad_effect_log_free(log);
    rad_protocols_free(p);
}

/* What was recorded of `text` is replayed with `other`; session 0 faults there, the report begins so. */
static void mismatches(const char *text, uint64_t rounds, const char *other, const char *report)
{
    rad_protocols *p = session_parse(text), *q = session_parse(other);
    rad_session_vm *first = machine(p, rad_session_defaults(), NULL, NULL, NULL);
    rad_session_run(first, rounds);
    rad_effect_log *log = rad_session_take_effects(first);
    assert_non_null(log);
    rad_session_vm *again = machine(q, rad_session_defaults(), NULL, NULL, log);
    assert_int_equal(rad_session_run(again, 0), RAD_SESSION_COMPLETE);
    assert_int_equal(again->sessions[0]->fault, RAD_FAULT_REPLAY);
    char *said = rad_session_report(again);
    if (strncmp(said, report, strlen(report)) != 0) fail_msg("said: %s", said);
    rad__free(said);
    rad_session_destroy(first);
    rad_session_destroy(again);
    rad_effect_log_free(log);
    rad_protocols_free(p);
    rad_protocols_free(q);
}

static void a_mismatch_is_located(void **state)
{
    (void)state;
#define RECORDED "protocol P { roles A, B\nA -> B: x(bool)\nA does d }"
#define HERE     "session 0, A: faulted: the record has something else here, "
    mismatches(RECORDED, 0, "protocol P { roles A, B\nA -> B: x(bool)\nA does e }",
               HERE "line 3: effect 1 is e, on record is d\n");
    mismatches(RECORDED, 0, "protocol P { roles A, B\nA -> B: x(int)\nA does d }",
               HERE "line 2: effect 0 is x, on record is x ");
    mismatches(RECORDED, 0, "protocol P { roles A, B\nA -> B: x(bool, int)\nA does d }",
               HERE "line 2: effect 0 is x, on record is x ");
    mismatches(RECORDED, 0, "protocol P { roles A, B\nA -> B: y(bool)\nA does d }",
               HERE "line 2: effect 0 is y, on record is x ");
    mismatches(RECORDED, 0, "protocol P { roles A, B\nA does d\nA -> B: x(bool) }",
               HERE "line 2: effect 0 is d, on record is x ");
    mismatches(RECORDED, 0, "protocol P { roles A, B\nA -> B: x(bool)\nA does d\nA does d }",
               HERE "line 4: effect 2 is d, on record is nothing more\n");
    mismatches(RECORDED, 1, RECORDED, HERE "line 3: effect 1 is d, on record is nothing more\n");
    mismatches("protocol P { roles A, B\nA does d A -> B: x }", 0,
               "protocol P { roles A, B\nchoice at A { A -> B: x } or { A -> B: y } }",
               HERE "line 2: effect 0 is a choice, on record is d\n");
}

/* Receivers look at what they get: it has to be what is on record. */
static void what_is_consumed_is_compared(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B\nA -> B: x(int)\n}");
    rad_protocols *q = session_parse("protocol P { roles A, B\nA -> B: x(int)\n"
                                     "code A { set r1 -1\nsend B x\nclose } }");
    rad_session_vm *first = machine(p, rad_session_defaults(), NULL, NULL, NULL);
    rad_session_run(first, 0);
    rad_effect_log *log = rad_session_take_effects(first);
    rad_session_vm *again = machine(q, rad_session_defaults(), NULL, NULL, log);
    assert_int_equal(rad_session_run(again, 0), RAD_SESSION_COMPLETE);
    assert_int_equal(again->sessions[0]->fault, RAD_FAULT_REPLAY);
    char *said = rad_session_report(again);
    assert_non_null(strstr(said, "session 0, B: faulted: the record has something else here, line 2: "
                                 "effect 0 is x -1, on record is x "));
    rad__free(said);
    rad_session_destroy(first);
    rad_session_destroy(again);
    rad_effect_log_free(log);
    rad_protocols_free(p);
    rad_protocols_free(q);
}

/* ---- What handlers are told ------------------------------------------------------------------------------ */

static char told[400];

static enum rad_effect_result note_whom(void *context, rad_effect *e)
{
    static const char *const kinds[] = {"produce", "select", "consume", "does"};
    (void)context;
    size_t used = strlen(told);
    snprintf(told + used, sizeof told - used, "%s %s %s %s, ", e->role, kinds[e->kind], e->name ? e->name : "-",
             e->partner ? e->partner : "-");
    if (e->kind == RAD_EFFECT_SELECT) e->field_count = 0;
    return RAD_EFFECT_DONE;
}

static void handlers_are_told_who_and_with_whom(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, W[1..2] A -> W[2]: x(int) W[2] does d\n"
                                     "choice at W[2] { W[2] -> A: y } or { W[2] -> A: z } }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm;
    told[0] = 0;
    assert_int_equal(rad_session_create(&vm, p, &o, NULL), 0);
    assert_int_equal(rad_session_handle(vm, NULL, note_whom, NULL, NULL), 0);
    assert_int_equal(rad_session_open(vm, NULL, 1, NULL), 0);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    assert_string_equal(told, "A produce x W[2], W[2] consume x A, W[2] does d -, W[2] select - -, ");
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* ---- Handlers that do what they must not --------------------------------------------------------------- */

static int64_t counter;
static int64_t last_of_session_0;

static enum rad_effect_result reads_a_counter(void *context, rad_effect *e)
{
    enum rad_effect_result result = honest(context, e);
    if (e->kind == RAD_EFFECT_PRODUCE && strcmp(e->name, "a") == 0) e->fields[0].number = counter++;
    return result;
}

static enum rad_effect_result reads_the_clock(void *context, rad_effect *e)
{
    enum rad_effect_result result = honest(context, e);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (e->kind == RAD_EFFECT_PRODUCE && strcmp(e->name, "b") == 0)
        e->fields[0].number = now.tv_sec * 1000000000 + now.tv_nsec;
    return result;
}

static enum rad_effect_result reads_another_session(void *context, rad_effect *e)
{
    enum rad_effect_result result = honest(context, e);
    if (strcmp(e->session, "0") == 0) last_of_session_0 = (int64_t)e->occurrence;
    if (strcmp(e->session, "2") == 0 && e->kind == RAD_EFFECT_PRODUCE && e->name[0] == 'b')
        e->fields[0].number = last_of_session_0;
    return result;
}

static rad_effect_log *effects_of(const rad_protocols *p, rad_session_options o, rad_effect_handler *handler)
{
    uint32_t calls = 0;
    counter = last_of_session_0 = 0;
    rad_session_vm *vm = machine(p, o, handler, &calls, NULL);
    rad_session_run(vm, 0);
    rad_effect_log *log = rad_session_take_effects(vm);
    rad_session_destroy(vm);
    return log;
}

/* True: told by comparing the effects of two runs; `text` names the handler. */
static bool is_caught(const rad_protocols *p, rad_effect_handler *handler, char *text, size_t size)
{
    static const uint32_t ns[] = SESSION_NS;
    bool caught = false;
    rad_effect_log *first = effects_of(p, session_options(1, RAD_SESSION_COOPERATIVE), handler);
    for (uint32_t i = 0; i < SESSION_N_COUNT * SESSION_POLICIES && !caught; i++) {
        rad_session_options o =
            session_options(ns[i % SESSION_N_COUNT], (enum rad_session_policy)(i / SESSION_N_COUNT));
        rad_effect_log *other = effects_of(p, o, handler);
        caught = rad_effect_log_differ(first, other, text, size);
        rad_effect_log_free(other);
    }
    rad_effect_log_free(first);
    return caught;
}

static int prepare(void *context, rad_session_vm *vm, rad_error *error)
{
    static uint32_t calls;
    counter = last_of_session_0 = 0;
    int status = rad_session_coroutine_state(vm, sizeof(int64_t), NULL, error);
    return status ? status : rad_session_handle(vm, NULL, *(rad_effect_handler **)context, &calls, error);
}

static bool is_invariant(const rad_protocols *p, rad_effect_handler *handler, rad_invariance *out)
{
    rad_invariance_options o = {.sessions = 3, .prepare = prepare, .context = &handler};
    rad_error error;
    if (rad_session_invariant(p, &o, out, &error) != 0) fail_msg("%s", error.text);
    return out->holds;
}

static void decision_7_dishonest_handlers_are_caught_and_named(void **state)
{
    (void)state;
    static const struct {
        rad_effect_handler *handler;
        const char *named;
    } all[] = {{reads_a_counter, "handler of a,"},
               {reads_the_clock, "handler of b,"},
               {reads_another_session, "session 2, A.2: handler of b,"}};
    rad_protocols *p = session_parse(talk);
    char text[300];
    rad_invariance i;
    assert_false(is_caught(p, honest, text, sizeof text));
    assert_true(is_invariant(p, honest, &i));
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        assert_true(is_caught(p, all[k].handler, text, sizeof text));
        if (strstr(text, all[k].named) == NULL) fail_msg("said: %s", text);
        assert_false(is_invariant(p, all[k].handler, &i));
        if (strstr(i.difference, all[k].named) == NULL) fail_msg("said: %s", i.difference);
    }
    rad_protocols_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_block_loses_nothing),
        cmocka_unit_test(full_error_is_a_fault),
        cmocka_unit_test(full_drop_loses_the_newest),
        cmocka_unit_test(full_latest_keeps_the_newest),
        cmocka_unit_test(full_resize_keeps_everything_up_to_a_bound),
        cmocka_unit_test(a_buffer_that_grows_keeps_the_order),
        cmocka_unit_test(decision_6_draws_have_a_place),
        cmocka_unit_test(decision_6_choices_are_real),
        cmocka_unit_test(decision_1_digests_are_the_happens_before_order),
        cmocka_unit_test(replay_never_calls_handlers),
        cmocka_unit_test(a_failure_is_replayed),
        cmocka_unit_test(a_mismatch_is_located),
        cmocka_unit_test(what_is_consumed_is_compared),
        cmocka_unit_test(handlers_are_told_who_and_with_whom),
        cmocka_unit_test(decision_7_dishonest_handlers_are_caught_and_named),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
