/* test_state.c — what handlers remember: each coroutine has state of its own (a session, a role, a parallel
 * branch), and a handler that uses anything else is caught and named. Only public calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session_support.h"
#include "storm_support.h"
#include "sync_support.h"

#include <raddle/session.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int prepare_call(void *context, rad_session_vm *vm, rad_error *error);

/* Sub-protocols, a family, a loop with parallel branches, a session that code opens. */
static const char everything[] =
    "protocol Greet { roles A, B A -> B: hello(int) B -> A: hello(int) }\n"
    "protocol Opened { roles C, D C -> D: inner(int) D -> C: inner(int) }\n"
    "protocol Main { roles Lead, W[1..3], X, Y\n"
    "for i in 1..3 { call Greet(Lead, W[i]) }\n"
    "loop More { choice at Lead { for i in 1..3 { Lead -> W[i]: task(int) }\n"
    "par { for i in 1..3 { W[i] -> Lead: left(int) } } and { W[1] -> W[2]: right(int) W[2] does "
    "look }\n"
    "continue More } or { for i in 1..3 { Lead -> W[i]: done } } }\n"
    "X -> Y: go(int) code X { open Opened\nopen Opened\nset r1 5\nsend Y go } }\n";

static int64_t amount(const rad_effect *e)
{
    return (int64_t)(e->draw % 1000);
}

/* Fills in whatever is asked for; of `value` if that is a number. Three rounds of a loop. */
static void answer(rad_effect *e, int64_t value)
{
    if (e->kind == RAD_EFFECT_SELECT) {
        e->chosen = e->occurrence < 12 ? 0 : 1;
        e->field_count = e->options[e->chosen].field_count;
        for (uint32_t i = 0; i < e->field_count; i++) e->fields[i].type = e->options[e->chosen].types[i];
    }
    if (e->kind == RAD_EFFECT_PRODUCE || e->kind == RAD_EFFECT_SELECT)
        for (uint32_t i = 0; i < e->field_count; i++) {
            e->fields[i].number = value;
            e->fields[i].text = "some";
            e->fields[i].length = 4;
        }
}

/* ---- Whose it is ---------------------------------------------------------------------------------------- */

typedef struct owner {
    char session[64], thread[64];
    uint64_t answered, blocked;
} owner;

static _Atomic uint64_t wrong; /* handlers on other threads cannot fail a test */

/* Blocks the first time it is asked for something, in every coroutine. */
static enum rad_effect_result look_whose(void *context, rad_effect *e)
{
    (void)context;
    static const owner nobody;
    owner *mine = e->coroutine_state;
    if (mine->thread[0] == 0) {
        wrong += memcmp(mine, &nobody, sizeof nobody) != 0 || e->occurrence != 0;
        snprintf(mine->session, sizeof mine->session, "%s", e->session);
        snprintf(mine->thread, sizeof mine->thread, "%s", e->thread);
        mine->blocked++;
        return RAD_EFFECT_BLOCKED;
    }
    wrong += strcmp(mine->session, e->session) != 0 || strcmp(mine->thread, e->thread) != 0 ||
             mine->answered++ != e->occurrence || mine->blocked != 1;
    answer(e, (int64_t)mine->answered);
    return RAD_EFFECT_DONE;
}

static int prepare_look(void *context, rad_session_vm *vm, rad_error *error)
{
    int status = rad_session_coroutine_state(vm, sizeof(owner), NULL, error);
    return status ? status : rad_session_handle(vm, NULL, look_whose, context, error);
}

static void each_coroutine_has_its_own(void **state)
{
    (void)state;
    static const uint32_t ns[] = SESSION_NS;
    rad_protocols *p = session_parse(everything);
    char digest[33] = "";
    wrong = 0;
    for (uint32_t i = 0; i < SESSION_N_COUNT * SESSION_POLICIES; i++) {
        rad_session_options o =
            session_options(ns[i % SESSION_N_COUNT], (enum rad_session_policy)(i / SESSION_N_COUNT));
        rad_session_vm *vm;
        o.start = i;
        assert_int_equal(rad_session_create(&vm, p, &o, NULL), 0);
        assert_int_equal(prepare_look(NULL, vm, NULL), 0);
        assert_int_equal(rad_session_open(vm, NULL, 3, NULL), 0);
        assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
        rad_session_info info = session_info(vm);
        assert_int_equal(info.sessions, 9);
        assert_int_equal(info.sessions_faulted, 0);
        assert_int_equal(wrong, 0);
        if (digest[0] == 0) memcpy(digest, info.digest, sizeof digest);
        assert_string_equal(info.digest, digest);
        rad_session_destroy(vm);
    }
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        rad_session_options o = rad_session_defaults();
        rad_session_crowd crowd = {.sessions = 3, .threads = threads, .prepare = prepare_look};
        rad_session_info info;
        enum rad_session_end end;
        assert_int_equal(rad_session_run_crowd(p, &o, &crowd, &end, &info, NULL, NULL), 0);
        assert_int_equal(wrong, 0);
        assert_string_equal(info.digest, digest);
    }
    rad_protocols_free(p);
}

/* ---- Three users who keep to the contract ------------------------------------------------------------------ */

/* One: a few numbers, the same for all roles. */
typedef struct till {
    int64_t calls, sum;
} till;

static enum rad_effect_result use_till(void *context, rad_effect *e)
{
    (void)context;
    till *t = e->coroutine_state;
    t->calls++;
    if (e->kind == RAD_EFFECT_CONSUME) t->sum += e->fields[0].number;
    answer(e, t->sum * 10 + t->calls);
    return RAD_EFFECT_DONE;
}

static int prepare_till(void *context, rad_session_vm *vm, rad_error *error)
{
    int status = rad_session_coroutine_state(vm, sizeof(till), NULL, error);
    return status ? status : rad_session_handle(vm, NULL, use_till, context, error);
}

/* Two: a text that grows, in memory of its own. */
typedef struct letter {
    char *text;
    size_t length;
} letter;

static int64_t letters; /* that are not freed */

static enum rad_effect_result use_letter(void *context, rad_effect *e)
{
    (void)context;
    letter *l = e->coroutine_state;
    char line[80];
    snprintf(line, sizeof line, "%s %lld\n", e->name ? e->name : "choice",
             e->kind == RAD_EFFECT_CONSUME ? (long long)e->fields[0].number : -1LL);
    char *longer = realloc(l->text, l->length + strlen(line) + 1);
    if (longer == NULL) return RAD_EFFECT_FAILED;
    letters += l->text == NULL;
    l->text = longer;
    memcpy(l->text + l->length, line, strlen(line) + 1);
    l->length += strlen(line);
    answer(e, (int64_t)l->length);
    return RAD_EFFECT_DONE;
}

static void drop_letter(void *state)
{
    letter *l = state;
    letters -= l->text != NULL;
    free(l->text);
}

static int prepare_letter(void *context, rad_session_vm *vm, rad_error *error)
{
    int status = rad_session_coroutine_state(vm, sizeof(letter), drop_letter, error);
    return status ? status : rad_session_handle(vm, NULL, use_letter, context, error);
}

/* Three: roles that know nothing of each other, each with what it needs, by name of the message. */
typedef union part {
    struct {
        int64_t tasks[4];
        uint32_t count;
    } lead;
    struct {
        bool greeted;
        int64_t last;
    } worker;
} part;

static enum rad_effect_result lead_sends_tasks(void *context, rad_effect *e)
{
    part *mine = e->coroutine_state;
    (void)context;
    if (e->kind == RAD_EFFECT_CONSUME) { /* a worker is asked under the same name */
        mine->worker.last = e->fields[0].number;
        return RAD_EFFECT_DONE;
    }
    uint32_t at = mine->lead.count++ % 4;
    mine->lead.tasks[at] += amount(e);
    answer(e, mine->lead.tasks[at]);
    return RAD_EFFECT_DONE;
}

static enum rad_effect_result worker_answers(void *context, rad_effect *e)
{
    part *mine = e->coroutine_state;
    (void)context;
    if (strcmp(e->role, "Lead") == 0) return RAD_EFFECT_DONE;
    answer(e, mine->worker.last * 2 + !mine->worker.greeted);
    mine->worker.greeted = true;
    return RAD_EFFECT_DONE;
}

static int prepare_parts(void *context, rad_session_vm *vm, rad_error *error)
{
    int status = rad_session_coroutine_state(vm, sizeof(part), NULL, error);
    if (status == 0) status = rad_session_handle(vm, "task", lead_sends_tasks, context, error);
    if (status == 0) status = rad_session_handle(vm, "left", worker_answers, context, error);
    return status;
}

static rad_invariance search(const char *text, prepare_call *prepare, void *context)
{
    rad_protocols *p = session_parse(text);
    rad_invariance_options o = {.sessions = 3, .seed = 1, .rounds = 20000, .prepare = prepare, .context = context};
    rad_invariance r;
    rad_error error;
    if (rad_session_invariant(p, &o, &r, &error) != 0) fail_msg("%s", error.text);
    rad_protocols_free(p);
    return r;
}

static void who_keeps_to_the_contract_is_never_reported(void **state)
{
    (void)state;
    prepare_call *const users[] = {prepare_till, prepare_letter, prepare_parts, prepare_look};
    wrong = 0;
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        rad_invariance r = search(everything, users[i], NULL);
        if (!r.holds) fail_msg("user %zu: %s", i, r.difference);
        assert_int_equal(r.complete, r.runs);
        assert_true(r.apart > 0); /* their handlers were tried without each other */
    }
    assert_int_equal(letters, 0);
    assert_int_equal(wrong, 0);
}

/* Blocks now and then, by what it remembers, and chooses as it is drawn. */
static enum rad_effect_result hesitate(void *context, rad_effect *e)
{
    till *t = e->coroutine_state;
    (void)context;
    if (++t->calls % 3 == 0) return RAD_EFFECT_BLOCKED;
    for (uint32_t i = 0; e->kind == RAD_EFFECT_CONSUME && i < e->field_count; i++)
        t->sum += e->fields[i].number + e->fields[i].length;
    answer(e, t->sum + t->calls);
    if (e->kind == RAD_EFFECT_SELECT) {
        e->chosen = (uint32_t)(e->draw % e->option_count);
        e->field_count = e->options[e->chosen].field_count;
        for (uint32_t i = 0; i < e->field_count; i++)
            e->fields[i] = (rad_session_value){e->options[e->chosen].types[i], 1, t->sum, "t"};
    }
    return RAD_EFFECT_DONE;
}

static int prepare_hesitate(void *context, rad_session_vm *vm, rad_error *error)
{
    int status = rad_session_coroutine_state(vm, sizeof(till), NULL, error);
    return status ? status : rad_session_handle(vm, NULL, hesitate, context, error);
}

/* Many of these are out of fuel, so that runs have come differently far. */
static void nor_is_it_in_random_protocols(void **state)
{
    (void)state;
    static const uint32_t ns[] = {2, RAD_SESSION_ALL};
    uint64_t exhausted = 0, complete = 0, count = storm_amount(60);
    for (uint64_t seed = 0; seed < count; seed++) {
        rad_error error;
        char *text = rad_protocols_generate(seed, NULL, &error);
        rad_protocols *p = session_parse(text);
        rad_invariance_options o = {
            .sessions = 2, .ns = ns, .n_count = 2, .seed = seed, .rounds = 400, .prepare = prepare_hesitate};
        rad_invariance r;
        assert_int_equal(rad_session_invariant(p, &o, &r, &error), 0);
        if (!r.holds) fail_msg("seed %llu: %s", (unsigned long long)seed, r.difference);
        assert_int_equal(r.faulted + r.stuck, 0);
        exhausted += r.exhausted;
        complete += r.complete;
        rad_protocols_free(p);
        rad_free(text);
    }
    assert_true(exhausted > 0 && complete > 0);
}

/* ---- Those who do not ---------------------------------------------------------------------------------- */

enum sharing {
    BY_TWO_ROLES, /* who comes first depends on the schedule */
    IN_ONE_ORDER, /* one writes before it sends, the other reads after it has received */
    BY_TWO_SESSIONS,
    BY_TWO_BRANCHES,
    STATE_OF_ANOTHER,
    THE_CLOCK,
    A_FAILURE_BY_TURNS,
    A_MISFIT_BY_TURNS
};

typedef struct shared {
    enum sharing kind;
    int64_t counter, price;
    const int64_t *others; /* state of the coroutine that was called last */
    int64_t nothing;
} shared;

static bool is_named(const rad_effect *e, const char *name)
{
    return e->kind == RAD_EFFECT_PRODUCE && strcmp(e->name, name) == 0;
}

static enum rad_effect_result share(void *context, rad_effect *e)
{
    shared *s = context;
    int64_t value = (int64_t)e->occurrence;
    struct timespec now;
    switch (s->kind) {
    case BY_TWO_ROLES:
    case BY_TWO_SESSIONS:
    case BY_TWO_BRANCHES:
        if (is_named(e, "x") || is_named(e, "y")) value = ++s->counter;
        break;
    case IN_ONE_ORDER:
        if (is_named(e, "x")) s->price = 40;
        if (is_named(e, "y")) value = s->price / 2;
        break;
    case STATE_OF_ANOTHER:
        if (is_named(e, "y")) value = *s->others;
        if (is_named(e, "x")) *(int64_t *)e->coroutine_state = 7;
        s->others = e->coroutine_state;
        break;
    case THE_CLOCK:
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (is_named(e, "y")) value = now.tv_sec * 1000000000 + now.tv_nsec;
        break;
    case A_FAILURE_BY_TURNS:
        if (e->kind == RAD_EFFECT_SELECT && s->counter++ == 0) return RAD_EFFECT_FAILED;
        break;
    case A_MISFIT_BY_TURNS:
        answer(e, value);
        if (is_named(e, "y") && s->counter++ == 0) e->field_count = 2;
        return RAD_EFFECT_DONE;
    }
    answer(e, value);
    return RAD_EFFECT_DONE;
}

static int prepare_shared(void *context, rad_session_vm *vm, rad_error *error)
{
    shared *s = context;
    *s = (shared){.kind = s->kind, .others = &s->nothing};
    int status = rad_session_coroutine_state(vm, sizeof(int64_t), NULL, error);
    return status ? status : rad_session_handle(vm, NULL, share, context, error);
}

static void who_shares_is_caught_and_named(void **state)
{
    (void)state;
    static const struct {
        enum sharing kind;
        const char *protocol, *named;
    } all[] = {
        {BY_TWO_ROLES, "protocol P { roles A, B, C A -> C: x(int) B -> C: y(int) }", ": handler of "},
        {IN_ONE_ORDER, "protocol P { roles A, B A -> B: x(int) B -> A: y(int) }",
         ", B: handler of y, effect 1: y 20 and y 0, when handlers of other coroutines are not "
         "called"},
        {BY_TWO_SESSIONS, "protocol P { roles A, B A -> B: x(int) }", "A: handler of x, effect 0: x "},
        {BY_TWO_BRANCHES, "protocol P { roles A, B par { A -> B: x(int) } and { A -> B: y(int) } }", ": handler of "},
        {STATE_OF_ANOTHER, "protocol P { roles A, B, C A -> C: x(int) B -> C: y(int) }",
         "B: handler of y, effect 0: y "},
        {THE_CLOCK, "protocol P { roles A, B A -> B: x(int) B -> A: y(int) }", "B: handler of y, effect 1: y "},
        {A_FAILURE_BY_TURNS, "protocol P { roles A, B choice at A { A -> B: go } or { A -> B: stop(int) } }",
         "A: handler of go, effect 0: go and failed"},
        {A_MISFIT_BY_TURNS, "protocol P { roles A, B A -> B: x(int) B -> A: y(int) }",
         "B: handler of y, effect 1: an answer that does not fit and y 1"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        shared s = {.kind = all[i].kind};
        rad_invariance r = search(all[i].protocol, prepare_shared, &s);
        if (r.holds) fail_msg("%zu is not caught", i);
        if (strstr(r.difference, all[i].named) == NULL) fail_msg("%zu: %s", i, r.difference);
    }
}

/* The values of x depend on who was first, at the fourth effect of B. The handler of y passes on what it was told, at
 * the second effect of A, and that of z, at the second of C: they differ as well, and keep to the contract. */
typedef struct relay {
    int64_t told;
} relay;

static enum rad_effect_result pass_on(void *context, rad_effect *e)
{
    shared *s = context;
    relay *mine = e->coroutine_state;
    if (e->kind == RAD_EFFECT_CONSUME) mine->told = e->fields[0].number;
    if (is_named(e, "w")) s->counter++;
    answer(e, is_named(e, "x") ? s->counter : mine->told);
    return RAD_EFFECT_DONE;
}

static int prepare_relay(void *context, rad_session_vm *vm, rad_error *error)
{
    shared *s = context;
    *s = (shared){.counter = 0};
    int status = rad_session_coroutine_state(vm, sizeof(relay), NULL, error);
    return status ? status : rad_session_handle(vm, NULL, pass_on, context, error);
}

static void who_passes_on_what_it_was_told_is_not_to_blame(void **state)
{
    (void)state;
    shared s;
    rad_invariance r = search("protocol P { roles A, B, C, D D -> C: w(int) B does a B does b B does c\n"
                              "B -> A: x(int) A -> C: y(int) C -> D: z(int) }",
                              prepare_relay, &s);
    assert_false(r.holds);
    if (strstr(r.difference, "B: handler of x, effect 3: x ") == NULL) fail_msg("%s", r.difference);
}

/* ---- How long it lives ----------------------------------------------------------------------------------- */

typedef struct counted {
    uint64_t given;
    bool dropped;
} counted;

static uint64_t given, dropped_once, dropped_again;

static enum rad_effect_result use_counted(void *context, rad_effect *e)
{
    counted *c = e->coroutine_state;
    given += c->given++ == 0;
    const char *fails_at = context;
    if (fails_at != NULL && e->name != NULL && strcmp(e->name, fails_at) == 0) return RAD_EFFECT_FAILED;
    answer(e, 1);
    return RAD_EFFECT_DONE;
}

static void drop_counted(void *state)
{
    counted *c = state;
    assert_true(c->given > 0); /* nobody has to drop what no handler has seen */
    dropped_once += !c->dropped;
    dropped_again += c->dropped;
    c->dropped = true;
}

static rad_session_vm *counted_vm(const rad_protocols *p, rad_session_options o, const char *fails_at)
{
    rad_session_vm *vm;
    given = dropped_once = dropped_again = 0;
    assert_int_equal(rad_session_create(&vm, p, &o, NULL), 0);
    assert_int_equal(rad_session_coroutine_state(vm, sizeof(counted), drop_counted, NULL), 0);
    assert_int_equal(rad_session_handle(vm, NULL, use_counted, (void *)fails_at, NULL), 0);
    return vm;
}

static void state_is_dropped_once_however_it_ends(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(everything);
    rad_session_options o = session_options(2, RAD_SESSION_PROGRESS);
    static const char *const failing[] = {NULL, "hello", "task", "right", "look", "inner", "go"};
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++)
        for (uint64_t rounds = 0; rounds < 150; rounds += 30) { /* 0: to the end */
            rad_session_vm *vm = counted_vm(p, o, failing[i]);
            assert_int_equal(rad_session_open(vm, NULL, 2, NULL), 0);
            rad_session_run(vm, rounds);
            if (rounds == 0) assert_int_equal(session_info(vm).sessions_faulted > 0, failing[i] != NULL);
            assert_int_equal(dropped_once + dropped_again, 0); /* it lives as long as the session */
            rad_session_destroy(vm);
            assert_true(given > 0);
            assert_int_equal(dropped_once, given);
            assert_int_equal(dropped_again, 0);
        }
    rad_protocols_free(p);
}

static void replay_gives_no_state_and_drops_none(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(everything);
    rad_session_options o = rad_session_defaults();
    o.record = true;
    rad_session_vm *vm = counted_vm(p, o, NULL);
    assert_int_equal(rad_session_open(vm, NULL, 2, NULL), 0);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    rad_effect_log *log = rad_session_take_effects(vm);
    rad_session_info before = session_info(vm);
    rad_session_destroy(vm);
    vm = counted_vm(p, o, NULL);
    rad_session_replay(vm, log);
    assert_int_equal(rad_session_open(vm, NULL, 2, NULL), 0);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    assert_string_equal(session_info(vm).digest, before.digest);
    rad_session_destroy(vm);
    assert_int_equal(given + dropped_once + dropped_again, 0);
    rad_effect_log_free(log);
    rad_protocols_free(p);
}

static enum rad_effect_result expect_no_state(void *context, rad_effect *e)
{
    (void)context;
    if (e->coroutine_state != NULL) return RAD_EFFECT_FAILED;
    answer(e, 1);
    return RAD_EFFECT_DONE;
}

static void size_has_a_limit(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B A -> B: x(int) }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm;
    rad_error error;
    assert_int_equal(rad_session_create(&vm, p, &o, NULL), 0);
    assert_int_equal(rad_session_coroutine_state(vm, RAD_COROUTINE_STATE_MAX + 1, NULL, &error), RAD_EINPUT);
    assert_string_equal(error.text, "state of a coroutine: 1048577 bytes, 1048576 at most");
    assert_int_equal(rad_session_coroutine_state(vm, RAD_COROUTINE_STATE_MAX, NULL, &error), 0);
    assert_int_equal(rad_session_open(vm, NULL, 2, NULL), 0);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    rad_session_destroy(vm);
    assert_int_equal(rad_session_create(&vm, p, &o, NULL), 0); /* none is wanted */
    assert_int_equal(rad_session_coroutine_state(vm, 0, drop_counted, NULL), 0);
    assert_int_equal(rad_session_handle(vm, NULL, expect_no_state, NULL, NULL), 0);
    assert_int_equal(rad_session_open(vm, NULL, 1, NULL), 0);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    assert_int_equal(session_info(vm).sessions_faulted, 0);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

static void gives_state_too_late(void)
{
    rad_protocols *p = session_parse("protocol P { roles A A does x }");
    rad_session_options o = rad_session_defaults();
    rad_session_coroutine_state(session_vm(p, &o, 1), 8, NULL, NULL);
}

static void state_comes_before_sessions(void **state)
{
    (void)state;
    expect_misuse(gives_state_too_late, "rad_session_coroutine_state: sessions are open already");
}

/* ---- Looked at from outside ------------------------------------------------------------------------------- */

static void is_at(const rad_session_vm *vm, uint32_t number, const char *expected)
{
    rad_coroutine c;
    char text[400];
    assert_true(rad_session_coroutine(vm, number, &c));
    int used = snprintf(text, sizeof text, "%s %s/%s phase %d, %s, %s > %s, %s, line %u, %llu %llu:", c.session, c.role,
                        c.thread, (int)c.phase, c.waits ? c.waits : "-", c.from ? c.from : "-", c.to ? c.to : "-",
                        c.fault ? c.fault : "-", c.line, (unsigned long long)c.events, (unsigned long long)c.effects);
    for (uint32_t i = 0; i < c.register_count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %d %lld %u '%s'", (int)c.registers[i].type,
                         (long long)c.registers[i].number, c.registers[i].length, c.registers[i].text);
    assert_string_equal(text, expected);
}

static enum rad_effect_result say_it(void *context, rad_effect *e)
{
    (void)context;
    if (e->kind == RAD_EFFECT_DOES) return RAD_EFFECT_BLOCKED;
    if (e->kind != RAD_EFFECT_PRODUCE) return RAD_EFFECT_FAILED;
    e->fields[0].number = -5;
    e->fields[1].text = "five";
    e->fields[1].length = 4;
    e->fields[2].number = 1;
    return RAD_EFFECT_DONE;
}

/* Where it is, what it waits for, what it holds: before the first round, at waits of several kinds, at a fault. */
static void coroutines_can_be_looked_at(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B, C\nA -> B: x(int, text, bool)\n"
                                     "C does d\npar { A -> C: y } and { C -> A: z } }");
    rad_session_options o = session_options(RAD_SESSION_ALL, RAD_SESSION_ROUND_ROBIN);
    rad_session_vm *vm;
    rad_coroutine c;
    assert_int_equal(rad_session_create(&vm, p, &o, NULL), 0);
    assert_int_equal(rad_session_handle(vm, NULL, say_it, NULL, NULL), 0);
    assert_int_equal(rad_session_coroutine_count(vm), 0);
    assert_false(rad_session_coroutine(vm, 0, &c));
    assert_int_equal(rad_session_open(vm, NULL, 2, NULL), 0);
    assert_int_equal(rad_session_coroutine_count(vm), 14);
    assert_false(rad_session_coroutine(vm, 14, &c));
#define ZEROS " 0 0 0 '' 0 0 0 '' 0 0 0 '' 0 0 0 ''"
    is_at(vm, 0, "0 A/A phase 2, begins in the next round, - > -, -, line 2, 0 0:" ZEROS);
    is_at(vm, 3, "0 A/A.1 phase 0, -, - > -, -, line 0, 0 0:" ZEROS);
    rad_session_run(vm, 1);
    is_at(vm, 0, "0 A/A phase 1, -, - > -, -, line 2, 1 1: 0 0 0 '' 0 -5 0 '' 2 0 4 'five' 1 1 0 ''");
    is_at(vm, 7, "1 A/A phase 1, -, - > -, -, line 2, 1 1: 0 0 0 '' 0 -5 0 '' 2 0 4 'five' 1 1 0 ''");
    is_at(vm, 8, "1 B/B phase 2, waits for a message, A > B, -, line 2, 0 0:" ZEROS);
    is_at(vm, 9, "1 C/C phase 2, waits for its handler, - > -, -, line 3, 0 0:" ZEROS);
    rad_session_run(vm, 20);
    static const char fault[] = "the handler failed"; /* B was told something */
    for (uint32_t i = 0; i < 14; i += 7) {
        assert_true(rad_session_coroutine(vm, i + 1, &c));
        assert_int_equal(c.phase, RAD_COROUTINE_FAULTED);
        assert_string_equal(c.fault, fault);
        assert_int_equal(c.line, 2);
        assert_true(rad_session_coroutine(vm, i + 2, &c));
        assert_string_equal(c.fault, fault);
        assert_int_equal(c.line, 0);
        assert_null(c.waits);
    }
    rad_session_destroy(vm);
    rad_protocols_free(p);
    p = session_parse("locals P { roles A, B local A { A -> B: x(text) A -> B: x(text) }\n"
                      "local B { } code A { set r1 \"\"\nsend B x\nsend B x } }");
    vm = session_vm(p, &o, 1); /* nobody takes the first one, an empty text */
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_STUCK);
    assert_true(rad_session_coroutine(vm, 0, &c));
    assert_string_equal(c.waits, "waits for room");
    assert_string_equal(c.from, "A");
    assert_string_equal(c.to, "B");
    assert_int_equal(c.registers[1].type, RAD_VALUE_TEXT);
    assert_string_equal(c.registers[1].text, "");
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* ---- On record, and interrupted ------------------------------------------------------------------------ */

/* An answer that does not fit is an answer: it is on record, and does not fit when it is replayed. */
static void a_misfit_is_replayed(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B A -> B: x(int) B -> A: y(int) }");
    rad_session_options o = rad_session_defaults();
    shared s = {.kind = A_MISFIT_BY_TURNS};
    rad_session_vm *first, *again;
    o.record = true;
    assert_int_equal(rad_session_create(&first, p, &o, NULL), 0);
    assert_int_equal(prepare_shared(&s, first, NULL), 0);
    assert_int_equal(rad_session_open(first, NULL, 2, NULL), 0);
    rad_session_run(first, 0);
    assert_int_equal(session_info(first).sessions_faulted, 1);
    rad_effect_log *log = rad_session_take_effects(first);
    assert_int_equal(rad_session_create(&again, p, &o, NULL), 0);
    rad_session_replay(again, log);
    assert_int_equal(rad_session_open(again, NULL, 2, NULL), 0);
    rad_session_run(again, 0);
    assert_string_equal(session_info(again).digest, session_info(first).digest);
    rad_session_destroy(first);
    rad_session_destroy(again);
    rad_effect_log_free(log);
    rad_protocols_free(p);
}

/* Nothing was chosen, so all that could have been is named. */
static void a_choice_that_failed_is_named(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B choice at A { A -> B: go } or { A -> B: stop(int) } }");
    rad_effect_log *logs[2];
    for (int i = 0; i < 2; i++) {
        rad_session_options o = rad_session_defaults();
        shared s = {.kind = A_FAILURE_BY_TURNS};
        rad_session_vm *vm;
        o.record = true;
        assert_int_equal(rad_session_create(&vm, p, &o, NULL), 0);
        assert_int_equal(prepare_shared(&s, vm, NULL), 0);
        s.counter = i;
        assert_int_equal(rad_session_open(vm, NULL, 1, NULL), 0);
        rad_session_run(vm, 0);
        logs[i] = rad_session_take_effects(vm);
        rad_session_destroy(vm);
    }
    char text[200];
    assert_true(rad_effect_log_differ(logs[0], logs[1], text, sizeof text));
    assert_string_equal(text, "session 0, A: handler of go or stop, effect 0: failed and go");
    assert_false(rad_effect_log_differ(logs[0], logs[0], text, sizeof text));
    rad_effect_log_free(logs[0]);
    rad_effect_log_free(logs[1]);
    rad_protocols_free(p);
}

static volatile int stop;

static enum rad_effect_result stop_at_last(void *context, rad_effect *e)
{
    (void)context;
    if (e->occurrence >= 2000) stop = 1;
    return RAD_EFFECT_DONE;
}

static int prepare_stop(void *context, rad_session_vm *vm, rad_error *error)
{
    return ++*(uint32_t *)context == 31 ? rad_session_handle(vm, "x", stop_at_last, NULL, error) : 0;
}

/* The last of 31 runs is cut short: that is no answer. */
static void an_interrupt_in_the_last_run_is_told(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B loop L { A -> B: x(int) continue L } }");
    uint32_t runs = 0;
    rad_error error;
    rad_invariance r;
    rad_invariance_options o = {.rounds = 9000, .prepare = prepare_stop, .context = &runs, .interrupted = &stop};
    assert_int_equal(rad_session_invariant(p, &o, &r, &error), RAD_EINTERRUPTED);
    assert_int_equal(r.runs, 30);
    rad_protocols_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_coroutine_has_its_own),
        cmocka_unit_test(who_keeps_to_the_contract_is_never_reported),
        cmocka_unit_test(nor_is_it_in_random_protocols),
        cmocka_unit_test(who_shares_is_caught_and_named),
        cmocka_unit_test(who_passes_on_what_it_was_told_is_not_to_blame),
        cmocka_unit_test(state_is_dropped_once_however_it_ends),
        cmocka_unit_test(replay_gives_no_state_and_drops_none),
        cmocka_unit_test(size_has_a_limit),
        cmocka_unit_test(state_comes_before_sessions),
        cmocka_unit_test(coroutines_can_be_looked_at),
        cmocka_unit_test(a_misfit_is_replayed),
        cmocka_unit_test(a_choice_that_failed_is_named),
        cmocka_unit_test(an_interrupt_in_the_last_run_is_told),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
