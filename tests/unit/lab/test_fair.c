/* test_fair.c — locks that spin, under every strategy: those that are correct are clean and end, those that are broken
 * are found, and a livelock is one only with a fair round of steps as evidence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/artifact.h"
#include "lab/machines/toys/vm.h"
#include "rig_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Locks ----------------------------------------------------------------------------------------------- */

enum { THREADS };

/* What happens between taking a lock and giving it back: nobody else is there. No steps of their own. */
static void comes_in(rad_vm *vm, uint32_t inside)
{
    vm_quiet_load(vm, R0, inside, 0);
    vm_claim(vm, R0, VM_EQ, 0, inside, "two are inside");
    vm_quiet_store(vm, inside, 0, 1);
}

static void goes_out(rad_vm *vm, uint32_t inside)
{
    vm_quiet_store(vm, inside, 0, 0);
    vm_end(vm);
}

static void threads(rad_vm *vm, const rad_case *c, const uint32_t *program)
{
    for (uint32_t i = 0; i < c->params[THREADS]; i++) rad__vm_thread(vm, "thread", program[i], true);
}

/* The bug: the turn is given before the flag is raised. */
static void peterson_build(rad_vm *vm, const rad_case *c)
{
    uint32_t inside = vm_about(vm, "inside"), turn = vm_cell(vm, "turn", 0);
    uint32_t flags = rad__vm_cells(vm, "flag", 2, 0), program[8] = {0};
    for (int32_t i = 0; i < 2; i++) {
        program[i] = vm_here(vm);
        if (!c->repaired) vm_store(vm, 1, turn, 1 - i);
        vm_store_at(vm, 0, flags, i, 1);
        if (c->repaired) vm_store(vm, 1, turn, 1 - i);
        uint32_t again = vm_here(vm);
        vm_load_at(vm, 2, R1, flags, 1 - i);
        uint32_t alone = vm_jump_if(vm, R1, VM_EQ, 0);
        vm_load(vm, 3, R1, turn);
        vm_back_if(vm, again, R1, VM_NE, i);
        vm_land(vm, alone);
        comes_in(vm, inside);
        vm_store_at(vm, 4, flags, i, 0);
        goes_out(vm, inside);
    }
    threads(vm, c, program);
}

/* The bug: taking a ticket is a load and a store. */
static void ticket_build(rad_vm *vm, const rad_case *c)
{
    uint32_t inside = vm_about(vm, "inside"), next = vm_cell(vm, "next", 0);
    uint32_t serves = vm_cell(vm, "serves", 0), program[8];
    for (uint32_t i = 0; i < 8; i++) program[i] = vm_here(vm);
    if (c->repaired) {
        vm_fetch_add(vm, 0, R2, next, 1);
    } else {
        vm_load(vm, 0, R2, next);
        vm_add(vm, R1, R2, 1);
        vm_store(vm, 1, next, R1);
    }
    uint32_t again = vm_here(vm);
    vm_load(vm, 2, R1, serves);
    vm_back_if(vm, again, R1, VM_NE, R2);
    comes_in(vm, inside);
    vm_add(vm, R2, R2, 1);
    vm_store(vm, 3, serves, R2);
    goes_out(vm, inside);
    threads(vm, c, program);
}

/* The same, and whoever is not next gives way before it looks again. */
static void backoff_build(rad_vm *vm, const rad_case *c)
{
    uint32_t inside = vm_about(vm, "inside"), next = vm_cell(vm, "next", 0);
    uint32_t serves = vm_cell(vm, "serves", 0), program[8];
    for (uint32_t i = 0; i < 8; i++) program[i] = vm_here(vm);
    if (c->repaired) vm_fetch_add(vm, 0, R2, next, 1);
    if (!c->repaired) vm_load(vm, 0, R2, next);
    if (!c->repaired) vm_add(vm, R1, R2, 1);
    if (!c->repaired) vm_store(vm, 1, next, R1);
    uint32_t again = vm_here(vm);
    vm_load(vm, 2, R1, serves);
    uint32_t mine = vm_jump_if(vm, R1, VM_EQ, R2);
    if (c->repaired) vm_add(vm, R3, R3, 1); /* how often it did */
    vm_yield(vm, 3);
    vm_back(vm, again);
    vm_land(vm, mine);
    comes_in(vm, inside);
    vm_add(vm, R2, R2, 1);
    vm_store(vm, 4, serves, R2);
    goes_out(vm, inside);
    threads(vm, c, program);
}

/* The bug: the flag is raised after the look at the other one's. */
static void dekker_build(rad_vm *vm, const rad_case *c)
{
    uint32_t inside = vm_about(vm, "inside"), turn = vm_cell(vm, "turn", 0);
    uint32_t flags = rad__vm_cells(vm, "flag", 2, 0), program[8] = {0};
    for (int32_t i = 0; i < 2; i++) {
        program[i] = vm_here(vm);
        if (c->repaired) vm_store_at(vm, 0, flags, i, 1);
        uint32_t again = vm_here(vm);
        vm_load_at(vm, 1, R1, flags, 1 - i);
        uint32_t alone = vm_jump_if(vm, R1, VM_EQ, 0);
        vm_load(vm, 2, R1, turn);
        vm_back_if(vm, again, R1, VM_EQ, i);
        vm_store_at(vm, 0, flags, i, 0);
        uint32_t wait = vm_here(vm);
        vm_load(vm, 3, R1, turn);
        vm_back_if(vm, wait, R1, VM_NE, i);
        vm_store_at(vm, 0, flags, i, 1);
        vm_back(vm, again);
        vm_land(vm, alone);
        if (!c->repaired) vm_store_at(vm, 0, flags, i, 1);
        comes_in(vm, inside);
        vm_store(vm, 4, turn, 1 - i);
        vm_store_at(vm, 0, flags, i, 0);
        goes_out(vm, inside);
    }
    threads(vm, c, program);
}

/* Each adds 1, twice, by compare-and-swap; a third one waits for the sum. The bug: what is added was read before. */
static void retry_build(rad_vm *vm, const rad_case *c)
{
    uint32_t sum = vm_cell(vm, "sum", 0), left = vm_cell(vm, "left", 2), program[8];
    for (uint32_t i = 0; i < 8; i++) program[i] = vm_here(vm);
    uint32_t again = vm_here(vm);
    vm_load(vm, 0, R1, sum);
    vm_add(vm, R2, R1, 1);
    if (c->repaired) vm_compare_exchange(vm, 1, R3, sum, R1, R2);
    if (c->repaired) vm_back_if(vm, again, R3, VM_NE, R1);
    if (!c->repaired) vm_store(vm, 1, sum, R2);
    vm_fetch_add(vm, 2, R4, left, -1);
    uint32_t last = vm_jump_if(vm, R4, VM_EQ, 1);
    uint32_t wait = vm_here(vm);
    vm_load(vm, 3, R4, left);
    vm_back_if(vm, wait, R4, VM_NE, 0);
    vm_land(vm, last);
    vm_load(vm, 4, R1, sum);
    vm_claim(vm, R1, VM_EQ, 2, sum, "something was not added");
    vm_end(vm);
    threads(vm, c, program);
}

/* The bug: looking at the lock and taking it are two steps. */
static void lock_build(rad_vm *vm, const rad_case *c, bool yields, bool cas)
{
    uint32_t inside = vm_about(vm, "inside"), lock = vm_cell(vm, "lock", 0), program[8];
    for (uint32_t i = 0; i < 8; i++) program[i] = vm_here(vm);
    uint32_t again = vm_here(vm);
    if (!c->repaired)
        vm_load(vm, 0, R1, lock);
    else if (cas)
        vm_compare_exchange(vm, 0, R1, lock, 0, 1);
    else
        vm_exchange(vm, 0, R1, lock, 1);
    uint32_t took = vm_jump_if(vm, R1, VM_EQ, 0);
    if (yields) vm_yield(vm, 1);
    vm_back(vm, again);
    vm_land(vm, took);
    if (!c->repaired) vm_store(vm, 2, lock, 1);
    comes_in(vm, inside);
    vm_store(vm, 3, lock, 0);
    goes_out(vm, inside);
    threads(vm, c, program);
}

static void plain_lock_build(rad_vm *vm, const rad_case *c)
{
    lock_build(vm, c, false, false);
}

static void yielding_lock_build(rad_vm *vm, const rad_case *c)
{
    lock_build(vm, c, true, false);
}

static void cas_lock_build(rad_vm *vm, const rad_case *c)
{
    lock_build(vm, c, false, true);
}

/* The bug: the reader does not look at the sequence again. */
static void seqlock_build(rad_vm *vm, const rad_case *c)
{
    uint32_t halves = rad__vm_cells(vm, "half", 2, 0), sequence = vm_cell(vm, "sequence", 0);
    uint32_t program[8] = {vm_here(vm)};
    vm_store(vm, 0, sequence, 1);
    vm_store_at(vm, 1, halves, 0, 1);
    vm_store_at(vm, 1, halves, 1, 1);
    vm_store(vm, 0, sequence, 2);
    vm_end(vm);
    program[1] = vm_here(vm);
    vm_load(vm, 2, R1, sequence);
    vm_and(vm, R0, R1, 1);
    vm_back_if(vm, program[1], R0, VM_EQ, 1);
    vm_load_at(vm, 3, R2, halves, 0);
    vm_load_at(vm, 3, R3, halves, 1);
    if (c->repaired) {
        vm_load(vm, 4, R4, sequence);
        vm_back_if(vm, program[1], R4, VM_NE, R1);
    }
    vm_claim(vm, R2, VM_EQ, R3, sequence, "half of it was read");
    vm_end(vm);
    threads(vm, c, program);
}

/* After you: each raises its flag and lowers it when it sees the other's. The bug is that both may go on like that. */
static void polite_build(rad_vm *vm, const rad_case *c)
{
    uint32_t inside = vm_about(vm, "inside"), flags = rad__vm_cells(vm, "flag", 2, 0);
    uint32_t program[8] = {0};
    for (int32_t i = 0; i < 2; i++) {
        program[i] = vm_here(vm);
        vm_store_at(vm, 0, flags, i, 1);
        uint32_t look = vm_here(vm);
        vm_load_at(vm, 1, R1, flags, 1 - i);
        uint32_t alone = vm_jump_if(vm, R1, VM_EQ, 0);
        if (c->repaired && i == 0) vm_back(vm, look); /* the other one is polite enough */
        vm_store_at(vm, 2, flags, i, 0);
        vm_yield(vm, 3);
        if (c->repaired) { /* and waits until it is its turn */
            uint32_t wait = vm_here(vm);
            vm_load_at(vm, 3, R1, flags, 1 - i);
            vm_back_if(vm, wait, R1, VM_EQ, 1);
        }
        vm_back(vm, program[i]);
        vm_land(vm, alone);
        comes_in(vm, inside);
        vm_store_at(vm, 4, flags, i, 0);
        goes_out(vm, inside);
    }
    threads(vm, c, program);
}

/* Everybody waits for a flag that only the first one raises. The bug: it waits, too. */
static void flag_build(rad_vm *vm, const rad_case *c)
{
    uint32_t flag = vm_cell(vm, "flag", 0), program[8];
    for (uint32_t i = 0; i < 8; i++) {
        program[i] = vm_here(vm);
        if (i == 0 && c->repaired) vm_store(vm, 0, flag, 1);
        if (i < 2) vm_load(vm, 1, R1, flag);
        if (i < 2) vm_back_if(vm, program[i], R1, VM_EQ, 0);
        if (i < 2) vm_end(vm);
        if (i > 1) program[i] = program[1];
    }
    threads(vm, c, program);
}

static const char *const sites[] = {"zero", "one", "two", "three", "four", NULL};

#define LOCK(word, what, wrong, count)                                                                                 \
    static const vm_toy word##_toy = {.build = word##_build, .sites = sites};                                          \
    static const rad_param word##_params[] = {[THREADS] = {"threads", count, 1, 8, "how many", true}, {.name = NULL}}; \
    static const rad_machine word##_machine = {.name = "fair-" #word,                                                  \
                                               .about = what,                                                          \
                                               .params = word##_params,                                                \
                                               .bug = wrong,                                                           \
                                               .bug_site = RAD_NONE,                                                   \
                                               .own = &word##_toy,                                                     \
                                               VM_FUNCTIONS};

LOCK(peterson, "Peterson's lock", "the turn comes first", 2)
LOCK(ticket, "a ticket lock", "taking a ticket is not atomic", 2)
LOCK(plain_lock, "a spin lock", "taking it is not atomic", 2)
LOCK(yielding_lock, "a spin lock that yields", "taking it is not atomic", 2)
LOCK(cas_lock, "a spin lock by compare-and-swap", "taking it is not atomic", 2)
LOCK(backoff, "a ticket lock that backs off", "taking a ticket is not atomic", 2)
LOCK(dekker, "Dekker's lock", "the flag is raised too late", 2)
LOCK(retry, "a sum by compare-and-swap", "the sum is not looked at again", 2)
LOCK(seqlock, "a sequence lock", "no second look", 2)
LOCK(polite, "two that are polite", "too polite", 2)
LOCK(flag, "all wait for a flag", "nobody raises it", 2)

static const rad_machine *const locks[] = {&peterson_machine,      &ticket_machine,   &plain_lock_machine,
                                           &yielding_lock_machine, &cas_lock_machine, &backoff_machine,
                                           &retry_machine,         &seqlock_machine,  &dekker_machine};
enum { LOCKS = sizeof locks / sizeof *locks };

static rad_target target(const rad_machine *m, bool repaired, int64_t count)
{
    rad_error error = {0};
    rad_target t;
    if (rad_machine_find(m->name) == NULL) assert_int_equal(rad_machine_add(m, &error), 0);
    assert_int_equal(rad_target_init(&t, m->name, &error), 0);
    t.c.repaired = repaired;
    t.c.params[THREADS] = count;
    return t;
}

static rad_exploration explored(const rad_target *t, const char *strategy, uint64_t runs)
{
    rad_error error = {0};
    rad_exploration x;
    rad_explore_options o = {.strategy = strategy, .seed = 1, .runs = runs};
    if (rad_lab_explore(t, &o, &x, &error) != 0) fail_msg("%s: %s", strategy, error.text);
    return x;
}

/* ---- Clean, and at an end -------------------------------------------------------------------------------- */

static void a_correct_lock_has_an_end_under_dfs(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < LOCKS; i++) {
        char text[RAD_STATEMENT_MAX];
        rad_target t = target(locks[i], true, 2);
        bool too_many = locks[i] == &dekker_machine;
        rad_exploration x = explored(&t, too_many ? "preempt:4" : "dfs", 100000);
        rad_exploration_text(&t, &x, text);
        print_message("# %s: %s\n", t.machine->name, text);
        assert_true(too_many ? x.phases[x.phase_count - 1].exhausted : x.complete);
        assert_int_equal(x.failures, 0);
        assert_int_equal(x.cut, 0);
        assert_true(x.held > 0 && x.held < x.runs);
        assert_non_null(strstr(text, too_many ? "but all fair ones with at most 4 preemptions"
                                              : "; every fair schedule was tried"));
        assert_non_null(strstr(text, "fair schedules only"));
        rad_exploration_free(&x);
    }
}

static void a_correct_lock_is_clean_under_every_strategy(void **state)
{
    static const char *const strategies[] = {"auto",      "random",  "pct:3", "surw", "pos",
                                             "preempt:2", "delay:3", "first", "fair"};
    (void)state;
    for (uint32_t i = 0; i < LOCKS; i++) {
        bool more =
            locks[i] == &plain_lock_machine || locks[i] == &yielding_lock_machine || locks[i] == &cas_lock_machine;
        rad_target t = target(locks[i], true, more ? 3 : 2);
        for (uint32_t s = 0; s < sizeof strategies / sizeof *strategies; s++) {
            rad_exploration x = explored(&t, strategies[s], 300);
            assert_int_equal(x.failures, 0);
            assert_int_equal(x.cut, 0);
            assert_true(x.steps <= 100 * x.runs); /* with a limit of 100,000 a run */
            rad_exploration_free(&x);
        }
    }
}

/* The policies that do not draw would stay in a loop for ever. */
static void the_first_one_does_not_keep_the_lock_from_the_last(void **state)
{
    (void)state;
    rad_target t = target(&flag_machine, true, 4);
    for (uint32_t i = 0; i < 2; i++) {
        rad_error error = {0};
        rad_verdict v = {0};
        rad_run_request r = {.policy = i == 0 ? "first" : "own"};
        assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
        assert_int_equal(v.result, RAD_RESULT_PASS);
        assert_true(v.steps < 60);
    }
}

static void nothing_is_left_out_where_nobody_spins(void **state)
{
    (void)state;
    char text[RAD_STATEMENT_MAX];
    rad_target t = target_of("counter", NULL);
    t.c.repaired = true;
    rad_exploration x = explored(&t, "dfs", 1000);
    rad_exploration_text(&t, &x, text);
    assert_true(x.complete);
    assert_int_equal(x.held, 0);
    assert_non_null(strstr(text, "; every schedule was tried"));
    assert_null(strstr(text, "fair"));
    rad_exploration_free(&x);
}

/* ---- Found ------------------------------------------------------------------------------------------------ */

static void a_broken_lock_is_found_shrunk_and_certified(void **state)
{
    static const char *const strategies[] = {"auto", "dfs", "random", "pct:3", "surw", "pos"};
    (void)state;
    for (uint32_t i = 0; i < LOCKS; i++) {
        rad_target t = target(locks[i], false, 2);
        for (uint32_t s = 0; s < sizeof strategies / sizeof *strategies; s++) {
            rad_error error = {0};
            rad_artifact *small;
            rad_shrink_report r;
            rad_replay again;
            rad_exploration x = explored(&t, strategies[s], 1000);
            const rad_artifact *a = NULL;
            for (uint32_t f = 0; f < x.finding_count && a == NULL; f++) {
                const char *kind = rad_artifact_verdict(x.findings[f].artifact)->kind;
                if (strcmp(kind, "assertion") == 0) a = x.findings[f].artifact;
                /* Who has a ticket that was served before waits for ever. */
                assert_true(a != NULL || locks[i] == &ticket_machine || locks[i] == &backoff_machine);
            }
            assert_non_null(a);
            assert_int_equal(x.cut, 0);
            assert_int_equal(rad_lab_shrink(a, NULL, &small, &r, &error), 0);
            assert_int_equal(r.certificate, RAD_MINIMAL);
            assert_in_range(r.after.preemptions, 1, 2);
            assert_int_equal(rad_lab_replay(small, NULL, &again, &error), 0);
            assert_true(again.as_recorded);
            rad_artifact_free(small);
            rad_artifact_free(r.second);
            rad_exploration_free(&x);
        }
    }
}

/* ---- Livelock ---------------------------------------------------------------------------------------------- */

/* What the report claims, looked at step by step. */
typedef struct evidence {
    rad_observer observer;
    rad_digest after[200];
    uint32_t actor[200], steps;
    bool able[200][8]; /* after the step */
} evidence;

static void evidence_ran(rad_observer *o, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    evidence *e = (evidence *)o;
    rad_state_hash h = {{0, 0}};
    (void)f;
    assert_true(e->steps < 200);
    k->machine->state(k->self, &h);
    e->after[e->steps] = h.digest;
    e->actor[e->steps] = k->actions[action].actor;
    for (uint32_t i = 0; i < k->action_count; i++)
        if (rad_is_enabled(k, i)) e->able[e->steps][k->actions[i].actor] = true;
    e->steps++;
}

static void look_at_the_evidence(const rad_artifact *a, const rad_target *t)
{
    evidence e = {.observer = {.ran = evidence_ran}};
    bare_rig b;
    void *self;
    rad_error error = {0};
    unsigned from = 0, to = 0, count = 0;
    uint32_t list[200];
    const char *message = rad_artifact_verdict(a)->message;
    assert_int_equal(sscanf(message, "steps %u to %u can repeat forever", &from, &to), 2);
    char *text = rad_artifact_json(a, &error), *at = strchr(strstr(text, "\"choices\""), '[') + 1;
    for (; at += strspn(at, " \n\t,"), *at != ']';) list[count++] = (uint32_t)strtoul(at, &at, 10);
    rad_free(text);
    assert_int_equal(t->machine->create(&self, t->machine, &t->c, &error), 0);
    bare_open(&b, t->machine, self, 1000);
    b.observer = &e.observer;
    b.fair = true;
    assert_int_equal(bare_guide(&b, list, count), RAD_OUTCOME_FAILED);
    assert_true(from > 0 && from <= to && to == e.steps - 1);
    assert_true(rad__digest_equal(e.after[from - 1], e.after[to]));
    for (uint32_t actor = 0; actor < 8; actor++) {
        bool could = false, did = false;
        for (uint32_t i = from; i <= to; i++) {
            could |= e.able[i][actor];
            did |= e.actor[i] == actor;
        }
        assert_int_equal(could, did);
    }
    bare_close(&b);
    t->machine->destroy(self);
}

static void a_livelock_comes_with_a_fair_round(void **state)
{
    static const char *const strategies[] = {"auto", "dfs", "random", "fair"};
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        const rad_machine *m = i < 4 ? &polite_machine : &flag_machine;
        rad_target t = target(m, false, i < 4 ? 2 : 3);
        rad_exploration x = explored(&t, strategies[i % 4], 500);
        rad_error error = {0};
        rad_artifact *small;
        rad_shrink_report r;
        rad_replay again;
        assert_int_equal(x.finding_count, 1);
        assert_int_equal(x.cut, 0);
        const rad_artifact *a = x.findings[0].artifact;
        assert_string_equal(rad_artifact_verdict(a)->identity, "livelock:flag");
        look_at_the_evidence(a, &t);
        assert_int_equal(rad_lab_shrink(a, NULL, &small, &r, &error), 0);
        look_at_the_evidence(small, &t);
        assert_int_equal(rad_lab_replay(small, NULL, &again, &error), 0);
        assert_true(again.as_recorded);
        rad_artifact_free(small);
        rad_artifact_free(r.second);
        rad_exploration_free(&x);
    }
}

/* With the bug repaired all of it ends, however long somebody is polite. */
static void a_loop_that_fairness_ends_is_no_livelock(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        rad_target t = target(i == 0 ? &polite_machine : &flag_machine, true, 2);
        rad_exploration x = explored(&t, "dfs", 20000);
        assert_true(x.complete);
        assert_int_equal(x.failures, 0);
        assert_int_equal(x.cut, 0);
        assert_true(x.evaluations[RAD_ORACLE_LIVELOCK] > 0);
        rad_exploration_free(&x);
    }
}

/* Of a machine without `state` nobody can say that it goes round. */
static void without_a_state_a_run_is_cut(void **state)
{
    static rad_machine m;
    (void)state;
    rad_target t = target(&flag_machine, false, 2);
    m = *t.machine;
    m.state = NULL;
    t.machine = &m;
    t.c.max_steps = 500;
    rad_exploration x = explored(&t, "random", 5);
    assert_int_equal(x.failures, 0);
    assert_int_equal(x.cut, 5);
    rad_exploration_free(&x);
}

/* ---- What is a look ----------------------------------------------------------------------------------------- */

/* Two actors, one step at a time: the first looks at an object, the second waits for its turn. */
enum manner { LOOKS, LOOKS_AT_NEW, SAYS_NOTHING, WRITES, ONLY_SAYS_SO, CHOOSES, COUNTS, MANNERS };

static enum manner manner;

static void looker_reset(puppet *p, rad_kernel *k)
{
    p->number = 0;
    p->objects[0] = rad_object(k, RAD_NONE, "table");
    p->objects[1] = rad_object(k, RAD_NONE, "other");
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "actor"), RAD_NONE, 0);
        bool writes = i == 0 && (manner == WRITES || manner == ONLY_SAYS_SO);
        rad_announce(k, p->actions[i], i, p->objects[i], writes ? RAD_WRITE : RAD_READ);
        rad_enable(k, p->actions[i]);
    }
}

static void looker_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (action == p->actions[1]) {
        rad_disable(k, action);
        return;
    }
    if (manner != SAYS_NOTHING) rad_value(k, manner == COUNTS ? p->number : 7);
    if (manner == ONLY_SAYS_SO) rad_looked(k);
    if (manner == CHOOSES) rad_pick(k, RAD_PICK_VALUE, 0, 2);
    if (manner == LOOKS_AT_NEW) {
        p->objects[0] = rad_object(k, RAD_NONE, "table");
        rad_announce(k, action, 0, p->objects[0], RAD_READ);
    }
    if (++p->number == 20) rad_disable(k, action);
}

/* The longest time that the second actor can be kept waiting: 20 looks, or three equal ones. */
static void only_equal_looks_are_spinning(void **state)
{
    static const uint64_t expected[MANNERS] = {[LOOKS] = 3, [ONLY_SAYS_SO] = 3};
    (void)state;
    for (manner = 0; manner < MANNERS; manner++) {
        puppet p = {.reset = looker_reset, .step = looker_step};
        rad_target t = puppet_target(&p);
        rad_error error = {0};
        rad_verdict v = {0};
        rad_artifact *a = NULL;
        rad_run_request r = {.policy = "first", .artifact = &a};
        assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
        assert_int_equal(v.result, RAD_RESULT_PASS);
        uint64_t picks = manner == CHOOSES ? 20 : 0, looks = expected[manner] ? expected[manner] : 20;
        assert_int_equal(v.decisions, looks + picks);
        rad_artifact_free(a);
    }
}

/* What is private does not count by its value, and is no reason to wait for anybody. */
static void private_looks_are_no_reason_to_wait(void **state)
{
    rad_looks looks;
    uint32_t count = 0;
    (void)state;
    for (uint32_t i = 0; i < 100; i++) assert_int_equal(rad__looks_add(&looks, &count, 5, true), 0);
    count = 0;
    for (uint32_t i = 0; i < 300; i++) /* rounds of the longest kind */
        assert_int_equal(rad__looks_add(&looks, &count, i % 64, true), 0);
    count = 0;
    for (uint32_t i = 0; i < 20; i++) {
        uint8_t spins = rad__looks_add(&looks, &count, i % 2 ? 5 : 7, i % 2);
        assert_int_equal(spins, i < 5 ? 0 : 2);
    }
}

/* Rounds of up to 64 looks, exactly: with the third one, and not before. */
static void rounds_of_every_length_are_seen(void **state)
{
    (void)state;
    for (uint32_t period = 1; period <= 65; period++) {
        rad_looks looks;
        uint32_t count = 0;
        for (uint32_t i = 0; i < 40; i++) /* something else first */
            assert_int_equal(rad__looks_add(&looks, &count, 1000 + i, false), 0);
        for (uint32_t i = 0; i < 4 * period; i++) {
            uint8_t spins = rad__looks_add(&looks, &count, i % period / 2 * 64, false);
            bool three = i + 1 >= 3 * period && period <= 64;
            if (period != 2) assert_int_equal(spins, three ? period : 0); /* that is one of 1 */
        }
    }
}

/* ---- Turns ------------------------------------------------------------------------------------------------- */

/* One writes something new in each step until the other one has run: a loop that nobody recognises. */
static void writer_step(puppet *p, rad_kernel *k, uint32_t action)
{
    if (action == p->actions[1] || p->number == 1) rad_disable(k, action);
    if (action == p->actions[1]) p->number = 1;
    rad_value(k, k->step);
}

static void a_loop_that_writes_ends_with_its_second_turn(void **state)
{
    static const char *const policies[] = {"first", "own"};
    (void)state;
    manner = WRITES;
    for (uint32_t i = 0; i < 2; i++) {
        puppet p = {.reset = looker_reset, .step = writer_step};
        rad_target t = puppet_target(&p);
        rad_error error = {0};
        rad_verdict v = {0};
        rad_artifact *a = NULL;
        rad_replay again;
        rad_run_request r = {.policy = policies[i], .artifact = &a};
        assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
        assert_int_equal(v.result, RAD_RESULT_PASS);
        assert_int_equal(v.steps, 2 * RAD_TURN + 2);
        assert_int_equal(rad_lab_replay(a, &t, &again, &error), 0);
        assert_true(again.as_recorded);
        rad_artifact_free(a);
    }
}

/* ---- Files of before ------------------------------------------------------------------------------------------ */

/* Its choices are not those of a fair schedule: it was written when there were all. */
static rad_artifact *file_of_before(const char *name)
{
    const char *root = getenv("RADDLE_SRC");
    char file[512];
    rad_error error = {0};
    rad_artifact *a = NULL;
    snprintf(file, sizeof file, "%s/tests/fixtures/%s.raddle.json", root ? root : ".", name);
    if (rad_artifact_read(&a, file, false, &error) != 0) fail_msg("%s", error.text);
    return a;
}

static void replays(const rad_artifact *a)
{
    rad_error error = {0};
    rad_replay again;
    assert_int_equal(rad_lab_replay(a, NULL, &again, &error), 0);
    if (!again.as_recorded) fail_msg("%s", again.reason);
}

static void a_file_of_before_replays_as_it_was_recorded(void **state)
{
    static const char *const names[] = {"artifact-1-unfair", "artifact-1-unfair-failure"};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        rad_artifact *a = file_of_before(names[i]);
        rad_error error = {0};
        rad_story *told;
        replays(a);
        assert_int_equal(rad_lab_story(a, &told, &error), 0);
        if (!told->as_recorded) fail_msg("%s", told->reason);
        assert_int_equal(told->line_count, rad_artifact_verdict(a)->steps);
        rad_story_free(told);
        rad_artifact_free(a);
    }
}

/* And what is left of it is such a file, too. */
static void a_file_of_before_shrinks_by_the_rule_of_before(void **state)
{
    rad_artifact *a = file_of_before("artifact-1-unfair-failure"), *less = NULL, *read = NULL;
    rad_error error = {0};
    rad_shrink_report r;
    (void)state;
    if (rad_lab_shrink(a, NULL, &less, &r, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(r.before.steps, rad_artifact_verdict(a)->steps);
    assert_true(r.after.steps < r.before.steps);
    replays(less);
    char *text = rad_artifact_json(less, &error);
    assert_non_null(text);
    if (rad__artifact_parse(&read, text, strlen(text), "x", false, &error) != 0) fail_msg("%s", error.text);
    replays(read);
    rad_free(text);
    rad_artifact_free(r.second);
    rad_artifact_free(read);
    rad_artifact_free(less);
    rad_artifact_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_correct_lock_has_an_end_under_dfs),
        cmocka_unit_test(a_correct_lock_is_clean_under_every_strategy),
        cmocka_unit_test(the_first_one_does_not_keep_the_lock_from_the_last),
        cmocka_unit_test(nothing_is_left_out_where_nobody_spins),
        cmocka_unit_test(a_broken_lock_is_found_shrunk_and_certified),
        cmocka_unit_test(a_livelock_comes_with_a_fair_round),
        cmocka_unit_test(a_loop_that_fairness_ends_is_no_livelock),
        cmocka_unit_test(without_a_state_a_run_is_cut),
        cmocka_unit_test(only_equal_looks_are_spinning),
        cmocka_unit_test(private_looks_are_no_reason_to_wait),
        cmocka_unit_test(rounds_of_every_length_are_seen),
        cmocka_unit_test(a_loop_that_writes_ends_with_its_second_turn),
        cmocka_unit_test(a_file_of_before_replays_as_it_was_recorded),
        cmocka_unit_test(a_file_of_before_shrinks_by_the_rule_of_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
